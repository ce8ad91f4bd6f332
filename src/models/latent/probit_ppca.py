r"""Probit PCA of binary data with missing entries, by variational Bayes (FCML 7.7).

    P(y_nm = 1 | w_m, x_n) = Phi(w_m^T x_n),     x_n ~ N(0, I_D),  w_m ~ N(0, I_D)     (7.17)

An auxiliary q_nm ~ N(w_m^T x_n, 1) has the sign of y_nm. Given the q the model is that of
`bythebook.models.latent.variational_ppca` with noise of variance one; Q(q_nm) is a Gaussian with
mean <w_m>^T <x_n>, cut at the origin (comment 7.3). Only observed entries enter. The integral that
defines the probit function lacks its 1/sqrt(2 pi) in the text.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr

from bythebook.models.latent.variational_ppca import divergence, outer
from bythebook.models.probability.truncated_gaussian import hazard
from bythebook.models.types import Floats


class ProbitPosterior(NamedTuple):
    """Q for N objects with M binary features and D latent dimensions."""

    mu_x: Floats  # (N, D) <x_n>
    Sigma_x: Floats  # (N, D, D) cov x_n
    mu_w: Floats  # (M, D) <w_m>
    Sigma_w: Floats  # (M, D, D) cov w_m


class ProbitFit(NamedTuple):
    """The final posterior, and the bound after each iteration."""

    q: ProbitPosterior
    bound: Floats  # (T,) after each iteration
    converged: bool


def _gaussian_factor(
    observed: Floats, q: Floats, mu: Floats, Sigma: Floats
) -> tuple[Floats, Floats]:
    """Means (n, D) and covariances of one side from the moments of the other, (m, D)."""
    D = mu.shape[1]
    moments = outer(mu, Sigma).reshape(-1, D * D)
    A = np.eye(D) + (observed @ moments).reshape(-1, D, D)
    new_Sigma = np.linalg.solve(A, np.broadcast_to(np.eye(D), A.shape))
    new_mu = np.linalg.solve(A, (q @ mu)[..., None])[..., 0]
    return np.asarray(new_mu, dtype=np.float64), np.asarray(new_Sigma, dtype=np.float64)


def auxiliary_mean(Y: Floats, mean: Floats) -> Floats:
    """<q_nm>, zero where y_nm is missing (zero); `mean` is <w_m>^T <x_n>."""
    return np.asarray(np.where(Y == 0, 0.0, mean + Y * hazard(Y * mean)))


def bound(Y: Floats, q: ProbitPosterior) -> Floats:
    """The lower bound of ln P(Y) for the best Q of the auxiliary variables, a number."""
    observed = Y != 0
    mean = q.mu_x @ q.mu_w.T
    square = outer(q.mu_x, q.Sigma_x).reshape(len(Y), -1) @ (
        outer(q.mu_w, q.Sigma_w).reshape(len(q.mu_w), -1).T
    )
    data = np.where(observed, log_ndtr(Y * mean) - (square - mean**2) / 2, 0.0).sum()
    return np.asarray(data - divergence(q.mu_x, q.Sigma_x) - divergence(q.mu_w, q.Sigma_w))


def fit(
    Y: Floats,
    D: int,
    rng: np.random.Generator,
    *,
    max_iter: int,
    scale: float = 0.01,
    tol: float = 1e-6,
) -> ProbitFit:
    """Cycle through q, x and w for votes (N, M) of +1, -1 and 0, which is missing.

    Means start as `scale` times standard normal numbers, with unit covariances. The iteration has
    converged when the relative gain of the bound is at most `tol`.
    """
    N, M = Y.shape
    observed = (Y != 0).astype(float)
    q = ProbitPosterior(
        scale * rng.standard_normal((N, D)),
        np.tile(np.eye(D), (N, 1, 1)),
        scale * rng.standard_normal((M, D)),
        np.tile(np.eye(D), (M, 1, 1)),
    )
    history: list[float] = []
    converged = False
    while len(history) < max_iter and not converged:
        auxiliary = auxiliary_mean(Y, q.mu_x @ q.mu_w.T)
        mu_x, Sigma_x = _gaussian_factor(observed, auxiliary, q.mu_w, q.Sigma_w)
        auxiliary = auxiliary_mean(Y, mu_x @ q.mu_w.T)
        mu_w, Sigma_w = _gaussian_factor(observed.T, auxiliary.T, mu_x, Sigma_x)
        q = ProbitPosterior(mu_x, Sigma_x, mu_w, Sigma_w)
        history.append(float(bound(Y, q)))
        converged = len(history) > 1 and history[-1] - history[-2] <= tol * abs(history[-1])
    return ProbitFit(q, np.array(history), converged)


def most_probable(q: ProbitPosterior) -> Floats:
    """The side of the boundary w_m^T x = 0 for each object, +1 or -1, (N, M)."""
    return np.where(q.mu_x @ q.mu_w.T > 0, 1.0, -1.0)
