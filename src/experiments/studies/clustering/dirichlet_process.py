"""Dirichlet process mixtures: occupied components as data grow (Ghahramani 12)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.clustering import dirichlet_process as process
from bythebook.models.clustering.dirichlet_process import Model
from bythebook.models.types import Floats, Ints

_WARM = 0.25  # of the sweeps are left out
_CHAINS = 200  # for the data set that is enumerated


@dataclass
class DirichletProcess(Study):
    """Occupied components of Dirichlet process mixtures, a priori and given drawn points.

    Points on a line with known noise. The posterior by Gibbs sampling and by variational fits with
    a limited number of components; of a few points also by all partitions.
    """

    headline = {"mean_components": "mean(last(sampled_clusters, over='fitted_n'))"}
    quantities = {
        "prior_clusters": quantity("occupied components under the prior", "concentration n draw"),
        "sampled_clusters": quantity(
            "mean number of occupied components in Gibbs samples", "fitted_n repetition"
        ),
        "truncated_clusters": quantity(
            "components with a point or more in a variational fit", "fitted_n repetition"
        ),
        "exact_count_probability": quantity(
            "posterior probability of a number of components, by all partitions", "components"
        ),
        "drawn_count_probability": quantity(
            "share of the Gibbs samples with a number of components", "components"
        ),
    }
    axes = {
        "concentration": axis_of("concentration parameter"),
        "n": axis_of("number of points"),
        "draw": axis_of("draw of the prior"),
        "fitted_n": axis_of("number of points"),
        "repetition": axis_of("data set"),
        "components": axis_of("number of components"),
    }

    concentrations: list[float] = knob([0.1, 1.0, 10.0], "alpha of the prior", above=0)
    n: list[int] = knob([10, 100, 1000], "points, for the prior", at_least=1, distinct=True)
    draws: int = knob(200, "draws of the prior", at_least=2, at_most=100_000)
    fitted_n: list[int] = knob([10, 30, 100], "points to fit to", at_least=2, distinct=True)
    alpha: float = knob(1.0, "concentration for data and fits", above=0)
    spread: float = knob(3.0, "standard deviation of the components' means", above=0)
    noise: float = knob(0.5, "standard deviation in a component", above=0)
    repetitions: int = knob(20, "data sets of each size", at_least=1, at_most=1000)
    sweeps: int = knob(60, "of Gibbs sampling", at_least=4, at_most=100_000)
    truncation: int = knob(
        15, "components at most of the variational fits", at_least=2, at_most=100
    )
    restarts: int = knob(5, "starts of these; the best is kept", at_least=1, at_most=1000)
    iterations: int = knob(5000, "of a variational fit at most", at_least=1, at_most=100_000)
    enumerated: int = knob(7, "points whose partitions are all tried", at_least=2, at_most=9)

    def problems(self) -> Iterator[str]:
        for name in ("n", "fitted_n"):
            if getattr(self, name) != sorted(getattr(self, name)):
                yield f"study.{name}={getattr(self, name)}; allowed: ascending"

    def run(self, rng: Generator) -> Outcome:
        model = Model(self.alpha, self.noise**2, self.spread**2)
        kept = slice(int(_WARM * self.sweeps), None)
        prior = []
        for alpha in self.concentrations:
            counts = process.draw_counts(self.n[-1], alpha, self.draws, rng)
            prior.append(counts[:, np.array(self.n) - 1].T.astype(int))
        # Data sets grow: the first points of a large one are a small one.
        x = process.draw_data(self.fitted_n[-1], model, self.repetitions, rng)
        sampled, fits = [], []
        for N in self.fitted_n:
            sampled.append(process.gibbs(x[:, :N], model, self.sweeps, rng)[:, kept].mean(1))
            fits.append(self._truncated(x[:, :N], model, rng))
        few = x[:1, : self.enumerated]
        chains = process.gibbs(np.repeat(few, _CHAINS, axis=0), model, self.sweeps, rng)[:, kept]
        drawn = np.bincount(chains.ravel(), minlength=self.enumerated + 1)[1:] / chains.size
        coords: dict[str, Any] = {
            "concentration": self.concentrations,
            "n": self.n,
            "draw": self.draws,
        }
        coords |= {"fitted_n": self.fitted_n, "repetition": self.repetitions}
        return outcome(
            coords | {"components": np.arange(1, self.enumerated + 1)},
            prior_clusters=("concentration n draw", prior),
            sampled_clusters=("fitted_n repetition", sampled),  # means over sweeps
            truncated_clusters=("fitted_n repetition", fits),
            exact_count_probability=("components", process.exact_counts(few[0], model)),
            drawn_count_probability=("components", drawn),
        )

    def _truncated(self, x: Floats, model: Model, rng: Generator) -> Ints:
        """Components with at least one point in the best fit of each data set (repetitions, N)."""
        T = min(self.truncation, x.shape[1])
        data = np.repeat(x, self.restarts, axis=0)
        centres = rng.permuted(data, axis=1)[:, :T]
        nearest = np.abs(data[..., None] - centres[:, None]).argmin(-1)
        sizes = (nearest[..., None] == np.arange(T)).sum(1)
        rank = np.argsort(np.argsort(-sizes, axis=1), axis=1)  # large components first
        start = np.take_along_axis(rank, nearest, axis=1)[..., None] == np.arange(T)
        fit = process.truncated(data, start.astype(np.float64), model, max_iter=self.iterations)
        best = fit.final.reshape(self.repetitions, -1).argmax(1)
        best = best + self.restarts * np.arange(self.repetitions)
        return np.asarray(process.truncated_counts(fit.theta)[best])
