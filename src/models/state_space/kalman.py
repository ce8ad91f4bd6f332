r"""Linear dynamical systems: Kalman filter, Rauch-Tung-Striebel smoother, likelihood, simulation.

    z_1 = mu0 + u              u ~ N(0, V0)         (13.80), (13.83)
    z_n = A z_{n-1} + w_n      w ~ N(0, Gamma)      (13.78), (13.81)
    x_n = C z_n + v_n          v ~ N(0, Sigma)      (13.79), (13.82)

PRML 13.3.1, whose symbols and equation numbers are used; MLAPP 18.3 writes Q for Gamma, R for
Sigma, y for x and Sigma_{1|0} for V0. Two equations of the printed PRML are wrong and corrected
here: (13.100) needs A mu_n for A mu_N, and (13.104) prints the transpose of its left side.

All leading axes broadcast: parameters of shape (R, ...) are R models, data of shape (S, N, D) are
S series. Covariances and gains do not depend on the data, so their arrays carry the axes of the
parameters only: ten thousand series under one model cost one covariance recursion. Where that
recursion repeats itself bit for bit it has converged, and the remaining steps are copied.

The recursions are compiled loops (`kalman_kernels`); `kalman_filter_reference` and
`rts_smoother_reference` state them in NumPy, as the book does.
"""

import math
from typing import NamedTuple

import numpy as np

from bythebook.models.state_space.kalman_kernels import (
    backward_covariances,
    backward_means,
    forward_covariances,
    forward_means,
)
from bythebook.models.types import Floats, Ints

MAX_STATES, MAX_OUTPUTS = 16, 64  # beyond these BLAS is faster than the compiled loops


class LDS(NamedTuple):
    """Parameters of a linear dynamical system with M states and D outputs."""

    A: Floats  # (..., M, M) transition:  E[z_n | z_{n-1}] = A z_{n-1}
    Gamma: Floats  # (..., M, M) cov[z_n | z_{n-1}]
    C: Floats  # (..., D, M) emission:  E[x_n | z_n] = C z_n
    Sigma: Floats  # (..., D, D) cov[x_n | z_n]
    mu0: Floats  # (..., M) E[z_1]
    V0: Floats  # (..., M, M) cov[z_1]


class Gaussian(NamedTuple):
    """A Gaussian belief about the state, or one for each time (an axis of length N after (...))."""

    mean: Floats  # (..., M) or (..., N, M)
    cov: Floats  # (..., M, M) or (..., N, M, M)


class Filtered(NamedTuple):
    """Forward pass."""

    predicted: Gaussian  # p(z_n | x_1..x_{n-1}) for n = 1..N; at n = 1 the prior
    filtered: Gaussian  # p(z_n | x_1..x_n)
    log_c: Floats  # (..., N) ln c_n = ln p(x_n | x_1..x_{n-1}) (13.91)

    @property
    def log_likelihood(self) -> Floats:
        """The sum of ln c_n, that is ln p(x_1..x_N) (13.63), shape (...)."""
        return np.asarray(self.log_c.sum(-1))


class Smoothed(NamedTuple):
    """Backward pass."""

    state: Gaussian  # p(z_n | x_1..x_N)
    lag_one: Floats  # (..., N - 1, M, M) cov[z_{n+1}, z_n | x_1..x_N]; rows belong to z_{n+1}


def predict(state: Gaussian, A: Floats, Gamma: Floats) -> Gaussian:
    """Map p(z_{n-1} | x_1..x_{n-1}) to p(z_n | x_1..x_{n-1})."""
    return Gaussian(np.matvec(A, state.mean), A @ state.cov @ A.mT + Gamma)  # (13.87), (13.88)


def update(state: Gaussian, x: Floats, C: Floats, Sigma: Floats) -> Gaussian:
    """Map p(z_n | x_1..x_{n-1}) to p(z_n | x_1..x_n), given the observation x, shape (..., D).

    The covariance (13.90) is computed in Joseph's form, a sum of two positive terms: a vague prior
    (MLAPP 18.2.1 uses V0 = infinity I) would otherwise leave only the rounding of V0 - V0.
    """
    P = state.cov
    K = np.linalg.solve(C @ P @ C.mT + Sigma, C @ P).mT  # (13.92)
    mean = state.mean + np.matvec(K, x - np.matvec(C, state.mean))  # (13.89)
    keep = np.eye(P.shape[-1]) - K @ C
    return Gaussian(mean, keep @ P @ keep.mT + K @ Sigma @ K.mT)  # (13.90)


