"""Equations of FCML 6.3.7, 6.3.8 and exercises: other components and priors."""

from math import gamma

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize, minimize_scalar
from scipy.stats import bernoulli, beta, norm, poisson

from bythebook.experiments.core.equations import Sides, equation
from bythebook.experiments.equations._mixtures import bayes, gaussian_case
from bythebook.models.clustering import bernoulli_mixture, poisson_mixture
from bythebook.models.clustering import gaussian_mixture as gaussian
from bythebook.models.clustering import gaussian_mixture_map as with_prior
from bythebook.models.clustering.bernoulli_mixture import BernoulliMixture, Prior
from bythebook.models.clustering.poisson_mixture import PoissonMixture
from bythebook.models.types import Floats


def _binary(rng: Generator) -> tuple[Floats, Floats, Floats]:
    """Binary objects, mixing coefficients and probabilities of a mixture."""
    D, K, N = int(rng.integers(2, 8)), int(rng.integers(2, 6)), int(rng.integers(10, 40))
    X = (rng.random((N, D)) < rng.uniform(0.2, 0.8, D)).astype(float)
    return X, rng.dirichlet(np.full(K, 2.0)), rng.uniform(0.1, 0.9, (K, D))


@equation(
    "6.20, 6.21",
    section="6.3.7",
    latex=r"p(\mathbf{x}_n | \mathbf{p}_k) = \prod_{d=1}^D p_{kd}^{x_{nd}} (1 - p_{kd})^{1-x_{nd}},"
    r" \quad q_{nk} = \frac{\pi_k p(\mathbf{x}_n | \mathbf{p}_k)}{\sum_{j=1}^K \pi_j"
    r" p(\mathbf{x}_n | \mathbf{p}_j)}",
)
def binary_assignments(rng: Generator) -> Sides:
    """The density of binary objects by SciPy, and the probabilities of their components."""
    X, pi, p = _binary(rng)
    x = X[:, None]
    density = (p**x * (1 - p) ** (1 - x)).prod(2)
    q = pi * density / (pi * density).sum(1)[:, None]
    by_scipy = bernoulli.pmf(x, p).prod(2)
    fits = bernoulli_mixture.responsibilities(X, BernoulliMixture(pi[None], p[None]))[0]
    return Sides(truth=(by_scipy, fits), printed=(density, q))


@equation(
    "6.22",
    section="6.3.7",
    latex=r"p_{kd} = \frac{\sum_{n=1}^N q_{nk} x_{nd}}{\sum_{n=1}^N q_{nk}}",
    within=1e-6,
)
def binary_update(rng: Generator) -> Sides:
    """The probabilities that maximise the bound, by a search for each."""
    X, pi, _ = _binary(rng)
    q = rng.dirichlet(np.full(len(pi), 0.9), len(X))
    return Sides(truth=_searched(X, q, 1, 1), printed=(q.T @ X) / q.sum(0)[:, None])


@equation(
    "6.23",
    section="6.3.8",
    latex=r"p_{kd} = \frac{\alpha - 1 + \sum_{n=1}^N q_{nk} x_{nd}}{\alpha + \beta - 2 +"
    r" \sum_{n=1}^N q_{nk}}",
    within=1e-6,
)
def binary_map_update(rng: Generator) -> Sides:
    """The probabilities that maximise the bound with a beta prior, by a search for each."""
    X, pi, _ = _binary(rng)
    q = rng.dirichlet(np.full(len(pi), 0.9), len(X))
    a, b = rng.uniform(1.2, 6, 2)
    printed = (a - 1 + q.T @ X) / (a + b - 2 + q.sum(0)[:, None])
    return Sides(truth=_searched(X, q, a, b), printed=printed)


