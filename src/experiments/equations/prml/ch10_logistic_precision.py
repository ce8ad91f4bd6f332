"""Equations of PRML 10.6.3, logistic regression with an inferred prior precision."""

import numpy as np
from numpy.random import Generator
from scipy.special import gammaln, log_expit
from scipy.stats import gamma, multivariate_normal, norm

from bythebook.experiments.core.equations import Sides, equation
from bythebook.experiments.equations.prml._logistic_cases import (
    draw_case,
    lam_of,
    log_h,
    log_integral,
    posterior,
)
from bythebook.models.types import Floats


def _precisions(a: float, b: float) -> tuple[Floats, Floats]:
    """Places and weights for expectations under Gam(a, b), even in the logarithm."""
    alpha = np.exp(np.linspace(-14, 5, 301))
    weight = gamma(a, scale=1 / b).pdf(alpha) * alpha
    return alpha, weight / weight.sum()


@equation(
    "10.174 to 10.176",
    section="10.6.3",
    latex=r"q(\mathbf{w}) = \mathcal{N}(\mathbf{w}|\mathbf{\mu}_N, \mathbf{\Sigma}_N), \quad"
    r" \mathbf{\Sigma}_N^{-1} \mathbf{\mu}_N = \sum_{n=1}^N (t_n - 1/2) \mathbf{\phi}_n, \quad"
    r" \mathbf{\Sigma}_N^{-1} = \mathbb{E}[\alpha] \mathbf{I} + 2 \sum_{n=1}^N \lambda(\xi_n)"
    r" \mathbf{\phi}_n \mathbf{\phi}_n^T",
)
def weights_given_precision(rng: Generator) -> Sides:
    """The factor of the weights: the exponential of an expectation over the precision.

    The expectation of ln p(w|alpha) is a sum over the logarithm of the precision.
    """
    case, (a, b) = draw_case(rng), rng.uniform(1.5, 5, 2)
    D = len(case.m0)
    w, (alpha, weight) = rng.normal(0, 1.5, (6, D)), _precisions(a, b)
    prior = norm(0, 1 / np.sqrt(alpha)[:, None, None]).logpdf(w).sum(-1)
    truth = log_h(case, w).sum(1) + weight @ prior
    mean_of_alpha = a / b
    P = mean_of_alpha * np.eye(D) + 2 * (case.phi.T * lam_of(case.xi)) @ case.phi
    S = np.linalg.inv(P)
    log_q = multivariate_normal(S @ ((case.t - 1 / 2) @ case.phi), S).logpdf(w)
    return Sides(truth=truth[1:] - truth[0], printed=log_q[1:] - log_q[0])


@equation(
    "10.177",
    section="10.6.3",
    latex=r"q(\alpha) = \text{Gam}(\alpha|a_N, b_N) = \frac{1}{\Gamma(a_0)} a_0^{b_0}"
    r" \alpha^{a_0 - 1} e^{-b_0 \alpha}",
    corrected=r"q(\alpha) = \text{Gam}(\alpha|a_N, b_N) = \frac{1}{\Gamma(a_N)} b_N^{a_N}"
    r" \alpha^{a_N - 1} e^{-b_N \alpha}",
    cause="gamma-density-of-the-prior",
)
def density_of_the_precision(rng: Generator) -> Sides:
    """The density of the factor of the precision, normalised by a sum over its logarithm."""
    case, (a0, b0) = draw_case(rng), rng.uniform(1.2, 4, 2)
    m, P = posterior(case)
    square, M = np.trace(np.linalg.inv(P)) + m @ m, len(m)
    grid = np.exp(np.linspace(-14, 5, 2001))
    at = np.arange(1100, 1900, 200)
    log = M / 2 * np.log(grid) - grid / 2 * square + (a0 - 1) * np.log(grid) - b0 * grid
    density = np.exp(log - log.max())
    truth = density / ((density * grid).sum() * 19 / 2000)
    alpha, aN, bN = grid[at], a0 + M / 2, b0 + square / 2
    printed = 1 / np.exp(gammaln(a0)) * a0**b0 * alpha ** (a0 - 1) * np.exp(-b0 * alpha)
    return Sides(truth=truth[at], printed=printed, corrected=gamma(aN, scale=1 / bN).pdf(alpha))


