"""EM for Gaussian mixtures from many starts of several kinds: which optimum, after how long.

PRML 9.2.2 and 10.2.4, FCML 6.3.5, Ghahramani 3, Notes 3.3.2.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise, permutations, product
from math import ceil, log
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar, Series
from experiments.contract.study import Study, knob
from experiments.studies.clustering.cluster_data import Clusters
from experiments.studies.clustering.mixture_path import gradient_statements, never_falls
from models.clustering.gaussian_mixture import GaussianMixture, fit, log_density
from models.clustering.gaussian_mixture_starts import (
    start_at,
    start_at_points,
    start_from_labels,
    start_from_random_responsibilities,
    start_identical,
    start_of_gaussians,
)
from models.clustering.kmeans import kmeans, kmeans_plus_plus, random_in_box, random_points
from models.em import EMFit, take
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

STARTS = {
    "points": "random data points, covariance of all",
    "unit_points": "random data points, unit covariance",
    "plus_plus": "K-means++ centres, covariance of all",
    "kmeans": "result of K-means",
    "responsibilities": "random responsibilities",
    "gaussians": "random Gaussians",
    "box": "uniform in the data's box, unit covariance",
    "identical": "all components equal",
}


@dataclass
class MixtureStarts(Clusters, Study):
    """The distribution of EM's final log likelihood over restarts, by K and kind of start."""

    k: list[int] = knob([2, 3, 4], "numbers of components", at_least=1, at_most=20, distinct=True)
    starts: list[str] = knob(
        ["points", "kmeans"], "kinds of start", choices=tuple(STARTS), distinct=True
    )
    restarts: int = knob(100, "starts of each kind for each K", at_least=1, at_most=10_000)
    tol: float = knob(1e-6, "stop when the log likelihood gains no more", above=0)
    iterations: int = knob(1000, "iterations at most", at_least=1, at_most=100_000)
    collapsed_below: float = knob(1e-3, "a start ends when a variance falls below this", at_least=0)
    resolution: float = knob(0.1, "log units by which two optima differ", above=0)

    def rules(self) -> "Iterator[str]":
        if max(self.k) > self.size[0]:
            yield f"study.k={self.k}: there are {self.size[0]} points; allowed: no more components"

    def run(self, rng: Generator) -> Outcome:
        X = self.points(rng)
        ks = sorted(self.k)
        fits: dict[tuple[str, int], EMFit[GaussianMixture]] = {}
        cycles: dict[tuple[str, int], float] = {}
        passing: GaussianMixture | None = None  # a mixture that is no optimum
        for start, k in product(self.starts, ks):
            theta = self._start(X, start, k, rng)
            if passing is None and k > 1:
                passing = take(theta, [0])
            fits[start, k] = self._fit(X, theta)
            cycles[start, k] = float(kmeans(X, theta.mu).iterations.mean())  # from the same centres
        largest = {k: max(_largest(fits[start, k].final) for start in self.starts) for k in ks}
        cells = {
            cell: self._summary(em, largest[cell[1]]) | {"kmeans_cycles": cycles[cell]}
            for cell, em in fits.items()
        }
        metrics: dict[str, Scalar] = {
            "never_falls_from_any_start": all(never_falls(em.objective) for em in fits.values()),
            "several_maxima": any(cell["optima"] > 1 for cell in cells.values()),
            "may_miss_the_largest": any(cell["share_best"] < 1 for cell in cells.values()),
            "largest_rises_with_k": all(largest[a] < largest[b] for a, b in pairwise(ks)),
            "work_per_cycle_against_kmeans": _work_ratio(X.shape[1]),
        }
        for k in ks:
            optima = [cells[start, k]["optima"] for start in self.starts]
            metrics |= {f"largest_k{k}": largest[k], f"several_maxima_k{k}": max(optima) > 1}
        for (start, k), cell in cells.items():
            metrics |= {f"{name}_{start}_k{k}": value for name, value in cell.items()}
            ratio = cell["mean_iterations"] / cell["kmeans_cycles"]
            metrics[f"iterations_per_kmeans_cycle_{start}_k{k}"] = ratio
        for (a, b), k in product(permutations(self.starts, 2), ks):
            one, other = cells[a, k], cells[b, k]
            faster = one["mean_iterations"] < other["mean_iterations"]
            metrics[f"{a}_fewer_iterations_than_{b}_k{k}"] = faster
            surer = one["share_best"] > other["share_best"]
            metrics[f"{a}_finds_best_more_often_than_{b}_k{k}"] = surer
        if passing is not None and np.isfinite(largest[passing.pi.shape[1]]):
            k = passing.pi.shape[1]
            ends = [fits[start, k] for start in self.starts]
            best = max(ends, key=lambda em: _largest(em.final))
            theta = take(best.theta, [int(np.argmax(best.final == _largest(best.final)))])
            change = _permutation_change(X, theta)
            metrics |= {
                "permutation_change": change,
                "permuting_changes_nothing": change < 1e-9 * len(X),
            }
            metrics |= gradient_statements(X, passing, theta)
        where = list(zip(*cells, strict=True))
        rows = {
            name: [cell[name] for cell in cells.values()] for name in cells[self.starts[0], ks[0]]
        }
        return Outcome(
            metrics,
            series={"largest": Series(ks, [largest[k] for k in ks])},
            tables={"starts": {"start": list(where[0]), "k": list(where[1]), **rows}},
            arrays={f"final_{start}_k{k}": em.final for (start, k), em in fits.items()},
        )

    def _fit(self, X: Floats, theta: GaussianMixture) -> EMFit[GaussianMixture]:
        return fit(
            X,
            theta,
            min_eigenvalue=self.collapsed_below,
            tol=self.tol,
            max_iter=self.iterations,
        )

    def _summary(self, em: EMFit[GaussianMixture], largest: float) -> dict[str, float]:
        """One kind of start at one K; starts that collapsed count as such and for nothing else."""
        sound = ~np.isnan(em.final)
        ended, iterations = em.final[sound], em.iterations[sound].astype(float)
        if not sound.any():  # nothing to tell but that
            ended, iterations = np.array([np.nan]), np.array([np.nan])
        share = float(np.mean(ended > largest - self.resolution))
        return {
            "best": float(ended.max()),
            "median": float(np.median(ended)),
            "worst": float(ended.min()),
            "share_best": share,
            "restarts_needed": _restarts_needed(share),
            "optima": _count_optima(em.final[em.converged], self.resolution),
            "collapsed": int((~sound).sum()),
            "unfinished": int((em.iterations == self.iterations).sum()),
            "mean_iterations": float(iterations.mean()),
            "median_iterations": float(np.median(iterations)),
        }

    def _start(self, X: Floats, start: str, k: int, rng: Generator) -> GaussianMixture:
        R, D = self.restarts, X.shape[1]
        match start:
            case "points":
                return start_at_points(X, k, rng, R)
            case "unit_points":
                return start_at(random_points(X, k, rng, R), np.eye(D))
            case "plus_plus":
                centres = kmeans_plus_plus(X, k, rng, R)
                return start_at_points(X, k, rng, R)._replace(mu=centres)
            case "kmeans":
                return start_from_labels(X, kmeans(X, random_points(X, k, rng, R)).labels, k)
            case "responsibilities":
                return start_from_random_responsibilities(X, k, rng, R)
            case "gaussians":
                return start_of_gaussians(k, D, rng, R)
            case "box":
                return start_at(random_in_box(X.min(0), X.max(0), k, rng, R), np.eye(D))
            case _:
                return take(start_identical(X, k), np.zeros(R, dtype=np.int64))

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.clusters import grid

        ks = sorted(self.k)
        if len(ks) == 1:
            return {"optima": self._draw_one_k(outcome)}
        figure, axes = grid(1, len(self.starts), 0.8, sharey=True)
        for ax, start in zip(axes[0], self.starts, strict=True):
            for i, k in enumerate(ks):
                values = _ended(outcome.arrays[f"final_{start}_k{k}"])
                ax.plot(i + _offsets(values), values, "o", markersize=2.5, alpha=0.6, color="C0")
            ax.plot(range(len(ks)), outcome.series["largest"].values, color="C1", label="largest")
            ax.set_xticks(range(len(ks)), [str(k) for k in ks])
            title = STARTS[start].replace(", ", ",\n") if len(self.starts) > 1 else STARTS[start]
            ax.set(xlabel="Number of components K", title=f"Start: {title}")
            ax.legend(loc="lower right")
        axes[0, 0].set_ylabel("Final log likelihood")
        return {"optima": figure, "iterations": self._draw_by_k(outcome)}

    def _draw_by_k(self, outcome: Outcome) -> "Figure":
        from experiments.drawing.canvas import panels
        from experiments.drawing.clusters import SYMBOLS, legend_below

        table, ks = outcome.tables["starts"], sorted(self.k)
        figure, axes = panels(1, 2)
        for ax, name in zip(axes, ("mean_iterations", "share_best"), strict=True):
            for i, start in enumerate(self.starts):
                mark = {"marker": SYMBOLS[i], "color": f"C{i}", "label": STARTS[start]}
                ax.plot(ks, _column(table, name, start), **mark)
            ax.set(xlabel="Number of components K", xticks=ks)
        axes[0].set(ylabel="Mean iterations of EM", ylim=(0, None))
        axes[1].set(ylabel="Share that finds the largest", ylim=(0, 1.05))
        legend_below(axes[0], 1)
        return figure

    def _draw_one_k(self, outcome: Outcome) -> "Figure":
        """The kinds of start one below the other, with all their numbers."""
        from experiments.drawing.clusters import grid

        table, k = outcome.tables["starts"], self.k[0]
        figure, axes = grid(1, 3, 1.0, sharey=True, width_ratios=[2, 1, 1])
        rows = range(len(self.starts))
        for i, start in enumerate(self.starts):
            values = _ended(outcome.arrays[f"final_{start}_k{k}"])
            axes[0, 0].plot(values, i + _offsets(values), "o", markersize=3, alpha=0.6, color="C0")
        axes[0, 1].barh(rows, table["mean_iterations"], color="C0", height=0.6)
        axes[0, 2].barh(rows, table["share_best"], color="C0", height=0.6)
        names = [STARTS[start].replace(", ", ",\n") for start in self.starts]
        axes[0, 0].set_yticks(rows, names)
        axes[0, 0].invert_yaxis()
        axes[0, 0].set_xlabel("Final log likelihood")
        axes[0, 1].set_xlabel("Mean iterations")
        axes[0, 2].set(xlabel="Share that finds\nthe largest", xlim=(0, 1))
        return figure


