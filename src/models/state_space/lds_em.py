r"""EM for a linear dynamical system, and its initial values.

    E step    p(z_1..z_N | x) by the Kalman filter and RTS smoother      (13.105)-(13.107)
    M step    two linear regressions with expected moments, z_{n-1} -> z_n and z_n -> x_n,
              and the covariances of their residuals                     (13.110)-(13.116)

PRML 13.3.2, MLAPP 18.4 and Exercise 18.1; the model and its symbols are those of `kalman`.
The printed (13.106), (13.114) and (13.116) lack transposes, without which the likelihood falls.

The state is known up to an invertible linear map only. Every start therefore has Gamma = I, without
loss of generality (MLAPP 18.4.1); `held=["Gamma"]` keeps it fixed. The model has no offset:
centre the data.
"""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from bythebook.models.em import EMFit, expectation_maximisation
from bythebook.models.state_space.kalman import LDS, Gaussian, Smoothed, kalman_filter, rts_smoother
from bythebook.models.types import Floats


class Moments(NamedTuple):
    """Expected sufficient statistics under p(z | x), summed over series and time; R restarts."""

    z_first: Floats  # (R, M) E[z_1]
    zz_first: Floats  # (R, M, M) E[z_1 z_1^T]
    zz_past: Floats  # (R, M, M) E[z_{n-1} z_{n-1}^T], n = 2..N
    zz_next: Floats  # (R, M, M) E[z_n z_n^T], n = 2..N
    zz_lag: Floats  # (R, M, M) E[z_n z_{n-1}^T], n = 2..N
    zz: Floats  # (R, M, M) E[z_n z_n^T], n = 1..N
    xz: Floats  # (R, D, M) x_n E[z_n]^T, n = 1..N


class Subspace(NamedTuple):
    """Principal components of stacked outputs (x_n, .., x_{n+lags-1})."""

    z: Floats  # (N - lags + 1, M) states, uncorrelated with unit mean square
    singular_values: Floats  # (min(lags D, N - lags + 1),) of the stacked outputs, descending


def fit_lds(
    x: Floats,
    start: LDS,
    *,
    held: Collection[str] = (),
    diagonal_noise: bool = False,
    tol: float = 1e-6,
    max_iter: int = 100,
    snapshots: Collection[int] = (),
) -> EMFit[LDS]:
    """Maximise ln p(x | theta) by EM from R starts, the leading axis of `start`.

    x has shape (N, D), or (S, N, D) for S independent series of one system. Parameters named in
    `held` stay at their start. `diagonal_noise` restricts Sigma, and its start, as factor analysis
    does. With one series V0 shrinks towards zero: (13.111) has a single z_1 to learn from.
    """
    if unknown := set(held) - set(LDS._fields):
        raise ValueError(f"the model has no parameter {unknown}")
    x = x[np.newaxis] if x.ndim == 2 else x
    xx = (x.mT @ x).sum(0)
    n_series, n_steps, D = x.shape
    pattern = np.eye(D) if diagonal_noise else np.ones((D, D))
    start = start._replace(Sigma=start.Sigma * pattern)

    def e_step(theta: LDS) -> tuple[Moments, Floats]:
        passed = kalman_filter(theta, x[:, np.newaxis])
        moments = expected_moments(x, rts_smoother(theta, passed))
        return moments, np.asarray(passed.log_likelihood.sum(0))

    def m_step(theta: LDS, q: Moments) -> LDS:
        new = maximise(theta, q, xx, n_series, n_steps, held)
        return new._replace(Sigma=new.Sigma * pattern)

    return expectation_maximisation(
        start, e_step, m_step, tol=tol, max_iter=max_iter, snapshots=snapshots
    )


def expected_moments(x: Floats, posterior: Smoothed) -> Moments:
    """Sum the posterior's moments; x (S, N, D), means (S, R, N, M), covariances (R, N, M, M)."""
    mean, cov = posterior.state
    past, ahead = mean[..., :-1, :], mean[..., 1:, :]
    S = len(x)  # the covariances are the same for every series

    def outer(left: Floats, right: Floats) -> Floats:
        return np.asarray((left.mT @ right).sum(0))

    first = outer(mean[..., :1, :], mean[..., :1, :]) + S * cov[:, 0]
    zz_past = outer(past, past) + S * cov[:, :-1].sum(1)  # (13.107)
    zz_next = outer(ahead, ahead) + S * cov[:, 1:].sum(1)
    return Moments(
        z_first=mean[..., 0, :].sum(0),
        zz_first=first,
        zz_past=zz_past,
        zz_next=zz_next,
        zz_lag=outer(ahead, past) + S * posterior.lag_one.sum(1),  # (13.106), corrected
        zz=zz_next + first,
        xz=outer(x[:, np.newaxis], mean),
    )


