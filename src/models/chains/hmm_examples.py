"""The Gaussian chains that the books draw: three clusters in the plane, visited in turn."""

from typing import NamedTuple

import numpy as np

from models.chains import hmm
from models.chains.baum_welch import GaussianHMM
from models.types import Floats, Ints


class Walk(NamedTuple):
    """Sequences of points, and the states they were drawn from."""

    states: Ints  # (N, T)
    points: Floats  # (N, T, D)


def lilypad() -> GaussianHMM:
    """MLAPP Figure 17.7, from the authors' code; without an axis of restarts, like all here."""
    shape = [[[1.0, 0.5], [0.5, 1.0]], [[1.0, -0.5], [-0.5, 1.0]], [[3.0, 0.0], [0.0, 0.5]]]
    return GaussianHMM(
        pi=np.array([1.0, 0.0, 0.0]),
        A=0.1 + 0.7 * np.eye(3),
        mu=10.0 * np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]),
        Sigma=10.0 * np.array(shape),
    )


def three_regions() -> GaussianHMM:
    """PRML Figure 13.8: its transitions; the Gaussians, only drawn there, are a stand-in."""
    return GaussianHMM(
        pi=np.full(3, 1 / 3),
        A=0.05 + 0.85 * np.eye(3),
        mu=np.array([[0.25, 0.6], [0.5, 0.3], [0.75, 0.65]]),
        Sigma=np.tile(0.1**2 * np.eye(2), (3, 1, 1)),
    )


def walk(model: GaussianHMM, sequences: int, length: int, rng: np.random.Generator) -> Walk:
    """Independent sequences of a chain."""
    states = hmm.sample_states(model.pi, model.A, rng.random((sequences, length)))
    return Walk(states, hmm.sample_gaussians(model.mu, model.Sigma, states, rng))
