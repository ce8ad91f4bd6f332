r"""The gradient of a Gaussian mixture's log likelihood: zero where EM has converged (PRML 9.2.2).

    d ln p / d mu_k     = sum_n gamma_nk Sigma_k^-1 (x_n - mu_k)                        (9.16)
    d ln p / d Sigma_k  = 1/2 sum_n gamma_nk [Sigma_k^-1 (x_n - mu_k)(x_n - mu_k)^T Sigma_k^-1
                                              - Sigma_k^-1]
    d ln p / d pi_k - N = sum_n gamma_nk / pi_k - N          on the simplex, (9.21) with lambda = -N

PRML (9.16) and its copy in the Notes, (3.18), print Sigma_k where the inverse is correct.
"""

from typing import NamedTuple

import numpy as np

from bythebook.models.clustering.gaussian_mixture import GaussianMixture, e_step, log_density
from bythebook.models.em import take
from bythebook.models.types import Floats


class Score(NamedTuple):
    """Derivatives of ln p(X | theta) for R mixtures."""

    pi: Floats  # (R, K) with the Lagrange multiplier of sum_k pi_k = 1
    mu: Floats  # (R, K, D)
    Sigma: Floats  # (R, K, D, D) all entries as if free


def score(X: Floats, theta: GaussianMixture) -> Score:
    """The gradient for data (N, D)."""
    q, _ = e_step(X, theta)
    along = np.linalg.solve(theta.Sigma, q.first[..., None])[..., 0]  # (9.16), corrected
    # Sigma^-1 (S - N Sigma) Sigma^-1, from both sides.
    excess = q.second - q.N[..., None, None] * theta.Sigma
    half = np.linalg.solve(theta.Sigma, excess)
    curved = 0.5 * np.linalg.solve(theta.Sigma, half.swapaxes(-1, -2))
    return Score(q.N / theta.pi - len(X), np.asarray(along, np.float64), np.asarray(curved))


def mean_terms_as_printed(X: Floats, theta: GaussianMixture) -> Floats:
    """The sum that (9.16) prints for the means, sum_n gamma_nk Sigma_k (x_n - mu_k), (R, K, D)."""
    q, _ = e_step(X, theta)
    return np.asarray((theta.Sigma @ q.first[..., None])[..., 0])


def mean_terms_by_differences(X: Floats, theta: GaussianMixture, step: float = 1e-5) -> Floats:
    """Central differences of ln p(X) of one mixture in each coordinate of the means, (1, K, D)."""
    moves = step * np.eye(theta.mu.size).reshape(-1, *theta.mu.shape[1:])
    copies = take(theta, np.zeros(len(moves), dtype=np.int64))
    up, down = (
        log_density(X, copies._replace(mu=theta.mu + sign * moves)).sum(axis=1) for sign in (1, -1)
    )
    return np.asarray((up - down).reshape(theta.mu.shape) / (2 * step))


def mean_terms(X: Floats, theta: GaussianMixture) -> dict[str, Floats]:
    """The derivative of ln p(X) for the means of one mixture in three ways, (K, D) each."""
    return {
        "numerical": mean_terms_by_differences(X, theta)[0],
        "printed": mean_terms_as_printed(X, theta)[0],
        "corrected": score(X, theta).mu[0],
    }
