"""Dirichlet process mixtures: occupied components as data grow (Ghahramani 12)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.clustering import dirichlet_process as process
from bythebook.models.clustering.dirichlet_process import Model
from bythebook.models.types import Floats

_WARM = 0.25  # of the sweeps are left out
_CHAINS = 200  # for the data set that is enumerated
_PAIRS = 4000  # data sets of three points whose distances are averaged
_OTHER = 2.5  # concentration for points whose posterior is known
_THREE = [0.0, 0.6, 1.5]
_APART = [-50.0, -49.5, -51.0, 40.0, 41.0]  # two clusters that no component can share


@dataclass
class DirichletProcess(Study):
    """Occupied components of Dirichlet process mixtures, a priori and given drawn points.

    Points on a line with known noise. The posterior by Gibbs sampling and by variational fits with
    a limited number of components; of a few points also by all partitions.
    """

    headline = {"components": "mean(last(sampled_clusters, over='fitted_n'))"}
    more_quantities = True
    quantities = {
        "sampled_clusters": quantity(
            "mean number of occupied components in Gibbs samples", "fitted_n set"
        ),
    }

    concentrations: list[float] = knob([0.1, 1.0, 10.0], "alpha of the prior", above=0)
    sizes: list[int] = knob([10, 100, 1000], "points, for the prior", at_least=1, distinct=True)
    draws: int = knob(200, "draws of the prior", at_least=2, at_most=100_000)
    fitted_sizes: list[int] = knob([10, 30, 100], "points to fit to", at_least=2, distinct=True)
    alpha: float = knob(1.0, "concentration for data and fits", above=0)
    spread: float = knob(3.0, "standard deviation of the components' means", above=0)
    noise: float = knob(0.5, "standard deviation in a component", above=0)
    sets: int = knob(20, "data sets of each size", at_least=1, at_most=1000)
    sweeps: int = knob(60, "of Gibbs sampling", at_least=4, at_most=100_000)
    truncation: int = knob(
        15, "components at most of the variational fits", at_least=2, at_most=100
    )
    restarts: int = knob(5, "starts of these; the best is kept", at_least=1, at_most=1000)
    enumerated: int = knob(7, "points whose partitions are all tried", at_least=2, at_most=9)

    def problems(self) -> Iterator[str]:
        for name in ("sizes", "fitted_sizes"):
            if getattr(self, name) != sorted(getattr(self, name)):
                yield f"study.{name}={getattr(self, name)}; allowed: ascending"

    def run(self, rng: Generator) -> Outcome:
        model = Model(self.alpha, self.noise**2, self.spread**2)
        concentration, n = axis("concentration", self.concentrations), axis("n", self.sizes)
        draw, sets = axis("draw", self.draws), axis("set", self.sets)
        fitted, kept = axis("fitted_n", self.fitted_sizes), slice(int(_WARM * self.sweeps), None)
        prior = np.empty((len(concentration), len(n), len(draw)))
        for i, alpha in enumerate(self.concentrations):
            counts = process.draw_counts(self.sizes[-1], alpha, self.draws, rng)
            prior[i] = counts[:, np.array(self.sizes) - 1].T
        mean = [[process.expected_count(N, a) for N in self.sizes] for a in self.concentrations]
        # Data sets grow: the first points of a large one are a small one.
        x = process.draw_data(self.fitted_sizes[-1], model, self.sets, rng)
        sampled, fits = np.empty((2, len(fitted), len(sets)))
        for j, N in enumerate(self.fitted_sizes):
            sampled[j] = process.gibbs(x[:, :N], model, self.sweeps, rng)[:, kept].mean(1)
            fits[j] = self._truncated(x[:, :N], model, rng)
        few = x[:1, : self.enumerated]
        chains = process.gibbs(np.repeat(few, _CHAINS, axis=0), model, self.sweeps, rng)[:, kept]
        drawn = np.bincount(chains.ravel(), minlength=self.enumerated + 1)[1:] / chains.size
        count = axis("count", np.arange(1, self.enumerated + 1))
        other, three = model._replace(alpha=_OTHER), axis("count_of_three", [1, 2, 3])
        labels = np.array([[0, 0, 0, 1, 1]])
        apart = process.truncated(np.array([_APART]), np.eye(3)[labels], other)
        triples = process.draw_data(3, model, _PAIRS, rng.spawn(1)[0])
        squares = np.square([triples[:, 0], *(triples[:, i] - triples[:, i - 1] for i in range(3))])
        moment = axis("square", ["of a point", "1 and 3", "1 and 2", "2 and 3"])
        return Outcome(
            prior_clusters=over(prior.astype(int), concentration, n, draw),
            expected_prior_clusters=over(mean, concentration, n),
            sampled_clusters=over(sampled, fitted, sets),  # means over sweeps
            truncated_clusters=over(fits.astype(int), fitted, sets),
            exact_count_probability=count.of(process.exact_counts(few[0], model)),
            drawn_count_probability=count.of(drawn),
            inputs=axis("point", x.shape[1]).of(x[0]),
            drawn_square=moment.of(squares.mean(axis=1)),  # of points and of their differences
            drawn_square_error=moment.of(squares.std(axis=1) / np.sqrt(_PAIRS)),
            three_count_probability=three.of(process.exact_counts(np.array(_THREE), other)),
            far_apart=axis("far_point", len(_APART)).of(_APART),
            far_apart_bound=float(apart.final[0]),
            far_apart_clusters=int(process.truncated_counts(apart.theta)[0]),
        )

    def _truncated(self, x: Floats, model: Model, rng: Generator) -> Floats:
        """Components with at least one point in the best fit of each data set (sets, N)."""
        T = min(self.truncation, x.shape[1])
        data = np.repeat(x, self.restarts, axis=0)
        centres = rng.permuted(data, axis=1)[:, :T]
        nearest = np.abs(data[..., None] - centres[:, None]).argmin(-1)
        sizes = (nearest[..., None] == np.arange(T)).sum(1)
        rank = np.argsort(np.argsort(-sizes, axis=1), axis=1)  # large components first
        start = np.take_along_axis(rank, nearest, axis=1)[..., None] == np.arange(T)
        fit = process.truncated(data, start.astype(np.float64), model)
        best = fit.final.reshape(self.sets, -1).argmax(1) + self.restarts * np.arange(self.sets)
        return np.asarray(process.truncated_counts(fit.theta)[best], dtype=np.float64)