def _searched(X: Floats, q: Floats, a: float, b: float) -> Floats:
    """The maxima of q-weighted log probabilities and the log density of Beta(a, b), (K, D)."""
    ones, zeros = q.T @ X + a - 1, q.T @ (1 - X) + b - 1

    def best(x: float, y: float) -> float:
        found = minimize_scalar(
            lambda p: -x * np.log(p) - y * np.log1p(-p), bounds=(0, 1), options={"xatol": 1e-10}
        )
        return float(found.x)

    return np.asarray(np.vectorize(best)(ones, zeros))


@equation(
    "6.23, the largest value",
    section="6.3.8",
    latex=r"\max p_{kd} = \frac{\alpha - 1 + N}{\alpha + \beta - 2 + N}",
)
def largest_map_update(rng: Generator) -> Sides:
    """The largest update for any objects and assignments: of N ones in one component."""
    N, prior = int(rng.integers(5, 60)), Prior(*rng.uniform(1.2, 6, 2))
    a, b, _ = prior
    return Sides(truth=_extreme(1.0, N, prior, rng).max(), printed=(a - 1 + N) / (a + b - 2 + N))


@equation(
    "6.23, the smallest value",
    section="6.3.8",
    latex=r"\min p_{kd} = \frac{\alpha - 1}{\alpha + \beta - 2}",
    corrected=r"\min p_{kd} = \frac{\alpha - 1}{\alpha + \beta - 2 + N}",
    cause="least-map-update",
)
def smallest_map_update(rng: Generator) -> Sides:
    """The smallest update for any objects and assignments: of N zeros in one component."""
    N, prior = int(rng.integers(5, 60)), Prior(*rng.uniform(1.2, 6, 2))
    a, b, _ = prior
    return Sides(
        truth=_extreme(0.0, N, prior, rng).min(),
        printed=(a - 1) / (a + b - 2),
        corrected=(a - 1) / (a + b - 2 + N),
    )


def _extreme(value: float, N: int, prior: Prior, rng: Generator) -> Floats:
    """The fits' updates of data sets with random and with equal objects, (sets, 1)."""
    found = []
    for share in (1.0, *rng.random(5)):
        x = np.where(rng.random((N, 1)) < share, value, 1 - value)
        one = BernoulliMixture(np.ones((1, 1)), np.full((1, 1, 1), 0.4))
        q = bernoulli_mixture.e_step(x, one)[0]
        found.append(bernoulli_mixture.m_step(one, q, prior).mu[0, 0])
    return np.array(found)


@equation(
    "the prior before 6.23",
    section="6.3.8",
    latex=r"p(\mathbf{p}_1, \dots, \mathbf{p}_K | \alpha, \beta) = \prod_{k=1}^K \prod_{d=1}^D"
    r" \frac{\Gamma(\alpha + \beta)}{\Gamma(\alpha)\Gamma(\beta)} p_{kd}^{\alpha-1} (1 -"
    r" p_{kd})^{\beta-1}",
)
def beta_priors(rng: Generator) -> Sides:
    """The prior density of the probabilities, against SciPy's beta density."""
    _, _, p = _binary(rng)
    a, b = rng.uniform(0.6, 5, 2)
    factor = gamma(a + b) / (gamma(a) * gamma(b))
    density = np.prod(factor * p ** (a - 1) * (1 - p) ** (b - 1))
    return Sides(truth=beta(a, b).logpdf(p).sum(), printed=np.log(density))


