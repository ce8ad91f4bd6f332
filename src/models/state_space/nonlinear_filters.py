r"""Gaussian filters for nonlinear systems: extended, iterated extended and unscented (MLAPP 18.5).

    z_n = g(n, z_{n-1}) + N(0, Q),    y_n = h(z_n) + N(0, R),    z_1 ~ N(mu0, V0)   MLAPP 18.80-81

Every one of them keeps a Gaussian belief. The extended filter replaces g and h by their tangents at
the mean and continues as the Kalman filter does; the iterated one recomputes the tangent of h at
the updated mean. The unscented filter takes moments of g and h by sigma points. For linear g and h
all three are the Kalman filter.

Two equations of the printed book are wrong and corrected here: (18.82) prints y_t - mu for
z_t - mu, and (18.107) pairs the points propagated through g with those redrawn for h, so that the
system's noise is missing from their covariance.

Leading axes of y are a batch of series.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bythebook.models.state_space.kalman import LDS, Filtered, Gaussian, log_normal, update
from bythebook.models.state_space.particle_filter import StateSpace
from bythebook.models.state_space.unscented import (
    Function,
    Moments,
    Scaling,
    by_points,
    by_tangent,
    sigma_points,
)
from bythebook.models.types import Floats


class NonlinearSystem(NamedTuple):
    """A system with M states and D outputs, and Gaussian noise; steps count n = 0..N-1."""

    g: Callable[[int, Floats], Floats]  # n, z_{n-1} (..., M): E[z_n | z_{n-1}], same shape
    G: Callable[[int, Floats], Floats]  # its Jacobian, (..., M, M) or the same for all (18.86)
    h: Function  # z_n (..., M): E[y_n | z_n], (..., D)
    H: Function  # its Jacobian, (..., D, M) or the same for all (18.83)
    Q: Floats  # (M, M) cov[z_n | z_{n-1}]
    R: Floats  # (D, D) cov[y_n | z_n]
    mu0: Floats  # (M,) E[z_1]
    V0: Floats  # (M, M) cov[z_1]


Predict = Callable[[int, Gaussian], Gaussian]
Update = Callable[[Gaussian, Floats], tuple[Gaussian, Moments]]


def extended_filter(system: NonlinearSystem, y: Floats, linearisations: int = 1) -> Filtered:
    """The extended Kalman filter; with more linearisations than one, the iterated one.

    y has shape (..., N, D); unlike those of the Kalman filter, covariances depend on it.
    """
    Q, R = system.Q, system.R

    def predict(n: int, belief: Gaussian) -> Gaussian:
        mean, cov, _ = by_tangent(
            *belief, lambda z: system.g(n, z), lambda z: system.G(n, z)
        )  # 18.88
        return Gaussian(mean, cov + Q)  # 18.89

    def correct(belief: Gaussian, y: Floats) -> tuple[Gaussian, Moments]:
        found = belief
        for _ in range(linearisations):
            at = found.mean
            H = system.H(at)  # 18.84, and then around the new mean
            datum = y - system.h(at) + np.matvec(H, at)  # now linear: H z + noise
            found = update(belief, datum, H, R)  # 18.90-18.92
        return found, by_tangent(*belief, system.h, system.H)

    return _run(system, y, predict, correct)


def unscented_filter(system: NonlinearSystem, y: Floats, scaling: Scaling) -> Filtered:
    """The unscented Kalman filter; y has shape (..., N, D)."""
    Q, R = system.Q, system.R

    def predict(n: int, belief: Gaussian) -> Gaussian:
        passed = by_points(sigma_points(*belief, scaling), lambda z: system.g(n, z))
        return Gaussian(passed.mean, passed.cov + Q)  # 18.101, 18.102

    def correct(belief: Gaussian, y: Floats) -> tuple[Gaussian, Moments]:
        seen = by_points(sigma_points(*belief, scaling), system.h)  # 18.103-18.105
        S = seen.cov + R  # 18.106
        K = np.linalg.solve(S, seen.cross.mT).mT  # 18.108, with the points of 18.103 in 18.107
        mean = belief.mean + np.matvec(K, y - seen.mean)  # 18.109
        return Gaussian(mean, belief.cov - K @ S @ K.mT), seen  # 18.110

    return _run(system, y, predict, correct)


def _run(system: NonlinearSystem, y: Floats, predict: Predict, correct: Update) -> Filtered:
    """The recursion that the filters share: prediction by g, and correction by every data point."""
    batch, N, M = y.shape[:-2], y.shape[-2], len(system.mu0)
    ahead = Gaussian(np.empty((*batch, N, M)), np.empty((*batch, N, M, M)))
    now = Gaussian(np.empty((*batch, N, M)), np.empty((*batch, N, M, M)))
    log_c = np.empty((*batch, N))
    belief = Gaussian(
        np.broadcast_to(system.mu0, (*batch, M)), np.broadcast_to(system.V0, (*batch, M, M))
    )
    for n in range(N):
        if n:
            belief = predict(n, belief)
        ahead.mean[..., n, :], ahead.cov[..., n, :, :] = belief
        belief, seen = correct(belief, y[..., n, :])
        now.mean[..., n, :], now.cov[..., n, :, :] = belief
        log_c[..., n] = log_normal(y[..., n, :] - seen.mean, seen.cov + system.R)
    return Filtered(ahead, now, log_c)


def state_space(system: NonlinearSystem, y: Floats) -> StateSpace:
    """The system and its data y (..., N, D) in the form that the particle filter uses.

    V0, Q and R must be positive definite. The size of `particle_filter.bootstrap_filter` is
    (..., R) where y has (..., R) or (..., 1) series.
    """
    first, step, noise = (np.linalg.cholesky(S) for S in (system.V0, system.Q, system.R))
    level = -np.log(np.diagonal(noise)).sum() - 0.5 * len(noise) * np.log(2 * np.pi)
    whiten = np.linalg.solve(noise, np.eye(len(noise))).T

    def initial(shape: tuple[int, ...], rng: Generator) -> Floats:
        return np.asarray(system.mu0 + rng.standard_normal((*shape, len(first))) @ first.T)

    def propagate(n: int, z: Floats, rng: Generator) -> Floats:
        return np.asarray(system.g(n, z) + rng.standard_normal(z.shape) @ step.T)

    def log_weight(n: int, z: Floats) -> Floats:
        e = (y[..., n, np.newaxis, :] - system.h(z)) @ whiten
        return np.asarray(level - 0.5 * np.vecdot(e, e))

    return StateSpace(initial, propagate, log_weight)


def simulate(
    system: NonlinearSystem, n_steps: int, rng: Generator, size: tuple[int, ...] = ()
) -> tuple[Floats, Floats]:
    """States z (*size, N, M) and outputs y (*size, N, D)."""
    first, step, noise = (np.linalg.cholesky(S) for S in (system.V0, system.Q, system.R))
    z = rng.standard_normal((*size, n_steps, len(first)))
    v = rng.standard_normal((*size, n_steps, len(noise)))
    z[..., 0, :] = system.mu0 + z[..., 0, :] @ first.T
    for n in range(1, n_steps):
        z[..., n, :] = system.g(n, z[..., n - 1, :]) + z[..., n, :] @ step.T  # 18.80
    return z, system.h(z) + v @ noise.T  # 18.81


def linear_system(theta: LDS) -> NonlinearSystem:
    """A linear dynamical system: here the filters are exact."""
    A, Gamma, C, Sigma, mu0, V0 = theta
    return NonlinearSystem(
        g=lambda n, z: z @ A.T,
        G=lambda n, z: A,
        h=lambda z: z @ C.T,
        H=lambda z: C,
        Q=Gamma,
        R=Sigma,
        mu0=mu0,
        V0=V0,
    )
