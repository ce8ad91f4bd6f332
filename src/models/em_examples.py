"""EM for six latent-variable models, each on data of the package (Ghahramani 3)."""

from collections.abc import Callable

from numpy.random import Generator

from bythebook.models.chains.baum_welch import baum_welch
from bythebook.models.chains.baum_welch_starts import random_categorical
from bythebook.models.chains.casino import book_game
from bythebook.models.clustering import bernoulli_mixture, gaussian_mixture
from bythebook.models.clustering.gaussian_mixture_starts import start_at_points
from bythebook.models.datasets import load
from bythebook.models.latent.factor_analysis import fit_factors, random_start
from bythebook.models.state_space import lds_em
from bythebook.models.types import Floats

# Restarts, iterations and the generator of the starts give objectives (R, T); NaN is after the end.
Fit = Callable[[int, int, Generator], Floats]


def _mixture(restarts: int, iterations: int, rng: Generator) -> Floats:
    X = load("old-faithful").matrix
    start = start_at_points(X, 2, rng, restarts)
    return gaussian_mixture.fit(X, start, tol=0, max_iter=iterations).objective


def _pen_strokes() -> Floats:
    return load("pen-digits").matrix[:, :-1]  # without the digit


def _factors(restarts: int, iterations: int, rng: Generator, isotropic: bool = False) -> Floats:
    x = _pen_strokes()
    start = random_start(x, 2, restarts, rng)
    return fit_factors(x, start, isotropic=isotropic, tol=0, max_iter=iterations).objective


def _ppca(restarts: int, iterations: int, rng: Generator) -> Floats:
    return _factors(restarts, iterations, rng, isotropic=True)


def _bernoulli(restarts: int, iterations: int, rng: Generator) -> Floats:
    X = load("optical-digits-binary").matrix
    start = bernoulli_mixture.start_at_random(X.shape[1], 3, rng, restarts)
    return bernoulli_mixture.fit(X, start, tol=0, max_iter=iterations).objective


def _hmm(restarts: int, iterations: int, rng: Generator) -> Floats:
    start = random_categorical(2, 6, restarts, rng)
    return baum_welch(start, book_game().rolls, tol=0, max_iter=iterations).objective


def _lds(restarts: int, iterations: int, rng: Generator) -> Floats:
    x = load("nile").xt[1][:, None]
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