def kalman_filter(theta: LDS, x: Floats) -> Filtered:
    """Beliefs about the state from past and present data; x has shape (..., N, D)."""
    (N, D), M = x.shape[-2:], theta.A.shape[-1]
    if M > MAX_STATES or D > MAX_OUTPUTS:
        return kalman_filter_reference(theta, x)
    if N == 0:
        raise ValueError("a series needs at least one step")
    matrices = (theta.A, theta.Gamma, theta.C, theta.Sigma, theta.V0)
    models = np.broadcast_shapes(*(matrix.shape[:-2] for matrix in matrices))
    batch = np.broadcast_shapes(models, theta.mu0.shape[:-1], x.shape[:-2])
    A, Gamma, V0 = (_flat(matrix, models, M, M) for matrix in (theta.A, theta.Gamma, theta.V0))
    C, Sigma = _flat(theta.C, models, D, M), _flat(theta.Sigma, models, D, D)
    R, S = math.prod(models), math.prod(batch)

    P, V = np.empty((R, N, M, M)), np.empty((R, N, M, M))
    K, L = np.empty((R, N, M, D)), np.empty((R, N, D, D))
    forward_covariances(A, Gamma, C, Sigma, V0, P, V, K, L)
    log_peak = -np.log(np.diagonal(L, axis1=-2, axis2=-1)).sum(-1) - 0.5 * D * np.log(2 * np.pi)

    ahead, mean, log_c = np.empty((S, N, M)), np.empty((S, N, M)), np.empty((S, N))
    ahead[:, 0] = _flat(theta.mu0, batch, M)
    given = (_flat(x, batch, N, D), _owners(models, batch))
    forward_means(A, C, K, L, log_peak, *given, ahead, mean, log_c)
    return Filtered(
        Gaussian(ahead.reshape(*batch, N, M), P.reshape(*models, N, M, M)),
        Gaussian(mean.reshape(*batch, N, M), V.reshape(*models, N, M, M)),
        log_c.reshape(*batch, N),
    )


def rts_smoother(theta: LDS, passed: Filtered) -> Smoothed:
    """Beliefs about the state from all data. Needs A V_n A^T + Gamma positive definite."""
    (ahead, P), (mu, V) = passed.predicted, passed.filtered
    N, M = mu.shape[-2:]
    if M > MAX_STATES:
        return rts_smoother_reference(theta, passed)
    models = np.broadcast_shapes(theta.A.shape[:-2], V.shape[:-3])
    batch = np.broadcast_shapes(models, mu.shape[:-2])
    A = _flat(theta.A, models, M, M)
    P, V = (_flat(covariances, models, N, M, M) for covariances in (P, V))

    J, lag_one = np.empty((len(A), N - 1, M, M)), np.empty((len(A), N - 1, M, M))
    cov = np.empty(V.shape)
    backward_covariances(A, P, V, J, cov, lag_one)
    mean = _flat(mu, batch, N, M).copy()
    backward_means(J, _flat(ahead, batch, N, M), _owners(models, batch), mean)
    return Smoothed(
        Gaussian(mean.reshape(*batch, N, M), cov.reshape(*models, N, M, M)),
        lag_one.reshape(*models, N - 1, M, M),
    )


# --- The recursions in NumPy: for large matrices, and as references for the compiled ones --------


def kalman_filter_reference(theta: LDS, x: Floats) -> Filtered:
    """The recursion of `kalman_filter` as the book states it, one step at a time."""
    belief = Gaussian(theta.mu0, theta.V0)
    predicted, filtered = [], []
    for n in range(x.shape[-2]):
        if n:
            belief = predict(belief, theta.A, theta.Gamma)
        predicted.append(belief)
        belief = update(belief, x[..., n, :], theta.C, theta.Sigma)
        filtered.append(belief)
    # The first prediction is the prior, which does not have the data's leading axes yet.
    predicted[0] = Gaussian(np.broadcast_to(theta.mu0, belief.mean.shape), theta.V0)
    before = _stack(predicted)
    C = theta.C[..., np.newaxis, :, :]
    S = C @ before.cov @ C.mT + theta.Sigma[..., np.newaxis, :, :]
    log_c = log_normal(x - np.matvec(C, before.mean), S)  # (13.91)
    return Filtered(before, _stack(filtered), log_c)


def rts_smoother_reference(theta: LDS, passed: Filtered) -> Smoothed:
    """The recursion of `rts_smoother` as the book states it, one step at a time."""
    mu, V = passed.filtered
    ahead_mean, P = passed.predicted.mean[..., 1:, :], passed.predicted.cov[..., 1:, :, :]
    A = theta.A[..., np.newaxis, :, :]
    J = np.linalg.solve(P, A @ V[..., :-1, :, :]).mT  # (13.102)
    mean, cov = mu.copy(), V.copy()
    for n in reversed(range(mu.shape[-2] - 1)):
        gap = mean[..., n + 1, :] - ahead_mean[..., n, :]
        mean[..., n, :] += np.matvec(J[..., n, :, :], gap)  # (13.100), with A mu_n
        excess = cov[..., n + 1, :, :] - P[..., n, :, :]
        cov[..., n, :, :] += J[..., n, :, :] @ excess @ J[..., n, :, :].mT  # (13.101)
    return Smoothed(Gaussian(mean, cov), cov[..., 1:, :, :] @ J.mT)  # (13.104), transposed


