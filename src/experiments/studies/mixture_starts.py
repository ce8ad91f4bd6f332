"""EM for Gaussian mixtures from many starts of several kinds: which optimum, after how long.

PRML 9.2.2 and 10.2.4, FCML 6.3.5, Ghahramani 3, Notes 3.3.2.
"""

from dataclasses import dataclass
from itertools import permutations
from math import ceil, log
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.outcome import Scalar, Table
from experiments.studies.cluster_data import Clusters
from experiments.studies.mixture_path import gradient_statements, never_falls
from experiments.study import Outcome, Series, Study, knob
from models.em import EMFit, take
from models.gaussian_mixture import GaussianMixture, fit, log_density
from models.gaussian_mixture_starts import (
    start_at,
    start_at_points,
    start_from_labels,
    start_from_random_responsibilities,
    start_identical,
    start_of_gaussians,
)
from models.kmeans import kmeans, kmeans_plus_plus, random_in_box, random_points
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
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
CELL = (  # what is recorded for each kind of start and each K
    "best",
    "median",
    "worst",
    "share_best",
    "optima",
    "collapsed",
    "unfinished",
    "mean_iterations",
    "median_iterations",
    "kmeans_cycles",
    "restarts_needed",
)


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

    def problems(self) -> "Iterator[str]":
        yield from super().problems()
        if max(self.k) > self.size[0]:
            yield f"study.k={self.k}: there are {self.size[0]} points; allowed: no more components"

    def run(self, rng: Generator) -> Outcome:
        X = self.points(rng)
        ks = sorted(self.k)
        finals, table = {}, _empty()
        rising, best_fit, passing = True, {}, None
        for start in self.starts:
            for k in ks:
                theta = self._start(X, start, k, rng)
                em = fit(
                    X,
                    theta,
                    min_eigenvalue=self.collapsed_below,
                    tol=self.tol,
                    max_iter=self.iterations,
                )
                rising &= never_falls(em.objective)
                finals[start, k] = em.final
                passing = take(theta, [0]) if passing is None and k > 1 else passing
                if k not in best_fit or em.final[em.best] > best_fit[k][0]:
                    best_fit[k] = em.final[em.best], take(em.theta, [em.best])
                self._record(table, start, k, em, kmeans(X, theta.mu).iterations)
        best = {k: float(value) for k, (value, _) in best_fit.items()}
        for start, k in finals:
            ended = finals[start, k][~np.isnan(finals[start, k])]
            share = float(np.mean(ended > best[k] - self.resolution))
            table["share_best"].append(share)
            table["restarts_needed"].append(_restarts_needed(share))

        largest = [best[k] for k in ks]
        metrics: dict[str, Scalar] = {
            "never_falls_from_any_start": rising,
            "several_maxima": any(n > 1 for n, k in _of(table, "optima") if k > 1),
            "may_miss_the_largest": any(s < 1 for s, _ in _of(table, "share_best")),
            "largest_rises_with_k": bool((np.diff(largest) > 0).all()),
            "work_per_cycle_against_kmeans": _work_ratio(X.shape[1]),
            **{f"largest_k{k}": value for k, value in best.items()},
            **{f"several_maxima_k{k}": max(n for n, j in _of(table, "optima") if j == k) > 1 for k in ks},
        }
        for name in CELL:
            where = zip(table["start"], table["k"], table[name], strict=True)
            metrics |= {f"{name}_{start}_k{k}": value for start, k, value in where}
        for start, k, cycles in zip(table["start"], table["k"], table["kmeans_cycles"], strict=True):
            ratio = metrics[f"mean_iterations_{start}_k{k}"] / cycles  # type: ignore[operator]
            metrics[f"iterations_per_kmeans_cycle_{start}_k{k}"] = ratio
        for a, b in permutations(self.starts, 2):
            for i, k in enumerate(ks):
                took = [_column(table, "mean_iterations", kind)[i] for kind in (a, b)]
                metrics[f"{a}_fewer_iterations_than_{b}_k{k}"] = took[0] < took[1]
                share = [_column(table, "share_best", kind)[i] for kind in (a, b)]
                metrics[f"{a}_finds_best_more_often_than_{b}_k{k}"] = share[0] > share[1]
        more = [k for k in ks if k > 1]
        if more:
            metrics["permutation_change"] = _permutation_change(X, best_fit[more[0]][1])
            metrics["permuting_changes_nothing"] = metrics["permutation_change"] < 1e-9 * len(X)
        if passing is not None:
            metrics |= gradient_statements(X, passing, best_fit[more[0]][1])
        return Outcome(
            metrics,
            series={"largest": Series(ks, largest)},
            tables={"starts": table},
            arrays={f"final_{start}_k{k}": values for (start, k), values in finals.items()},
        )

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

    def _record(
        self, table: Table, start: str, k: int, em: EMFit[GaussianMixture], cycles: Floats
    ) -> None:
        ended = em.final[~np.isnan(em.final)]
        table["start"].append(start)
        table["k"].append(k)
        table["best"].append(float(ended.max()))
        table["median"].append(float(np.median(ended)))
        table["worst"].append(float(ended.min()))
        table["collapsed"].append(int(np.isnan(em.final).sum()))
        table["unfinished"].append(int((em.iterations == self.iterations).sum()))
        table["mean_iterations"].append(float(em.iterations[~np.isnan(em.final)].mean()))
        table["median_iterations"].append(float(np.median(em.iterations[~np.isnan(em.final)])))
        table["kmeans_cycles"].append(float(cycles.mean()))
        table["optima"].append(_count_optima(em.final[em.converged], self.resolution))

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.plotting import panels

        ks = sorted(self.k)
        if len(ks) == 1:  # the kinds of start side by side
            figure, ax = panels()
            columns = [outcome.arrays[f"final_{start}_k{ks[0]}"] for start in self.starts]
            _strips(ax, columns, [STARTS[start].replace(", ", ",\n") for start in self.starts])
            ax.tick_params(axis="x", labelrotation=30 if len(self.starts) > 3 else 0)
            ax.set_ylabel("Final log likelihood")
            return {"optima": figure, "iterations": self._draw_iterations(outcome)}
        figure, axes = panels(1, len(self.starts), squeeze=False, sharey=True)
        for ax, start in zip(axes[0], self.starts, strict=True):
            _strips(ax, [outcome.arrays[f"final_{start}_k{k}"] for k in ks], [str(k) for k in ks])
            ax.set(xlabel="Number of components K", title=f"Start: {STARTS[start]}")
        axes[0, 0].set_ylabel("Final log likelihood")
        return {"optima": figure, "iterations": self._draw_iterations(outcome)}

    def _draw_iterations(self, outcome: Outcome) -> "Figure":
        from experiments.plotting import panels
        from experiments.studies._drawing import SYMBOLS, legend_below

        table, ks = outcome.tables["starts"], sorted(self.k)
        figure, axes = panels(1, 2)
        for ax, name in zip(axes, ("mean_iterations", "share_best"), strict=True):
            for i, start in enumerate(self.starts):
                values = _column(table, name, start)
                ax.plot(ks, values, marker=SYMBOLS[i], color=f"C{i}", label=STARTS[start])
            ax.set(xlabel="Number of components K", xticks=ks)
        axes[0].set(ylabel="Mean iterations of EM", ylim=(0, None))
        axes[1].set(ylabel="Share that finds the best optimum", ylim=(0, 1.05))
        legend_below(axes[0], 1)
        return figure


def _empty() -> Table:
    return {name: [] for name in ("start", "k", *CELL)}


def _of(table: Table, name: str) -> list[tuple[float, int]]:
    return list(zip(table[name], table["k"], strict=True))


def _column(table: Table, name: str, start: str) -> list[float]:
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


def _strips(ax: "Axes", columns: list[Floats], names: list[str]) -> None:
    """Every final value as a dot, equal ones side by side."""
    from experiments.studies._drawing import sides

    for i, values in enumerate(columns):
        ended = values[~np.isnan(values)]
        ax.plot(i + sides(ended), ended, "o", markersize=2.5, alpha=0.6, color="C0")
        ax.plot([i - 0.35, i + 0.35], [ended.max()] * 2, color="C1", linewidth=1.4)
    ax.plot([], [], color="C1", label="best")
    ax.set_xticks(range(len(names)), names)
    ax.legend(loc="lower right")
