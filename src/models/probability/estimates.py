r"""Estimates in closed form, compared with other parameters (FCML exercises 2.8-2.10, 5.4-5.5).

Bernoulli     ln P(x | q) = sum x ln q + (N - sum x) ln(1 - q),     at most at  q = sum x / N
Gaussian      at most at the sample mean and the scatter over N
multinomial   ln p(q | n) = sum_m (n_m + alpha - 1) ln q_m,         at most as FCML 5.8 says
"""

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, xlog1py, xlogy

from bythebook.models.probability.gaussian import estimate, log_likelihood
from bythebook.models.types import Floats


def bernoulli_gain(ones: Floats, n: int, other: Floats) -> Floats:
    """Gain in log likelihood of other q (Q,), counts (...) of n tosses, shape (..., Q)."""
    best = xlogy(ones, ones / n) + xlog1py(n - ones, -ones / n)
    others = xlogy(ones[..., None], other) + xlog1py(n - ones[..., None], -other)
    return np.asarray(others - best[..., None])


def gaussian_gain(X: Floats, trials: int, rng: np.random.Generator) -> Floats:
    """Gain in log likelihood of X (N, D) by other means and covariances, near and far."""
    best, D = estimate(X), X.shape[1]
    root = np.linalg.cholesky(best.covariance)
    step = np.geomspace(1e-3, 1, trials)[:, None]
    shifts, turns = rng.standard_normal((trials, D)), rng.standard_normal((trials, D, D))
    roots = root @ (np.eye(D) + step[..., None] * turns)
    others = log_likelihood(X, best.mean + step * shifts @ root.T, roots @ roots.mT)
    return np.asarray(others - log_likelihood(X, *best))


def multinomial_by_search(n: Floats, alpha: float) -> Floats:
    """The probabilities (M,) of the highest posterior, found by a search and not by the formula."""
    power = n + alpha - 1

    def minus_log_posterior(theta: Floats) -> tuple[float, Floats]:
        log_q = log_softmax(theta)
        return float(-power @ log_q), power.sum() * np.exp(log_q) - power

    start = np.zeros(len(n))
    found = minimize(minus_log_posterior, start, jac=True, method="BFGS", options={"gtol": 1e-9})
    return np.asarray(np.exp(log_softmax(found.x)))
