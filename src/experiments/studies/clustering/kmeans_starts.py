"""K-means from hundreds of starts of several kinds (PRML 9.1, FCML 6.2, Notes 3.3.1)."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar, Series, Table
from experiments.contract.study import Study, knob
from experiments.studies.clustering.cluster_data import Clusters
from experiments.studies.clustering.kmeans_path import never_rises
from models.clustering.kmeans import (
    KMeansFit,
    kmeans,
    kmeans_plus_plus,
    random_in_box,
    random_points,
)
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

STARTS = {
    "points": "random data points",
    "plus_plus": "K-means++",
    "box": "uniform in a box",
    "corner": "all in one corner",
}


@dataclass
class KmeansStarts(Clusters, Study):
    """The distortion J and the cycles of K-means over restarts, for each K and kind of start."""

    k: list[int] = knob([2, 3, 4, 5, 6], "numbers of clusters", at_least=1, distinct=True)
    starts: list[str] = knob(
        ["points", "plus_plus", "corner"], "kinds of start", choices=tuple(STARTS), distinct=True
    )
    restarts: int = knob(500, "starts of each kind for each K", at_least=1, at_most=100_000)
    box: list[float] = knob(
        [], "ends of the box in every variable; those of the data if empty", may_be_empty=True
    )
    redraw: bool = knob(False, "draw the centre of an empty cluster anew, uniform in the box")

    def rules(self) -> "Iterator[str]":
        if max(self.k) > self.size[0]:
            yield f"study.k={self.k}: there are {self.size[0]} points; allowed: no more clusters"
        if self.box and not (len(self.box) == 2 and self.box[0] < self.box[1]):
            yield f"study.box={self.box}; allowed: two numbers, low < high"

    def run(self, rng: Generator) -> Outcome:
        X = self.points(rng)
        ks = sorted(self.k)
        cells: Table = {name: [] for name in (*CELL, "start", "k")}
        finals, falling, converged = {}, True, True
        for start in self.starts:
            fits = [self._fit(X, start, k, rng) for k in ks]
            finals[start] = np.stack([fit.final for fit in fits])  # (K, R)
            falling &= all(never_rises(fit.distortion) for fit in fits)
            converged &= all(bool(fit.converged.all()) for fit in fits)
            cells["start"] += [start] * len(ks)
            cells["k"] += ks
            cells["mean_cycles"] += [float(fit.iterations.mean()) for fit in fits]
            cells["most_cycles"] += [int(fit.iterations.max()) for fit in fits]
        best = np.min(list(finals.values()), axis=(0, 2))
        for J in finals.values():
            cells["median_distortion"] += np.median(J, axis=1).tolist()
            cells["mean_distortion"] += J.mean(axis=1).tolist()
            cells["share_best"] += np.mean(J / best[:, None] <= 1.001, axis=1).tolist()
            cells["minima"] += [len(np.unique(np.round(row / row.min(), 6))) for row in J]

        medians = np.array(cells["median_distortion"]).reshape(len(self.starts), -1)
        spread = [
            k for k, J in zip(ks, zip(*finals.values(), strict=True), strict=True) if _varies(J)
        ]
        metrics: dict[str, Scalar] = {
            "always_converges": converged,
            "distortion_never_rises": falling,
            "several_minima": max(cells["minima"]) > 1,
            "median_falls_with_k": bool((np.diff(medians, axis=1) < 0).all()),
            "best_falls_with_k": bool((np.diff(best) < 0).all()),
            "distortion_zero_at_k_n": bool(kmeans(X, X[None]).final[0] == 0),
            "smallest_k_with_spread": spread[0] if spread else 0,
        }
        metrics |= {f"best_distortion_k{k}": float(J) for k, J in zip(ks, best, strict=True)}
        for name in CELL:
            where = zip(cells["start"], cells["k"], cells[name], strict=True)
            metrics |= {f"{name}_{start}_k{k}": value for start, k, value in where}
        # One kind of start against another: averages over all K, so that each K counts the same.
        for a, b in permutations(self.starts, 2):
            cycles = np.mean(_by_start(cells, "mean_cycles", a, b), axis=1)
            ends = np.mean(_by_start(cells, "mean_distortion", a, b), axis=1)
            metrics[f"{a}_fewer_cycles_than_{b}"] = bool(cycles[0] < cycles[1])
            metrics[f"{a}_lower_than_{b}"] = bool(ends[0] < ends[1])
        return Outcome(
            metrics,
            series={"best_distortion": Series(ks, best.tolist())},
            tables={"starts": cells},
            arrays={"X": X} | {f"log_distortion_{name}": np.log(J) for name, J in finals.items()},
        )

    def _fit(self, X: Floats, start: str, k: int, rng: Generator) -> KMeansFit:
        low, high = X.min(axis=0), X.max(axis=0)
        if self.box:
            low, high = np.full_like(low, self.box[0]), np.full_like(high, self.box[1])
        if start == "points":
            centres = random_points(X, k, rng, self.restarts)
        elif start == "plus_plus":
            centres = kmeans_plus_plus(X, k, rng, self.restarts)
        else:
            centres = random_in_box(low, high, k, rng, self.restarts)
        if start == "corner":  # the box shrunk to a tenth of its sides, in one of its corners
            corner = np.where(rng.random((self.restarts, 1, len(low))) < 0.5, low, high)
            centres = corner + (centres - corner) / 10
        redraw = (lambda n: random_in_box(low, high, n, rng)[0]) if self.redraw else None
        return kmeans(X, centres, redraw=redraw)

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.clusters import grid

        ks = sorted(self.k)
        figure, axes = grid(1, len(self.starts), 0.9, sharey=True)
        for ax, start in zip(axes[0], self.starts, strict=True):
            boxes = ax.boxplot(
                outcome.arrays[f"log_distortion_{start}"].T, tick_labels=ks, widths=0.6
            )
            for line in boxes["medians"]:
                line.set(color="C1", linewidth=2.2)
            ax.set(xlabel="Number of clusters K", title=f"Start: {STARTS[start]}")
        axes[0, 0].set_ylabel("Natural log of the distortion")
        figures = {"distortion": figure}
        if len(self.starts) > 1:
            figures["cycles"] = self._draw_cycles(outcome)
        return figures

    def _draw_cycles(self, outcome: Outcome) -> "Figure":
        from experiments.drawing.canvas import panels
        from experiments.drawing.clusters import SYMBOLS, legend_below

        figure, axes = panels(1, 2)
        table, ks = outcome.tables["starts"], sorted(self.k)
        for ax, name in zip(axes, ("mean_cycles", "share_best"), strict=True):
            for i, (start, values) in enumerate(
                zip(self.starts, _by_start(table, name, *self.starts), strict=True)
            ):
                ax.plot(ks, values, marker=SYMBOLS[i], color=f"C{i}", label=STARTS[start])
            ax.set(xlabel="Number of clusters K", xticks=ks)
        axes[0].set(ylabel="Mean cycles to converge", ylim=(0, None))
        axes[1].set(ylabel="Share within 0.1 % of the lowest J", ylim=(0, 1.05))
        legend_below(axes[0], 1)
        return figure


CELL = (  # what is recorded for each kind of start and each K
    "mean_cycles",
    "most_cycles",
    "median_distortion",
    "mean_distortion",
    "share_best",
    "minima",
)


def _varies(J: tuple[Floats, ...]) -> bool:
    return any(bool(np.ptp(row) > 1e-9 * row.min()) for row in J)


def _by_start(cells: Mapping[str, list[Any]], name: str, *starts: str) -> list[list[float]]:
    """A column of the table, cut into one list over K for each kind of start asked for."""
    return [
        [value for value, kind in zip(cells[name], cells["start"], strict=True) if kind == start]
        for start in starts
    ]
