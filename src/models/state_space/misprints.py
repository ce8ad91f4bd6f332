"""(18.107) and (18.82) of MLAPP as they stand, in a linear system, where right values are known."""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from models.state_space.kalman import LDS, Gaussian, predict
from models.state_space.unscented import Scaling, sigma_points


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