def maximise(
    theta: LDS, q: Moments, xx: Floats, n_series: int, n_steps: int, held: Collection[str] = ()
) -> LDS:
    """The parameters that maximise the expected complete-data log likelihood; xx = sum x x^T."""
    if "mu0" not in held:
        theta = theta._replace(mu0=q.z_first / n_series)  # (13.110)
    if "V0" not in held:
        first = q.z_first[..., np.newaxis]  # as a regression of z_1 on the constant 1
        V0 = _residual(q.zz_first, first, np.array([[n_series]]), theta.mu0[..., np.newaxis])
        theta = theta._replace(V0=V0 / n_series)  # (13.111)
    if "A" not in held:
        theta = theta._replace(A=_regression(q.zz_lag, q.zz_past))  # (13.113)
    if "Gamma" not in held:
        Gamma = _residual(q.zz_next, q.zz_lag, q.zz_past, theta.A)
        theta = theta._replace(Gamma=Gamma / (n_series * (n_steps - 1)))  # (13.114)
    if "C" not in held:
        theta = theta._replace(C=_regression(q.xz, q.zz))  # (13.115)
    if "Sigma" not in held:
        Sigma = _residual(xx, q.xz, q.zz, theta.C)
        theta = theta._replace(Sigma=Sigma / (n_series * n_steps))  # (13.116)
    return theta


def _regression(yz: Floats, zz: Floats) -> Floats:
    """The matrix B that minimises the trace of the sum of E[(y - B z)(y - B z)^T]."""
    return np.asarray(np.linalg.solve(zz, yz.mT).mT, dtype=np.float64)


def _residual(yy: Floats, yz: Floats, zz: Floats, B: Floats) -> Floats:
    """Sum of E[(y - B z)(y - B z)^T], exactly symmetric, for any B (a held one is not optimal)."""
    total = yy - B @ yz.mT - yz @ B.mT + B @ zz @ B.mT
    half: Floats = (total + total.mT) / 2
    return half


def fit_observed(x: Floats, z: Floats) -> LDS:
    """Maximum likelihood with observed states (MLAPP 18.4.2); x (N, D), z (N, M).

    One series does not determine V0, so the mean square of the states replaces it. R = 1.
    """
    N, M = z.shape
    certain = np.zeros((1, N, M, M))
    q = expected_moments(
        x[np.newaxis], Smoothed(Gaussian(z[np.newaxis, np.newaxis], certain), certain[:, 1:])
    )
    empty = LDS(*(np.empty(0) for _ in LDS._fields))  # everything is free, nothing is read
    return maximise(empty, q, x.T @ x, 1, N)._replace(V0=q.zz / N)


def output_subspace(x: Floats, n_states: int, lags: int) -> Subspace:
    """States as principal components of `lags` successive outputs (MLAPP 18.4.4).

    Without noise the stacked outputs lie in an M-dimensional subspace, and the singular values
    after the M-th vanish. `lags` = 1 is PCA of the outputs; M > D states need more.
    """
    n_windows = len(x) - lags + 1
    stacked = np.concatenate([x[lag : lag + n_windows] for lag in range(lags)], axis=1)
    U, s, _ = np.linalg.svd(stacked, full_matrices=False)
    return Subspace(np.sqrt(n_windows) * U[:, :n_states], s)


def subspace_start(x: Floats, n_states: int, lags: int) -> LDS:
    """Fit the states of `output_subspace` as if they were observed; R = 1, Sigma diagonal."""
    z = output_subspace(x, n_states, lags).z
    theta = with_unit_noise(fit_observed(x[: len(z)], z))
    return theta._replace(Sigma=theta.Sigma * np.eye(x.shape[1]))


def with_unit_noise(theta: LDS) -> LDS:
    """The same system in coordinates L^-1 z in which the state's noise is I (MLAPP 18.4.1)."""
    L = np.linalg.cholesky(theta.Gamma)
    return LDS(
        A=np.linalg.solve(L, theta.A @ L),
        Gamma=np.broadcast_to(np.eye(L.shape[-1]), L.shape),
        C=theta.C @ L,
        Sigma=theta.Sigma,
        mu0=np.linalg.solve(L, theta.mu0[..., np.newaxis])[..., 0],
        V0=np.linalg.solve(L, np.linalg.solve(L, theta.V0).mT),
    )


def random_start(x: Floats, n_states: int, n_restarts: int, rng: np.random.Generator) -> LDS:
    """Gaussian A with spectral radius 0.9 and Gaussian C on the scale of the outputs."""
    sd = x.std(0)
    A = rng.standard_normal((n_restarts, n_states, n_states))
    radius = np.abs(np.linalg.eigvals(A)).max(-1)
    C = rng.standard_normal((n_restarts, x.shape[1], n_states)) * sd[:, np.newaxis]
    return _with_defaults(0.9 * A / radius[:, np.newaxis, np.newaxis], C / np.sqrt(n_states), sd)


def identity_start(x: Floats, n_states: int) -> LDS:
    """A = I and C = I (its first M columns), scaled to the outputs; R = 1.

    Each state drives one output, so there can be at most D: EM would never move the others off 0.
    """
    sd = x.std(0)
    if n_states > len(sd):
        raise ValueError(f"{n_states} states need as many outputs, but there are {len(sd)}")
    C = np.eye(len(sd), n_states)[np.newaxis] * sd[:, np.newaxis]
    return _with_defaults(np.eye(n_states)[np.newaxis], C, sd)


def _with_defaults(A: Floats, C: Floats, sd: Floats) -> LDS:
    """Unit state noise, and as much output noise as the outputs vary."""
    R, D, M = C.shape
    unit = np.broadcast_to(np.eye(M), (R, M, M))
    Sigma = np.broadcast_to(np.diag(sd**2), (R, D, D))
    return LDS(A, unit, C, Sigma, np.zeros((R, M)), unit)
