"""Equations of PRML 10.1.3, the mean and the precision of a Gaussian."""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.stats import gamma, norm

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.approximation import gaussian_gamma as model
from bythebook.models.types import Floats


class _Case(NamedTuple):
    """Points, the constants of the prior, and moments of the other factor."""

    x: Floats
    mu0: float
    lambda0: float
    a0: float
    b0: float


def _case(rng: Generator) -> _Case:
    N = int(rng.integers(2, 12))
    constants = rng.uniform([-2, 0.3, 0.5, 0.5], [2, 4, 4, 4])
    return _Case(rng.normal(rng.normal(), rng.uniform(0.5, 2), N), *constants)


def _log_joint(case: _Case, mu: Floats, tau: Floats) -> Floats:
    """Ln p(D, mu, tau) by (10.21) to (10.23), from SciPy's densities."""
    x, mu0, lambda0, a0, b0 = case
    data = norm(mu[..., None], 1 / np.sqrt(tau)[..., None]).logpdf(x).sum(-1)
    prior = norm(mu0, 1 / np.sqrt(lambda0 * tau)).logpdf(mu)
    return np.asarray(data + prior + gamma(a0, scale=1 / b0).logpdf(tau))


def _shape_and_rate(log_q: Floats, tau: Floats) -> tuple[float, float]:
    """The parameters of a gamma density whose logarithm is given at three places."""
    rows = np.stack([np.diff(np.log(tau)), -np.diff(tau)], axis=-1)
    a, b = np.linalg.solve(rows, np.diff(log_q))
    return float(a + 1), float(b)


@equation(
    "10.21 to 10.23, exact posterior",
    section="10.1.3",
    latex=r"p(\mu, \tau|\mathcal{D}) = \mathcal{N}(\mu|\mu_N, (\lambda \tau)^{-1})"
    r" \text{Gam}(\tau|a, b)",
)
def exact_posterior(rng: Generator) -> Sides:
    """The exact posterior is a Gaussian-gamma distribution, normalised by the evidence."""
    case = _case(rng)
    x, (mu, tau) = case.x, (rng.normal(0, 2, 6), rng.uniform(0.1, 4, 6))
    data = model.Data(len(x), x.mean(keepdims=True), (x**2).mean(keepdims=True))
    found = model.exact(data, model.Prior(True, *case[1:]))
    of_mu = norm(found.mean[0], 1 / np.sqrt(found.strength * tau)).logpdf(mu)
    printed = of_mu + gamma(found.a, scale=1 / found.b[0]).logpdf(tau)
    return Sides(truth=_log_joint(case, mu, tau), printed=printed + found.log_evidence[0])


@equation(
    "10.25 to 10.27",
    section="10.1.3",
    latex=r"\mu_N = \frac{\lambda_0 \mu_0 + N \bar{x}}{\lambda_0 + N}, \quad"
    r" \lambda_N = (\lambda_0 + N) \mathbb{E}[\tau]",
)
def factor_of_the_mean(rng: Generator) -> Sides:
    """The factor of the mean: the exponential of an expectation over any density of tau."""
    case = _case(rng)
    x, mu0, lambda0 = case[:3]
    tau, weight, mu = rng.uniform(0.1, 4, 5), rng.dirichlet(np.ones(5)), rng.normal(0, 2, 6)
    truth = _log_joint(case, mu[:, None] + 0 * tau, tau + 0 * mu[:, None]) @ weight
    N = len(x)
    mean = (lambda0 * mu0 + N * x.mean()) / (lambda0 + N)
    printed = norm(mean, 1 / np.sqrt((lambda0 + N) * (weight @ tau))).logpdf(mu)
    return Sides(truth=truth[1:] - truth[0], printed=printed[1:] - printed[0])


@equation(
    "10.28, 10.29",
    section="10.1.3",
    latex=r"a_N = a_0 + \frac{N}{2}",
    corrected=r"a_N = a_0 + \frac{N + 1}{2}",
    cause="half-power-of-the-precision-lost",
)
def shape_of_the_precision(rng: Generator) -> Sides:
    """The shape of the factor of the precision, from an expectation over the mean."""
    case, tau = _case(rng), rng.uniform([0.2, 1, 2], [0.8, 1.6, 4])
    mu, weight = rng.normal(0, 2, 5), rng.dirichlet(np.ones(5))
    log_q = _log_joint(case, mu + 0 * tau[:, None], tau[:, None] + 0 * mu) @ weight
    N, a0 = len(case.x), case.a0
    truth = _shape_and_rate(log_q, tau)[0]
    return Sides(truth=truth, printed=a0 + N / 2, corrected=a0 + (N + 1) / 2)


