"""Optima and iterations of K-means and EM from many starts of several kinds.

PRML 9.1, 9.2.2 and 10.2.4; FCML 6.2.1 and 6.3.5; Ghahramani 3; Notes 3.3.1 and 3.3.2.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.clustering._points import (
    Clusters,
    all_derivatives,
    mean_derivative,
    numbered,
)
from bythebook.models.clustering.agreement import renamings
from bythebook.models.clustering.cycle_costs import cycle_costs, cycle_gaps
from bythebook.models.clustering.gaussian_mixture import (
    GaussianMixture,
    e_step,
    fit,
    log_density,
    m_step,
)
from bythebook.models.clustering.kmeans import (
    kmeans,
    one_pass,
    one_pass_compiled,
    random_in_box,
    step_gains,
)
from bythebook.models.clustering.starts import CENTRES, MIXTURES, Box, centres, mixtures
from bythebook.models.em import EMFit, count_optima, smallest_gain, take
from bythebook.models.types import Floats

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
    more_quantities = True
    quantities = {
        "distortion": quantity(
            "sum of squared distances from the points to their means", "start k restart"
        ),
        "iterations": quantity("iterations until convergence", "start k restart"),
        "log_likelihood": quantity("log likelihood of the mixture", "start k restart", unit="nats"),
    }

    model: str = knob("kmeans", "what is fitted", choices=tuple(STARTS))
    k: list[int] = knob([2, 3, 4], "numbers of clusters", at_least=1, distinct=True)
    starts: list[str] = knob(
        ["points"], "kinds of start", choices=tuple(CENTRES | MIXTURES), distinct=True
    )
    restarts: int = knob(100, "starts of each kind for each K", at_least=1, at_most=10_000)
    box: list[float] = knob([], "ends of a box; those of the data if empty", may_be_empty=True)
    redraw: bool = knob(False, "K-means redraws the centre of an empty cluster, in the box")
    tol: float = knob(1e-6, "EM stops when the log likelihood gains no more", above=0)
    iterations: int = knob(1000, "iterations of EM at most", at_least=1, at_most=100_000)
    collapsed_below: float = knob(1e-3, "EM ends when a variance falls below this", at_least=0)

    def rules(self) -> Iterator[str]:
        if max(self.k) > self.size[0]:
            yield f"study.k={self.k}: there are {self.size[0]} points; allowed: no more clusters"
        if self.box and not (len(self.box) == 2 and self.box[0] < self.box[1]):
            yield f"study.box={self.box}; allowed: two numbers, low < high"
        for start in self.starts:
            if start not in STARTS[self.model]:
                allowed = ", ".join(STARTS[self.model])
                yield f"study.starts: {start}; allowed with study.model={self.model}: {allowed}"

    def run(self, rng: Generator) -> Outcome:
        X = self.points(rng)
        ends = self.box or (X.min(axis=0), X.max(axis=0))
        box = np.broadcast_to(ends[0], X.shape[1]), np.broadcast_to(ends[1], X.shape[1])
        return (self._kmeans if self.model == "kmeans" else self._mixture)(X, box, rng)

    def _kmeans(self, X: Floats, box: Box, rng: Generator) -> Outcome:
        redraw = (lambda n: random_in_box(*box, n, rng, 1)[0]) if self.redraw else None
        begins, fits = [], []
        for start, k in self._cells():
            begins.append(centres(start, X, k, box, rng, self.restarts))
            fits.append(kmeans(X, begins[-1], redraw=redraw))
        near = rng.spawn(1)[0]
        gains = np.array([step_gains(X, begin[0], near) for begin in begins])
        return Outcome(
            distortion=self._table(found.final for found in fits),
            smallest_gain=self._table(smallest_gain(-found.distortion) for found in fits),
            iterations=self._table(found.iterations for found in fits),
            converged=self._table(found.converged for found in fits),
            gain_of_labels=self._table(gains[:, 0]),  # by others than those of the first E step
            gain_of_centres=self._table(gains[:, 1]),
            distortion_at_k_n=kmeans(X, X[None]).final[0],  # a cluster for each point
            start_distance=self._table(_apart(begin) for begin in begins),
            **_passes(rng.spawn(1)[0]),
        )

    def _mixture(self, X: Floats, box: Box, rng: Generator) -> Outcome:
        R, floor = self.restarts, self.collapsed_below
        begins = {(start, k): mixtures(start, X, k, box, rng, R) for start, k in self._cells()}
        run_em = partial(fit, X, min_eigenvalue=floor, tol=self.tol, max_iter=self.iterations)
        fits = {cell: run_em(theta) for cell, theta in begins.items()}
        by_kmeans = [kmeans(X, theta.mu).iterations for theta in begins.values()]
        first = next(iter(begins.values()))
        once = m_step(first, e_step(X, first)[0])  # its covariances differ
        costs, gaps = cycle_costs(X, first), np.concatenate(cycle_gaps(X, once))
        finals = [np.where(np.isnan(em.final), -np.inf, em.final) for em in fits.values()]
        return Outcome(
            log_likelihood=self._table(finals),  # minus infinity if a component collapsed
            smallest_gain=self._table(smallest_gain(em.objective) for em in fits.values()),
            iterations=self._table(em.iterations for em in fits.values()),
            converged=self._table(em.converged for em in fits.values()),
            optima=self._table(count_optima(em, RESOLUTION) for em in fits.values()),
            kmeans_iterations=self._table(by_kmeans),  # from the same centres
            multiplications=axis("algorithm", list(costs)).of(list(costs.values())),  # of a cycle
            cycle_gap=axis("parameter", len(gaps)).of(gaps),  # of K-means, then EM
            start_distance=self._table(_apart(theta.mu) for theta in begins.values()),
            start_volume=self._table(np.linalg.det(theta.Sigma[:, 0]) for theta in begins.values()),
            start_weight=self._table(theta.pi[:, 0] for theta in begins.values()),
            **self._at_the_best(X, begins, fits),
        )

    def _at_the_best(
        self,
        X: Floats,
        begins: dict[tuple[str, int], GaussianMixture],
        fits: dict[tuple[str, int], EMFit[GaussianMixture]],
    ) -> dict[str, Quantity]:
        """Derivatives at a start, and the best maximum, with the fewest components above one."""
        k = min((k for k in self.k if k > 1), default=0)
        sound = [em for (_, K), em in fits.items() if k == K and not np.isnan(em.final).all()]
        if not sound:
            return {}
        em = max(sound, key=lambda em: em.final[em.best])
        best = take(em.theta, [em.best])
        renamed = GaussianMixture(*(part[0][renamings(k)] for part in best))
        L, first = log_density(X, renamed).sum(axis=1), take(begins[self.starts[0], k], [0])
        return {
            "renamed_log_likelihood": axis("renaming", len(L)).of(L),
            "derivatives_at_best": all_derivatives(X, best),
            "mean_derivative": mean_derivative(X, first, numbered("component", k)),
            "mean_derivative_at_best": mean_derivative(X, best, numbered("component", k)),
        }

    def _cells(self) -> list[tuple[str, int]]:
        return list(product(self.starts, sorted(self.k)))

    def _table(self, values: Iterable[Any]) -> Quantity:
        """An entry for each kind of start and K, or one for each restart there."""
        cells = np.stack(list(values))
        sides = {"start": self.starts, "k": sorted(self.k), "restart": self.restarts}
        axes = [axis(name, values) for name, values in sides.items()][: cells.ndim + 1]
        return over(cells.reshape([len(side) for side in axes]), *axes)


def _passes(
    rng: Generator, N: int = 300, D: int = 5, K: int = 3, R: int = 2
) -> dict[str, Quantity]:
    """A pass over drawn points by either program; neither tiles nor pairs divide these sizes."""
    X, mu = rng.standard_normal((N, D)), rng.standard_normal((R, K, D))
    before = rng.integers(K, size=(R, N))
    programs = {"plain": one_pass, "compiled": one_pass_compiled}
    labels = [before.copy() for _ in programs]
    found = [
        work(X, mu, own, np.arange(R)) for work, own in zip(programs.values(), labels, strict=True)
    ]
    program, draw, point = axis("program", list(programs)), axis("draw", R), axis("point", N)
    cluster, variable = numbered("cluster", K), numbered("variable", D)
    phase = axis("phase", ["before", "after"])
    return {
        "pass_points": over(X, point, variable),
        "pass_centres": over(mu, draw, cluster, variable),
        "pass_labels": over(np.array([[before] * 2, labels]) + 1, phase, program, draw, point),
        "pass_distortion": over(
            [[done.J + done.gain for done in found], [done.J for done in found]],
            phase,
            program,
            draw,
        ),
        "pass_means": over(
            [done.sums / done.counts[..., None] for done in found],
            program,
            draw,
            cluster,
            variable,
        ),
        "pass_moved": over([done.moved for done in found], program, draw),
    }


def _apart(mu: Floats) -> Floats:
    """The squared distance of the first and the last of K centres (R, K, D), shape (R,)."""
    return np.asarray(np.square(mu[:, 0] - mu[:, -1]).sum(axis=-1))