@equation(
    "10.178, 10.179",
    section="10.6.3",
    latex=r"a_N = a_0 + \frac{M}{2}, \quad b_N = b_0 + \frac{1}{2} \mathbb{E}_{\mathbf{w}}"
    r"[\mathbf{w}^T \mathbf{w}]",
)
def shape_and_rate(rng: Generator) -> Sides:
    """The factor of the precision: the exponential of an expectation over the weights.

    The expectation of ln p(w|alpha) is by Gauss-Hermite quadrature in each weight.
    """
    M, (a0, b0) = int(rng.integers(1, 6)), rng.uniform(0.5, 4, 2)
    m, sd, alpha = rng.normal(0, 1.5, M), rng.uniform(0.3, 2, M), rng.uniform(0.1, 5, 6)
    z, weight = np.polynomial.hermite_e.hermegauss(5)
    w = m[:, None] + sd[:, None] * z
    prior = [norm(0, 1 / np.sqrt(one)).logpdf(w) @ weight / weight.sum() for one in alpha]
    truth = np.sum(prior, axis=1) + gamma(a0, scale=1 / b0).logpdf(alpha)
    aN, bN = a0 + M / 2, b0 + (sd**2 + m**2).sum() / 2
    printed = gamma(aN, scale=1 / bN).logpdf(alpha)
    return Sides(truth=truth[1:] - truth[0], printed=printed[1:] - printed[0])


@equation(
    "10.180",
    section="10.6.3",
    latex=r"\int q(\mathbf{w}) \ln h(\mathbf{w}, \mathbf{\xi}) \, d\mathbf{w}"
    r" = \ln \int h(\mathbf{w}, \mathbf{\xi}) p(\mathbf{w}) \, d\mathbf{w} + \text{const}"
    r" \quad \text{(the form of 10.159)}",
    corrected=r"\int q(\mathbf{w}) \ln h(\mathbf{w}, \mathbf{\xi}) \, d\mathbf{w}"
    r" = \mathbb{E}[\ln h(\mathbf{w}, \mathbf{\xi}) p(\mathbf{w})] + \text{const}"
    r" \quad \text{(the form of 10.160)}",
    cause="expected-log-for-log-of-expectation",
)
def form_of_the_global_bound(rng: Generator) -> Sides:
    """The bound as a function of xi has the form of an expected logarithm (10.160)."""
    case = draw_case(rng, D=2)
    m, P = posterior(case)
    S = np.linalg.inv(P)
    z, weight = np.polynomial.hermite_e.hermegauss(5)
    grid = np.stack(np.meshgrid(z, z, indexing="ij"), axis=-1).reshape(-1, 2)
    w, weights = m + grid @ np.linalg.cholesky(S).T, np.outer(weight, weight).ravel()
    xis = rng.uniform(0.3, 4, (4, len(case.t)))
    truth = np.array([weights @ log_h(case, w, xi).sum(1) for xi in xis]) / weights.sum()
    printed = np.array([log_integral(case, xi) for xi in xis])
    square = np.array([row @ (S + np.outer(m, m)) @ row for row in case.phi])
    corrected = (log_expit(xis) - xis / 2 - lam_of(xis) * (square - xis**2)).sum(1)
    return Sides(*(form[1:] - form[0] for form in (truth, printed, corrected)))


@equation(
    "10.183",
    section="10.6.3",
    latex=r"\mathbb{E}[\mathbf{w}^T \mathbf{w}] = \mathbf{\Sigma}_N + \mathbf{\mu}_N^T"
    r" \mathbf{\mu}_N",
    corrected=r"\mathbb{E}[\mathbf{w}^T \mathbf{w}] = \mathrm{Tr}(\mathbf{\Sigma}_N)"
    r" + \mathbf{\mu}_N^T \mathbf{\mu}_N",
    cause="trace-lost",
)
def expected_square_of_weights(rng: Generator) -> Sides:
    """The expectation of the squared length of the weights; every entry of the printed matrix."""
    D = int(rng.integers(2, 5))
    root, mu = rng.normal(size=(D, D)), rng.normal(0, 1.5, D)
    Sigma = root @ root.T + 0.3 * np.eye(D)
    square = sum(norm(mu[i], np.sqrt(Sigma[i, i])).moment(2) for i in range(D))
    trace, one = np.trace(Sigma) + mu @ mu, np.ones((D, D))
    return Sides(truth=square * one, printed=Sigma + mu @ mu, corrected=trace * one)
