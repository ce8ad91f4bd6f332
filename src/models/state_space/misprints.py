"""Equations of MLAPP 18 as they stand, in a linear system, where right values are known."""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from models.state_space.kalman import LDS, Gaussian, predict
from models.state_space.unscented import Scaling, sigma_points
from models.types import Floats


class Printed(NamedTuple):
    """What an equation errs by."""

    printed: float
    corrected: float


def cross_covariance_errors(theta: LDS, scaling: Scaling) -> Printed:
    """Of the covariance of state and output after a step, relative.

    (18.107) pairs the points that went through g with those that were drawn anew for h.
    """
    start = Gaussian(theta.mu0, theta.V0)
    x, _, w_c = sigma_points(*start, scaling)
    ahead = predict(start, theta.A, theta.Gamma)  # 18.101, 18.102
    redrawn = sigma_points(*ahead, scaling).x  # 18.103
    seen = (redrawn - ahead.mean) @ theta.C.T  # 18.104
    exact = ahead.cov @ theta.C.T
    crosses = (
        ((points - ahead.mean) * w_c[:, np.newaxis]).T @ seen
        for points in (x @ theta.A.T, redrawn)  # 18.100 and 18.103
    )
    return Printed(*(float(np.linalg.norm(c - exact) / np.linalg.norm(exact)) for c in crosses))


def tangent_errors(theta: LDS, rng: Generator, draws: int = 100) -> Printed:
    """Largest of the tangent of the measurement model, over draws of a state after a step.

    (18.82) expands h about the predicted mean in y in place of z, which only makes sense where
    there are as many outputs as states.
    """
    C, (mean, cov) = theta.C, predict(Gaussian(theta.mu0, theta.V0), theta.A, theta.Gamma)
    z = rng.multivariate_normal(mean, cov, draws)
    y = z @ C.T + rng.multivariate_normal(np.zeros(len(C)), theta.Sigma, draws)
    tangents = (C @ mean + (at - mean) @ C.T for at in (y, z))
    return Printed(*(float(np.abs(tangent - z @ C.T).max()) for tangent in tangents))


def power_errors(theta: LDS, steps: int = 20) -> Printed:
    """Largest of the noiseless states by a power of A, against step after step.

    (18.79) has z_t = A^t z_1.
    """
    z, A = theta.mu0, theta.A
    errors = np.zeros(2)
    for t in range(1, steps + 1):
        powers = (np.linalg.matrix_power(A, power) @ theta.mu0 for power in (t, t - 1))
        errors = np.maximum(errors, [np.abs(found - z).max() for found in powers])
        z = A @ z
    return Printed(*map(float, errors))


def regression_gradients(theta: LDS, z: Floats) -> Printed:
    """Largest derivative by A of the log density of states z (N, M), relative to that at A = 0.

    The text's sum of squares (18.4.2) ends at t = 2, and z_0 is read as the first state.
    """
    estimates = (
        np.linalg.lstsq(z[:-1][:end], z[1:][:end])[0].T  # sum of (z_t - A z_{t-1})^2
        for end in (2, None)
    )
    scale, *found = (
        np.abs(np.linalg.solve(theta.Gamma, (z[1:] - z[:-1] @ A.T).T @ z[:-1])).max()
        for A in (np.zeros_like(theta.A), *estimates)
    )
    return Printed(*(float(one / scale) for one in found))


def noise_from_outputs(covariances: Floats, n_states: int) -> Floats:
    """The covariance of the outputs' noise from their covariances with those 0, .., 3 steps later.

    Later outputs share C A^k P C^T with earlier ones: a realisation of these gives the share of the
    state at k = 0, and what is left of the variance is the noise (MLAPP 18.4.1 has it diagonal
    without loss of generality). A is invertible, and C has full rank.
    """
    now, one, two, three = covariances
    D = len(now)
    U, s, Vt = np.linalg.svd(np.block([[one, two], [two, three]]))
    seen = U[:, :n_states] * s[:n_states]  # C, and C A below
    A = np.linalg.lstsq(seen[:D], seen[D:])[0]
    return np.asarray(now - seen[:D] @ np.linalg.solve(A, Vt[:n_states, :D]))


def output_covariances(theta: LDS, lags: int = 4) -> Floats:
    """Of the outputs of a system at rest with those 0, 1, .. steps later, shape (lags, D, D)."""
    P = theta.Gamma
    for _ in range(2000):  # to the state's covariance at rest
        P = theta.A @ P @ theta.A.T + theta.Gamma
    later = [theta.C @ np.linalg.matrix_power(theta.A, k) @ P @ theta.C.T for k in range(lags)]
    later[0] = later[0] + theta.Sigma
    return np.stack(later)


def largest_correlation(cov: Floats) -> float:
    """Of different variables with this covariance, in size."""
    sd = np.sqrt(np.diag(cov))
    return float(np.abs(cov / np.outer(sd, sd) - np.eye(len(sd))).max())