@equation(
    "exercise 6.5",
    section="6.5",
    latex=r"\mu_{kd} = \frac{m / s^2 + \sum_{n=1}^N q_{nk} x_{nd} / \sigma_{kd}^2}{1 / s^2 +"
    r" \sum_{n=1}^N q_{nk} / \sigma_{kd}^2}",
    within=1e-7,
)
def map_means(rng: Generator) -> Sides:
    """The means that maximise the bound with a Gaussian prior, by a search; and those of the fits.

    The variances are fixed; the exercise prints no solution, and this is ours.
    """
    case = gaussian_case(rng)
    case = case._replace(Sigma=gaussian.constrain(case.Sigma, "diagonal"))
    q, variance = bayes(case), np.diagonal(case.Sigma, axis1=1, axis2=2)
    prior = with_prior.MeanPrior(rng.normal(), rng.uniform(0.2, 3))

    def loss(values: Floats) -> float:
        mu = values.reshape(case.mu.shape)
        log_p = norm(mu, np.sqrt(variance)).logpdf(case.X[:, None]).sum(2)
        prior_density = norm(prior.m, np.sqrt(prior.s2)).logpdf(mu).sum()
        return float(-(q * log_p).sum() - prior_density)

    top = np.zeros(case.mu.size)
    steps = [(loss(top - e), loss(top), loss(top + e)) for e in np.eye(top.size)]
    best = [-(c - a) / (2 * (c - 2 * b + a)) for a, b, c in steps]  # of a quadratic
    after = with_prior.m_step(case.model, gaussian.e_step(case.X, case.model)[0], prior)
    above = prior.m / prior.s2 + (q.T @ case.X) / variance
    mu = above / (1 / prior.s2 + q.sum(0)[:, None] / variance)
    return Sides(truth=(np.reshape(best, mu.shape), after.mu[0]), printed=(mu, mu))


@equation(
    "exercise 6.6",
    section="6.5",
    latex=r"p(\mathbf{x}|\Delta) = \prod_{n=1}^N \sum_{k=1}^K \pi_k \frac{\lambda_k^{x_n}"
    r" \exp\{-\lambda_k\}}{x_n!}",
)
def poisson_likelihood(rng: Generator) -> Sides:
    """The likelihood of counts, by SciPy and as EM maximises it."""
    K, N = int(rng.integers(2, 5)), int(rng.integers(5, 20))
    pi, rate = rng.dirichlet(np.full(K, 2.0)), rng.uniform(0.5, 12, K)
    x = rng.poisson(rng.choice(rate, N))
    factorial = np.array([np.prod(np.arange(1, n + 1), dtype=float) for n in x])
    each = rate ** x[:, None] * np.exp(-rate) / factorial[:, None]
    printed = np.log((pi * each).sum(1)).sum()
    fits = poisson_mixture.e_step(x.astype(float), PoissonMixture(pi[None], rate[None]))[1][0]
    truth = np.log(poisson.pmf(x[:, None], rate) @ pi).sum()
    return Sides(truth=(truth, fits), printed=(printed, printed))


@equation(
    "exercise 6.6, M step",
    section="6.5",
    latex=r"\lambda_k = \frac{\sum_{n=1}^N q_{nk} x_n}{\sum_{n=1}^N q_{nk}}, \quad \pi_k ="
    r" \frac{1}{N} \sum_{n=1}^N q_{nk}",
    within=1e-6,
)
def poisson_updates(rng: Generator) -> Sides:
    """The rates and coefficients that maximise the bound of a Poisson mixture, by a search.

    The exercise prints no solution; this one is ours.
    """
    K, N = int(rng.integers(2, 5)), int(rng.integers(8, 30))
    q, x = rng.dirichlet(np.full(K, 0.8), N), rng.poisson(rng.uniform(1, 9, N))

    def loss(values: Floats) -> tuple[float, Floats]:
        log_rate, logits = values[:K], values[K:]
        log_pi = logits - np.logaddexp.reduce(logits)
        bound = (q * (log_pi + poisson.logpmf(x[:, None], np.exp(log_rate)))).sum()
        slopes = q.T @ x - q.sum(0) * np.exp(log_rate), q.sum(0) - N * np.exp(log_pi)
        return -bound / N, -np.concatenate(slopes) / N

    best = minimize(loss, np.zeros(2 * K), jac=True, options={"gtol": 1e-9}).x
    pi = np.exp(best[K:]) / np.exp(best[K:]).sum()
    return Sides(truth=(np.exp(best[:K]), pi), printed=(q.T @ x / q.sum(0), q.sum(0) / N))
