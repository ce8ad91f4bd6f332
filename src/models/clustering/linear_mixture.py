r"""Mixtures of linear regressions with a common noise precision, by EM from R starts at once.

    p(t | phi) = sum_k pi_k N(t | w_k^T phi, 1 / beta)              (14.34)

PRML 14.5.1, whose equation numbers are used. phi is the vector of M basis functions of the input:
(1, x) for the straight lines of Figure 14.8. Components with equal weights are a fixed point of EM.

Data are Phi (N, M) and t (N,), the same for all restarts, or Phi (R, N, M) and t (R, N): one data
set for each, which `fit_each` takes.
"""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from bythebook.models.clustering.mixture import (
    log_proportions,
    mixing_proportions,
    posterior,
    row_blocks,
)
from bythebook.models.em import EMFit, expectation_maximisation
from bythebook.models.types import Floats, Ints


class LinearMixture(NamedTuple):
    """Parameters of R mixtures of K linear regressions on M basis functions."""

    pi: Floats  # (R, K) p(z = k)
    w: Floats  # (R, K, M) E[t | phi, z = k] = w_k^T phi
    beta: Floats  # (R,) 1 / var[t | phi, z]


class Statistics(NamedTuple):
    """Sums over the data, gamma = p(z_n = k | t_n, theta), e_nk = t_n - w_k^T phi_n at that theta.

    Residuals from the current lines, not the targets: the noise is not a difference of large sums.
    """

    N: Floats  # (R, K) sum_n gamma_nk
    gram: Floats  # (R, K, M, M) Phi^T R_k Phi,  R_k = diag(gamma_nk)
    gradient: Floats  # (R, K, M) Phi^T R_k e_k
    squares: Floats  # (R,) sum_n sum_k gamma_nk e_nk^2


def _component_log_joint(residual: Floats, theta: LinearMixture) -> Floats:
    """Log joint ln pi_k + ln N(t_n | w_k^T phi_n, 1/beta) from t_n - w_k^T phi_n, (R, K, n)."""
    beta = theta.beta[:, None, None]
    with np.errstate(invalid="ignore"):  # lines through every point: beta = inf, and NaN here
        log_p = 0.5 * np.log(beta / (2 * np.pi)) - 0.5 * beta * residual**2
    return np.asarray(log_proportions(theta.pi)[..., None] + log_p)


def log_joint(Phi: Floats, t: Floats, theta: LinearMixture) -> Floats:
    """Log joint ln p(t_n, z_n = k | phi_n, theta), shape (R, N, K)."""
    return _component_log_joint(t[..., None, :] - theta.w @ Phi.mT, theta).swapaxes(1, 2)


def responsibilities(Phi: Floats, t: Floats, theta: LinearMixture) -> Floats:
    """p(z_n = k | t_n, phi_n, theta), shape (R, N, K)."""
    return posterior(log_joint(Phi, t, theta))[0]  # (14.37)


def predictive_modes(Phi: Floats, theta: LinearMixture, points: int = 401) -> Ints:
    """The number of maxima of p(t | phi) at each of G inputs, Phi (G, M); shape (R, G).

    They are counted on a grid that reaches three standard deviations beyond the outer lines.
    """
    mean, sd = theta.w @ Phi.T, theta.beta[:, None] ** -0.5  # (R, K, G)
    low, high = mean.min(axis=1) - 3 * sd, mean.max(axis=1) + 3 * sd
    t = low + (high - low) * np.linspace(0, 1, points)[:, None, None]  # (points, R, G)
    z = (t[:, :, None] - mean) / sd[:, None]
    p = np.sum(theta.pi[..., None] * np.exp(-(z**2) / 2), axis=2)  # (14.34) up to a factor
    return np.asarray(np.sum((p[1:-1] > p[:-2]) & (p[1:-1] >= p[2:]), axis=0))


def mass_between(Phi: Floats, theta: LinearMixture, low: Floats, high: Floats) -> Floats:
    """The predictive probability of targets between two curves (G,), Phi (G, M); shape (R, G)."""
    mean, sd = theta.w @ Phi.T, theta.beta[:, None, None] ** -0.5
    inside = ndtr((high - mean) / sd) - ndtr((low - mean) / sd)
    return np.asarray(np.sum(theta.pi[..., None] * inside, axis=1))