def _column(table: Mapping[str, list[Any]], name: str, start: str) -> list[float]:
    """One quantity over K for one kind of start."""
    return [v for v, kind in zip(table[name], table["start"], strict=True) if kind == start]


def _count_optima(values: Floats, resolution: float) -> int:
    """Groups of converged values that lie more than `resolution` apart."""
    return int(values.size > 0) + int((np.diff(np.sort(values)) > resolution).sum())


def _restarts_needed(share: float) -> int:
    """Restarts that find the best optimum with probability 0.95, if each does so with `share`."""
    if share in (0.0, 1.0):
        return int(share)
    return ceil(log(0.05) / log(1 - share))


def _work_ratio(D: int) -> float:
    """Multiplications of EM in one cycle for each of K-means, per point and component.

    K-means squares D differences. EM whitens and squares them, scales, takes an exponential,
    normalises (three), and sums weighted differences and their products.
    """
    triangle = D * (D + 1) // 2
    return (triangle + D + 3 + D + triangle) / D


def _permutation_change(X: Floats, theta: GaussianMixture) -> float:
    """How much the log likelihood changes at most when the components are renamed."""
    orders = np.array(list(permutations(range(min(theta.pi.shape[1], 6)))))
    orders = np.hstack([orders, np.tile(np.arange(6, theta.pi.shape[1]), (len(orders), 1))])
    renamed = GaussianMixture(*(field[0][orders] for field in theta))
    return float(np.ptp(log_density(X, renamed).sum(axis=1)))


def _largest(values: Floats) -> float:
    """The largest final value, minus infinity if all collapsed."""
    return float(np.max(_ended(values), initial=-np.inf))


def _ended(values: Floats) -> Floats:
    """Without the starts that collapsed."""
    return np.asarray(values[~np.isnan(values)])


def _offsets(values: Floats) -> Floats:
    from experiments.drawing.clusters import sides

    return sides(values)