def in_variances(e: Floats, cov: Floats) -> float:
    """The mean square of errors (..., M), in units of the variance that beliefs claim."""
    white = np.linalg.solve(cov, e[..., np.newaxis])[..., 0]
    return float(np.vecdot(e, white).mean() / e.shape[-1])


def _stack(beliefs: list[Gaussian]) -> Gaussian:
    return Gaussian(
        np.stack([belief.mean for belief in beliefs], axis=-2),
        np.stack([belief.cov for belief in beliefs], axis=-3),
    )


def log_normal(r: Floats, S: Floats) -> Floats:
    """The log density ln N(r | 0, S) over leading axes."""
    L = np.linalg.cholesky(S)
    white = np.linalg.solve(L, r[..., np.newaxis])[..., 0]
    log_det = 2 * np.log(np.diagonal(L, axis1=-2, axis2=-1)).sum(-1)
    log_density: Floats = -0.5 * ((white**2).sum(-1) + log_det + r.shape[-1] * np.log(2 * np.pi))
    return log_density


# --- Simulation ---------------------------------------------------------------------------------


def autoregression(a: float, state_variance: float, noise_variance: float) -> LDS:
    """A stationary autoregressive state, |a| < 1, observed directly with noise."""
    one, q = np.eye(1), state_variance
    V0 = q / (1 - a**2) * one
    return LDS(a * one, q * one, one, noise_variance * one, np.zeros(1), V0)


def rotation(
    C: Floats, angle: float, radius: float, state_noise: float, output_noise: float
) -> LDS:
    """A state in the plane that turns and shrinks in every step, and is observed through C z.

    Noise has standard deviations, the same in all directions; the first state is N(0, I).
    """
    c, s = radius * np.cos(angle), radius * np.sin(angle)
    A, unit = np.array([[c, -s], [s, c]]), np.eye(2)
    return LDS(A, state_noise**2 * unit, C, output_noise**2 * np.eye(len(C)), np.zeros(2), unit)


def simulate(
    theta: LDS, n_steps: int, rng: np.random.Generator, size: tuple[int, ...] = ()
) -> tuple[Floats, Floats]:
    """States z, shape (*size, ..., N, M), and outputs x, shape (*size, ..., N, D).

    `size` is the number of series of each model. Singular noise is allowed: V0 = 0 is a known
    start, Gamma = 0 a deterministic system (MLAPP Figures 18.5-18.7).
    """
    M, D = theta.A.shape[-1], theta.C.shape[-2]
    batch = np.broadcast_shapes(theta.A.shape[:-2], theta.C.shape[:-2], theta.mu0.shape[:-1])
    w = rng.standard_normal((*size, *batch, n_steps, M))
    v = rng.standard_normal((*size, *batch, n_steps, D))
    root = _root(theta.Gamma)
    z = np.empty_like(w)
    z[..., 0, :] = theta.mu0 + np.matvec(_root(theta.V0), w[..., 0, :])
    for n in range(1, n_steps):
        z[..., n, :] = np.matvec(theta.A, z[..., n - 1, :]) + np.matvec(root, w[..., n, :])
    noise = np.matvec(_root(theta.Sigma)[..., np.newaxis, :, :], v)
    return z, np.matvec(theta.C[..., np.newaxis, :, :], z) + noise


def _root(S: Floats) -> Floats:
    """A matrix B with B B^T = S, also where S is singular and Cholesky fails."""
    values, vectors = np.linalg.eigh(S)
    root: Floats = vectors * np.sqrt(np.maximum(values, 0))[..., np.newaxis, :]
    return root


# --- Shapes: leading axes made one --------------------------------------------------------------


def _flat(array: Floats, leading: tuple[int, ...], *core: int) -> Floats:
    """The array with its leading axes broadcast and made one, before axes of the sizes `core`.

    The loops check no index, so the sizes are checked here. The result is in C order and writable:
    numba would compile a separate kernel for other layouts.
    """
    if array.shape[-len(core) :] != core:
        raise ValueError(f"an array of shape {array.shape} where the last axes should be {core}")
    shape = (*leading, *core)
    whole = array if array.shape == shape else np.broadcast_to(array, shape)
    ready = np.require(whole, np.float64, ["C_CONTIGUOUS", "WRITEABLE"])
    return ready.reshape(math.prod(leading), *core)


def _owners(models: tuple[int, ...], batch: tuple[int, ...]) -> Ints:
    """For every series of the batch, flattened, the number of its model."""
    numbers = np.arange(math.prod(models)).reshape(models)
    return np.broadcast_to(numbers, batch).flatten()
