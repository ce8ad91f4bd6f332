"""Optima and iterations of K-means and EM from many starts of several kinds.

PRML 9.1, 9.2.2 and 10.2.4; FCML 6.2.1 and 6.3.5; Ghahramani 3; Notes 3.3.1 and 3.3.2.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.clustering._points import Clusters
from bythebook.models.clustering.cycle_costs import cycle_costs
from bythebook.models.clustering.gaussian_mixture import fit
from bythebook.models.clustering.kmeans import kmeans, random_in_box
from bythebook.models.clustering.starts import CENTRES, MIXTURES, Box, centres, mixtures
from bythebook.models.em import count_optima, smallest_gain
from bythebook.models.types import AnyArray, Floats

STARTS = {"kmeans": CENTRES, "mixture": MIXTURES}
RESOLUTION = 0.1  # log units by which two maxima differ


@dataclass
class Restarts(Clusters, Study):
    """Optima of K-means or of EM for Gaussians, by kind of start and number of clusters."""

    headline = {
        "lowest_distortion": "min(distortion)",
        "largest_log_likelihood": "max(log_likelihood)",
        "mean_iterations": "mean(iterations)",
    }
    quantities = {
        "distortion": quantity(
            "sum of squared distances from the points to their means", "start k restart"
        ),
        "log_likelihood": quantity(
            "log likelihood of the mixture, minus infinity if a component collapsed",
            "start k restart",
            unit="nats",
        ),
        "iterations": quantity("iterations until convergence", "start k restart"),
        "converged": quantity("whether the iterations ended before their limit", "start k restart"),
        "smallest_gain": quantity(
            "smallest fall of the distortion in a half step, relative to the largest", "start k"
        ),
        "optima": quantity("number of different maxima of the log likelihood", "start k"),
        "kmeans_iterations": quantity(
            "iterations of K-means from the same centres", "start k restart"
        ),
        "multiplications": quantity(
            "products, quotients and exponentials of one iteration", "algorithm"
        ),
    }
    axes = {
        "start": axis_of("kind of start"),
        "k": axis_of("number of clusters"),
        "restart": axis_of("start"),
        "algorithm": axis_of("K-means or EM"),
    }

    model: str = knob("kmeans", "what is fitted", choices=tuple(STARTS))
    k: list[int] = knob([2, 3, 4], "numbers of clusters", at_least=1, distinct=True)
    starts: list[str] = knob(
        ["points"], "kinds of start", choices=tuple(CENTRES | MIXTURES), distinct=True
    )
    restarts: int = knob(100, "starts of each kind for each K", at_least=1, at_most=10_000)
    start_box: list[float] = knob(
        [], "ends of a box; those of the data if empty", may_be_empty=True
    )
    redraw_empty: bool = knob(False, "K-means redraws the centre of an empty cluster, in the box")
    tol: float = knob(1e-6, "EM stops when the log likelihood gains no more", above=0)
    iterations: int = knob(1000, "iterations of EM at most", at_least=1, at_most=100_000)
    min_variance: float = knob(1e-3, "EM ends when a variance falls below this", at_least=0)

    def rules(self) -> Iterator[str]:
        if max(self.k) > self.size[0]:
            yield f"study.k={self.k}: there are {self.size[0]} points; allowed: no more clusters"
        if self.start_box and not (
            len(self.start_box) == 2 and self.start_box[0] < self.start_box[1]
        ):
            yield f"study.start_box={self.start_box}; allowed: two numbers, low < high"
        for start in self.starts:
            if start not in STARTS[self.model]:
                allowed = ", ".join(STARTS[self.model])
                yield f"study.starts: {start}; allowed with study.model={self.model}: {allowed}"

    def run(self, rng: Generator) -> Outcome:
        X, ks = self.points(rng), sorted(self.k)
        ends = self.start_box or (X.min(axis=0), X.max(axis=0))
        box = np.broadcast_to(ends[0], X.shape[1]), np.broadcast_to(ends[1], X.shape[1])
        fits = self._kmeans if self.model == "kmeans" else self._mixture
        coords: dict[str, Any] = {"start": self.starts, "k": ks, "restart": self.restarts}
        found: dict[str, Any] = {}
        for name, values in fits(X, box, rng).items():
            if isinstance(values, dict):
                coords["algorithm"] = list(values)
                found[name] = ("algorithm", list(values.values()))
                continue
            cells: AnyArray = np.stack(values)
            axes = "start k restart" if cells.ndim == 2 else "start k"
            found[name] = (axes, cells.reshape(len(self.starts), len(ks), *cells.shape[1:]))
        return outcome(coords, **found)

    def _kmeans(self, X: Floats, box: Box, rng: Generator) -> dict[str, Any]:
        redraw = (lambda n: random_in_box(*box, n, rng, 1)[0]) if self.redraw_empty else None
        fits = [
            kmeans(X, centres(start, X, k, box, rng, self.restarts), redraw=redraw)
            for start, k in self._cells()
        ]
        return {
            "distortion": [found.final for found in fits],
            "smallest_gain": [smallest_gain(-found.distortion) for found in fits],
            "iterations": [found.iterations for found in fits],
            "converged": [found.converged for found in fits],
        }

    def _mixture(self, X: Floats, box: Box, rng: Generator) -> dict[str, Any]:
        begins = [mixtures(start, X, k, box, rng, self.restarts) for start, k in self._cells()]
        limits: dict[str, Any] = {"tol": self.tol, "max_iter": self.iterations}
        fits = [fit(X, theta, min_eigenvalue=self.min_variance, **limits) for theta in begins]
        return {
            "log_likelihood": [np.where(np.isnan(em.final), -np.inf, em.final) for em in fits],
            "iterations": [em.iterations for em in fits],
            "converged": [em.converged for em in fits],
            "optima": [count_optima(em, RESOLUTION) for em in fits],
            "kmeans_iterations": [kmeans(X, theta.mu).iterations for theta in begins],
            "multiplications": cycle_costs(X, begins[0]),
        }

    def _cells(self) -> list[tuple[str, int]]:
        return list(product(self.starts, sorted(self.k)))