@equation(
    "10.30",
    section="10.1.3",
    latex=r"b_N = b_0 + \frac{1}{2} \mathbb{E}_\mu \left[ \sum_{n=1}^N (x_n - \mu)^2"
    r" + \lambda_0 (\mu - \mu_0)^2 \right]",
)
def rate_of_the_precision(rng: Generator) -> Sides:
    """The rate of the factor of the precision, from an expectation over the mean."""
    case, tau = _case(rng), rng.uniform([0.2, 1, 2], [0.8, 1.6, 4])
    mu, weight = rng.normal(0, 2, 5), rng.dirichlet(np.ones(5))
    log_q = _log_joint(case, mu + 0 * tau[:, None], tau[:, None] + 0 * mu) @ weight
    squares = ((case.x[:, None] - mu) ** 2).sum(0) + case.lambda0 * (mu - case.mu0) ** 2
    return Sides(truth=_shape_and_rate(log_q, tau)[1], printed=case.b0 + 1 / 2 * (weight @ squares))


@equation(
    "10.31, 10.32",
    section="10.1.3",
    latex=r"\mathbb{E} \left[ \frac{1}{N} \sum_{n=1}^N (x_n - \mu)^2 \right] = \overline{x^2}"
    r" - 2 \bar{x} \mathbb{E}[\mu] + \mathbb{E}[\mu^2], \quad \mathbb{E}[\mu] = \bar{x}, \quad"
    r" \mathbb{E}[\mu^2] = \bar{x}^2 + \frac{1}{N \mathbb{E}[\tau]}",
)
def moments_without_a_prior(rng: Generator) -> Sides:
    """The expected mean square under the factor of the mean, by Gauss-Hermite quadrature."""
    x, tau = _case(rng).x, rng.uniform(0.2, 4)
    z, weight = np.polynomial.hermite_e.hermegauss(4)
    mu = x.mean() + z / np.sqrt(len(x) * tau)
    truth = ((x[:, None] - mu) ** 2).mean(0) @ weight / weight.sum()
    square = x.mean() ** 2 + 1 / (len(x) * tau)
    return Sides(truth=truth, printed=(x**2).mean() - 2 * x.mean() * x.mean() + square)


def _precision_at_rest(x: Floats) -> float:
    """One over E[tau] where (10.31) and (10.32), with the printed shape, converge."""
    variance = 1.0
    for _ in range(200):
        variance = ((x - x.mean()) ** 2).mean() + variance / len(x)
    return float(variance)


@equation(
    "10.33, second line",
    section="10.1.3",
    latex=r"\frac{1}{\mathbb{E}[\tau]} = \frac{1}{N - 1} \sum_{n=1}^N (x_n - \bar{x})^2",
)
def inverse_precision(rng: Generator) -> Sides:
    """One over the expected precision where (10.31) and (10.32) converge."""
    x = _case(rng).x
    printed = 1 / (len(x) - 1) * ((x - x.mean()) ** 2).sum()
    return Sides(truth=_precision_at_rest(x), printed=printed)


@equation(
    "10.33, first line",
    section="10.1.3",
    latex=r"\frac{1}{\mathbb{E}[\tau]} = \frac{1}{N - 1} (\overline{x^2} - \bar{x}^2)",
    corrected=r"\frac{1}{\mathbb{E}[\tau]} = \frac{N}{N - 1} (\overline{x^2} - \bar{x}^2)",
    cause="factor-n-lost-in-the-first-line",
)
def inverse_precision_by_averages(rng: Generator) -> Sides:
    """One over the expected precision by averages, where a factor of N is lost."""
    x = _case(rng).x
    N, difference = len(x), (x**2).mean() - x.mean() ** 2
    return Sides(
        truth=_precision_at_rest(x),
        printed=difference / (N - 1),
        corrected=N * difference / (N - 1),
    )
