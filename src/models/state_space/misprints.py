"""Equations of MLAPP 18 as printed, in a linear system, for which correct values are known."""

import numpy as np
from numpy.random import Generator

from bythebook.models.state_space.kalman import LDS, Gaussian, predict
from bythebook.models.state_space.unscented import Scaling, sigma_points
from bythebook.models.types import Floats

SIDES = ("right", "printed", "corrected")  # exact values, and the results of an equation


def cross_covariances(theta: LDS, scaling: Scaling) -> Floats:
    """Covariances of state and output after a step, on all SIDES, shape (3, M, D).

    (18.107) pairs the points propagated through g with those redrawn for h.
    """
    start = Gaussian(theta.mu0, theta.V0)
    x, _, w_c = sigma_points(*start, scaling)
    ahead = predict(start, theta.A, theta.Gamma)  # 18.101, 18.102
    redrawn = sigma_points(*ahead, scaling).x  # 18.103
    seen = (redrawn - ahead.mean) @ theta.C.T  # 18.104
    crosses = (
        ((points - ahead.mean) * w_c[:, np.newaxis]).T @ seen
        for points in (x @ theta.A.T, redrawn)  # 18.100 and 18.103
    )
    return np.stack([ahead.cov @ theta.C.T, *crosses])


def tangents(theta: LDS, rng: Generator, draws: int = 100) -> Floats:
    """The measurement model at draws of a state after a step, on all SIDES, (3, draws, D).

    (18.82) expands h about the predicted mean in y instead of z, which is only defined for equal
    numbers of outputs and states.
    """
    C, (mean, cov) = theta.C, predict(Gaussian(theta.mu0, theta.V0), theta.A, theta.Gamma)
    z = rng.multivariate_normal(mean, cov, draws)
    y = z @ C.T + rng.multivariate_normal(np.zeros(len(C)), theta.Sigma, draws)
    return np.stack([z @ C.T, *(C @ mean + (at - mean) @ C.T for at in (y, z))])


def powers(theta: LDS, steps: int = 20) -> Floats:
    """Noiseless states step after step, and by powers of A, on all SIDES, (3, steps, M).

    (18.79) prints z_t = A^t z_1.
    """
    z = [theta.mu0]
    while len(z) < steps:
        z.append(theta.A @ z[-1])
    by_power = (
        [np.linalg.matrix_power(theta.A, t + more) @ theta.mu0 for t in range(steps)]
        for more in (1, 0)
    )
    return np.stack([z, *by_power])


def regression_gradients(theta: LDS, z: Floats) -> Floats:
    """Derivatives by A of the log density of states z (N, M), shape (3, M, M).

    At A = 0, at the text's estimate and at that of all steps: the text's sum of squares (18.4.2)
    ends at t = 2, and z_0 is read as the first state.
    """
    estimates = (
        np.linalg.lstsq(z[:-1][:end], z[1:][:end])[0].T  # sum of (z_t - A z_{t-1})^2
        for end in (2, None)
    )
    return np.stack([
        np.linalg.solve(theta.Gamma, (z[1:] - z[:-1] @ A.T).T @ z[:-1])
        for A in (np.zeros_like(theta.A), *estimates)
    ])  # fmt: skip


def noise_from_outputs(covariances: Floats, n_states: int) -> Floats:
    """The covariance of the outputs' noise from their covariances with those 0, .., 3 steps later.

    The covariances are C A^k P C^T with earlier outputs: a realisation of these gives the share of
    the state at k = 0, and the rest of the variance is the noise (diagonal without loss of
    generality in MLAPP 18.4.1). A is invertible, and C has full rank.
    """
    now, one, two, three = covariances
    D = len(now)
    U, s, Vt = np.linalg.svd(np.block([[one, two], [two, three]]))
    seen = U[:, :n_states] * s[:n_states]  # C, and C A below
    A = np.linalg.lstsq(seen[:D], seen[D:])[0]
    return np.asarray(now - seen[:D] @ np.linalg.solve(A, Vt[:n_states, :D]))


def output_covariances(theta: LDS, lags: int = 4) -> Floats:
    """Covariances of a stationary system's outputs 0, 1, .. steps apart, shape (lags, D, D)."""
    P = theta.Gamma
    for _ in range(2000):  # converges to the state's stationary covariance
        P = theta.A @ P @ theta.A.T + theta.Gamma
    later = [theta.C @ np.linalg.matrix_power(theta.A, k) @ P @ theta.C.T for k in range(lags)]
    later[0] = later[0] + theta.Sigma
    return np.stack(later)