def e_step(Phi: Floats, t: Floats, theta: LinearMixture) -> tuple[Statistics, Floats]:
    """The posterior's statistics and the log likelihood, shape (R,), in blocks of rows."""
    R, K, M = theta.w.shape
    N, gram, gradient = np.zeros((R, K)), np.zeros((R, K, M, M)), np.zeros((R, K, M))
    squares, log_likelihood = np.zeros(R), np.zeros(R)
    for rows in row_blocks(t.shape[-1], R * K * M):
        phi = Phi[..., rows, :]
        residual = t[..., None, rows] - theta.w @ phi.mT  # (R, K, n)
        gamma, log_evidence = posterior(_component_log_joint(residual, theta), axis=1)  # (14.37)
        log_likelihood += log_evidence.sum(1)  # (14.35)
        weighted = gamma * residual
        N += gamma.sum(2)
        gram += (gamma[:, :, None] * phi.mT[..., None, :, :]) @ phi[..., None, :, :]
        gradient += weighted @ phi
        squares += np.einsum("rkn,rkn->r", weighted, residual)
    return Statistics(N, gram, gradient, squares), log_likelihood


def m_step(theta: LinearMixture, q: Statistics) -> LinearMixture:
    """Proportions, weights and precision.

    Where the points of a component do not determine its weights, they change as little as possible:
    the pseudo-inverse gives the shortest step, which is zero for a component without points.
    """
    pseudo_inverse = np.linalg.pinv(q.gram, rcond=1e-13, hermitian=True)
    step = (pseudo_inverse @ q.gradient[..., None])[..., 0]  # (14.42) as a change of w_k
    # The remaining sum of squares: sum gamma (e - step^T phi)^2 at the minimum.
    squares = q.squares - (q.gradient * step).sum((1, 2))
    with np.errstate(divide="ignore"):
        beta = q.N.sum(1) / np.maximum(squares, 0.0)  # (14.44)
    return LinearMixture(mixing_proportions(q.N), theta.w + step, beta)  # (14.38)


def fit(
    Phi: Floats,
    t: Floats,
    start: LinearMixture,
    *,
    tol: float = 1e-8,
    max_iter: int = 500,
    snapshots: Collection[int] = (),
) -> EMFit[LinearMixture]:
    """EM from R starts; the objective is the log likelihood."""
    return expectation_maximisation(
        start,
        lambda theta: e_step(Phi, t, theta),
        m_step,
        tol=tol,
        max_iter=max_iter,
        snapshots=snapshots,
    )


class _WithData(NamedTuple):
    """The parameters with their data, which are removed from the batch together."""

    pi: Floats
    w: Floats
    beta: Floats
    Phi: Floats  # (R, N, M)
    t: Floats  # (R, N)

    @property
    def theta(self) -> LinearMixture:
        return LinearMixture(self.pi, self.w, self.beta)


def fit_each(
    Phi: Floats, t: Floats, start: LinearMixture, *, tol: float = 1e-8, max_iter: int = 500
) -> EMFit[LinearMixture]:
    """EM on R data sets, Phi (R, N, M) and t (R, N), from one start each."""
    em = expectation_maximisation(
        _WithData(*start, Phi, t),
        lambda state: e_step(state.Phi, state.t, state.theta),
        lambda state, q: _WithData(*m_step(state.theta, q), state.Phi, state.t),
        tol=tol,
        max_iter=max_iter,
    )
    return EMFit(em.theta.theta, em.objective, em.iterations, em.converged, {})


def start_at(w: npt.ArrayLike, t: Floats) -> LinearMixture:
    """Weights (R, K, M), equal proportions, and the noise as large as all the variance of t.

    These are the initial values of Figure 14.8.
    """
    weights = np.array(w, dtype=float)
    R, K, _ = weights.shape
    return LinearMixture(np.full((R, K), 1 / K), weights, np.full(R, 1 / np.var(t, axis=-1)))


def start_at_random(
    Phi: Floats, t: Floats, K: int, rng: np.random.Generator, restarts: int = 1
) -> LinearMixture:
    """Normal weights, each scaled so that its term varies about as much as the targets do."""
    scale = np.std(t) / np.sqrt((Phi**2).mean(0))
    return start_at(rng.normal(size=(restarts, K, Phi.shape[1])) * scale, t)
