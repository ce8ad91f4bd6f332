"""Example chains: the Gaussian chains of the books, and models drawn at random."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bythebook.models.chains import hmm
from bythebook.models.chains.baum_welch import CategoricalHMM, GaussianHMM
from bythebook.models.chains.casino import casino, simulate
from bythebook.models.types import Floats, Ints


class Walk(NamedTuple):
    """Sequences of points, and the states they were drawn from."""

    states: Ints  # (N, T)
    points: Floats  # (N, T, D)


class Chains(NamedTuple):
    """Models, each with a sequence of states and symbols that it made."""

    pi: Floats  # (N, K)
    A: Floats  # (N, K, K)
    lik: Floats  # (N, T, K) p(x_t | z_t = k) of the symbols seen
    states: Ints  # (N, T) the states behind them


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


def unit_gaussians(D: int, rng: np.random.Generator) -> GaussianHMM:
    """The transitions of PRML Figure 13.8; unit Gaussians about means drawn in D dimensions."""
    mu, Sigma = 2 * rng.standard_normal((3, D)), np.tile(np.eye(D), (3, 1, 1))
    return three_regions()._replace(mu=mu, Sigma=Sigma)


def dice_and_gaussians(
    dimensions: Sequence[int], sequences: int, length: int, rng: np.random.Generator
) -> dict[str, tuple[tuple[Floats, Floats], Floats]]:
    """Sequences of the casino and of unit Gaussians: pi and A, log likelihoods (N, T, K)."""
    (pi, A, B), shape = casino(), (sequences, length)
    rolls = simulate(CategoricalHMM(pi, A, B), *shape, rng).rolls
    found = {"dice": ((pi, A), hmm.categorical_log_likelihood(B, rolls))}
    for D in dimensions:
        model = unit_gaussians(D, rng)
        points = walk(model, *shape, rng).points
        log_lik = hmm.gaussian_log_likelihood(model.mu, model.Sigma, points)
        found[f"gaussian_{D}"] = (model.pi, model.A), log_lik
    return found


def random_models(
    K: int, L: int, models: int, rng: np.random.Generator, forbidden: int = 0
) -> CategoricalHMM:
    """Models of K states and L symbols, rows uniform on the simplex; R of them.

    Transitions k -> k + 1 of the first `forbidden` states are impossible.
    """
    pi, A = rng.dirichlet(np.ones(K), models), rng.dirichlet(np.ones(K), (models, K))
    B = rng.dirichlet(np.ones(L), (models, K))
    A[:, range(forbidden), range(1, forbidden + 1)] = 0.0
    return CategoricalHMM(pi, A / A.sum(axis=-1, keepdims=True), B)


def one_sequence_each(models: CategoricalHMM, length: int, rng: np.random.Generator) -> Chains:
    """One simulated sequence of each of R models."""
    states, lik = [], []
    for pi, A, B in zip(*models, strict=True):
        z = hmm.sample_states(pi, A, rng.random(length))
        states.append(z)
        lik.append(B.T[hmm.sample_symbols(B, z, rng.random(length))])
    return Chains(models.pi, models.A, np.stack(lik), np.stack(states))
