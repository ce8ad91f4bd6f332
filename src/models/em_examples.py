"""EM for six latent-variable models, each on data drawn from such a model (Ghahramani 3)."""

from collections.abc import Callable

import numpy as np
from numpy.random import Generator

from models.chains.baum_welch import baum_welch
from models.chains.baum_welch_starts import random_categorical
from models.chains.casino import book_game
from models.clustering import bernoulli_mixture, gaussian_mixture
from models.clustering.gaussian_mixture_starts import start_at_points
from models.latent.factor_analysis import fit_factors, ppca_maximum, random_start
from models.state_space import lds_em
from models.state_space.kalman import LDS, simulate
from models.types import Floats

# Restarts, iterations and the generator of the data give objectives (R, T); NaN is after the end.
Fit = Callable[[int, int, Generator], Floats]


def _mixture(restarts: int, iterations: int, rng: Generator) -> Floats:
    centres = np.array([[0.0, 0.0], [3.0, 0.0], [1.5, 3.0]])
    X = np.repeat(centres, 60, axis=0) + rng.standard_normal((180, 2))
    start = start_at_points(X, 3, rng, restarts)
    return gaussian_mixture.fit(X, start, tol=0, max_iter=iterations).objective


def _factor_data(rng: Generator) -> Floats:
    loadings, noise = rng.standard_normal((8, 2)), rng.uniform(0.3, 1.0, 8)
    return np.asarray(
        rng.standard_normal((200, 2)) @ loadings.T + noise * rng.standard_normal((200, 8))
    )


def _factors(restarts: int, iterations: int, rng: Generator, isotropic: bool = False) -> Floats:
    x = _factor_data(rng)
    start = random_start(x, 2, restarts, rng)
    return fit_factors(x, start, isotropic=isotropic, tol=0, max_iter=iterations).objective


def _ppca(restarts: int, iterations: int, rng: Generator) -> Floats:
    return _factors(restarts, iterations, rng, isotropic=True)


def _bernoulli(restarts: int, iterations: int, rng: Generator) -> Floats:
    means = rng.uniform(0.05, 0.95, (3, 12))
    X = (rng.random((200, 12)) < means[rng.integers(3, size=200)]).astype(float)
    start = bernoulli_mixture.start_at_random(12, 3, rng, restarts)
    return bernoulli_mixture.fit(X, start, tol=0, max_iter=iterations).objective


def _hmm(restarts: int, iterations: int, rng: Generator) -> Floats:
    start = random_categorical(2, 6, restarts, rng)
    return baum_welch(start, book_game().rolls, tol=0, max_iter=iterations).objective


def _lds(restarts: int, iterations: int, rng: Generator) -> Floats:
    turn = 0.98 * np.array([[np.cos(0.3), -np.sin(0.3)], [np.sin(0.3), np.cos(0.3)]])
    C = rng.standard_normal((3, 2))
    system = LDS(turn, np.eye(2), C, 0.5 * np.eye(3), np.zeros(2), np.eye(2))
    _, x = simulate(system, 100, rng)
    start = lds_em.random_start(x, 2, restarts, rng)
    return lds_em.fit_lds(x, start, held=["V0"], tol=0, max_iter=iterations).objective


EXAMPLES: dict[str, Fit] = {
    "mixture": _mixture,
    "factors": _factors,
    "ppca": _ppca,
    "bernoulli": _bernoulli,
    "hmm": _hmm,
    "lds": _lds,
}


def maximum_of_ppca(rng: Generator) -> float:
    """What `ppca` climbs to, on the data that this generator draws for it."""
    return ppca_maximum(_factor_data(rng), 2)
