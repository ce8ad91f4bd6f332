"""EM never lowers the log likelihood, whatever the latent-variable model (Ghahramani 3)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar, Series
from experiments.contract.study import Study, knob
from models.chains.baum_welch import baum_welch
from models.chains.baum_welch_starts import random_categorical
from models.chains.casino import book_game
from models.clustering import bernoulli_mixture, gaussian_mixture
from models.clustering.gaussian_mixture_starts import start_at_points
from models.latent.factor_analysis import fit_factors, random_start
from models.state_space import lds_em
from models.state_space.kalman import LDS, simulate
from models.types import Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# A fit takes restarts, iterations and the generator of its data, and gives objectives (R, T).
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


MODELS: dict[str, tuple[str, Fit]] = {
    "mixture": ("Gaussian mixture", _mixture),
    "factors": ("factor analysis", _factors),
    "ppca": ("probabilistic PCA", _ppca),
    "bernoulli": ("Bernoulli mixture", _bernoulli),
    "hmm": ("hidden Markov model", _hmm),
    "lds": ("linear dynamical system", _lds),
}


@dataclass
class EmMonotone(Study):
    """The log likelihood along EM for six latent-variable models, each from random starts."""

    models: list[str] = knob(list(MODELS), "models", choices=tuple(MODELS), distinct=True)
    restarts: int = knob(10, "random starts of each model", at_least=1, at_most=1000)
    iterations: int = knob(100, "iterations at most", at_least=1, at_most=10_000)
    slack: float = knob(1e-9, "a fall is more than this, relative to the log likelihood", above=0)

    def run(self, rng: Generator) -> Outcome:
        metrics: dict[str, Scalar] = {}
        curves: dict[str, Floats] = {}
        for name, stream in zip(MODELS, rng.spawn(len(MODELS)), strict=True):
            if name not in self.models:  # every model has its own stream, whichever are chosen
                continue
            L = MODELS[name][1](self.restarts, self.iterations, stream)
            gains = np.diff(L) / np.nanmax(np.abs(L))
            metrics[f"{name}_smallest_relative_gain"] = float(np.nanmin(gains))
            metrics[f"{name}_never_falls"] = bool(np.nanmin(gains) >= -self.slack)
            metrics[f"{name}_final"] = float(np.nanmax(L))
            curves[name] = L
        metrics["never_falls"] = all(bool(metrics[f"{name}_never_falls"]) for name in self.models)
        first = {name: L[0][np.isfinite(L[0])] for name, L in curves.items()}
        return Outcome(
            metrics,
            series={name: Series(list(range(len(L))), L.tolist()) for name, L in first.items()},
            arrays=curves,
        )

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.clusters import grid, spare

        columns = min(3, len(self.models))
        rows = -(-len(self.models) // columns)
        figure, axes = grid(rows, columns, 0.8)
        cells = axes.ravel()
        for ax, name in zip(cells, self.models, strict=False):
            L = outcome.arrays[name]
            ax.plot(L.T, linewidth=1, color="C0", alpha=0.6)
            # The first steps are so large that nothing else would be seen.
            high, low = np.nanmax(L), np.nanmin(L[:, 1])
            ax.set(
                title=MODELS[name][0], ylim=(low - 0.05 * (high - low), high + 0.05 * (high - low))
            )
        spare(cells[len(self.models) :])
        figure.supxlabel("Iteration")
        figure.supylabel("Log likelihood")
        return {"climb": figure}
