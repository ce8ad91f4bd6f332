"""How sure polynomials of several orders are of what they predict (FCML 2.9.3 and 2.10.1)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar
from experiments.contract.study import Study, knob
from experiments.drawing.labels import axis_names
from experiments.studies.regression.curve_data import CURVES, CurveOrData, tiles
from models.regression import curves
from models.regression.predictive_variance import Predictions, predict, sample_functions
from models.types import Bools, Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

_GROUPS = 200  # sets of functions over which ranges are averaged


@dataclass
class PredictiveVariance(CurveOrData, Study):
    """Error bars of predictions, and functions drawn from the fit (FCML 2.9.3, 2.10.1)."""

    curve: str = knob(
        "polynomial", "the true curve; unknown only with data", choices=(*CURVES, "unknown")
    )
    weights: list[float] = knob(
        [0.0, 1.0, -1.0, 5.0], "w0, w1, ... of the true curve if a polynomial"
    )
    n: int = knob(100, "points in a data set, those in the gap included", at_least=10)
    noise: float = knob(31.6227766, "standard deviation of the noise", above=0)
    design: str = knob(
        "uniform", "inputs equally spaced or drawn uniformly", choices=curves.DESIGNS
    )
    low: float = knob(-5.0, "the smallest input")
    high: float = knob(5.0, "the largest input")
    orders: list[int] = knob([1, 3, 6], "polynomial orders", at_least=0, at_most=12, distinct=True)
    gap: list[float] = knob([], "points between these inputs are removed", may_be_empty=True)
    repetitions: int = knob(300, "data sets to draw", at_least=1, at_most=10_000)
    functions: int = knob(20, "functions to draw from a fit", at_least=2, at_most=100)
    bars: str = knob("variance", "half the length of a bar", choices=("variance", "deviation"))
    show: str = knob("bars", "what to draw", choices=("bars", "functions"))
    zoom: list[float] = knob([], "functions are shown between these inputs", may_be_empty=True)

    def problems(self) -> "Iterator[str]":
        yield from super().problems()
        for name, pair in (("gap", self.gap), ("zoom", self.zoom)):
            if len(pair) not in (0, 2) or (pair and pair[0] >= pair[1]):
                yield f"study.{name}={pair}; allowed: none, or two numbers, low < high"
        if self.size <= 2 * max(self.orders):
            yield f"study.orders={self.orders}; allowed: < {self.size / 2:g}, half the points"

    def run(self, rng: Generator) -> Outcome:
        x, t = self.sets(rng, self.repetitions)
        keep = np.ones(x.shape, dtype=bool)
        if self.gap:
            keep = (x < self.gap[0]) | (x > self.gap[1])
        grid = np.linspace(x.min(), x.max(), 101) if self.data is not None else self.grid(101)
        found = predict(x, t, keep, max(self.orders), np.append(grid, 0.0))
        variance = found.variance[:, self.orders, :-1]  # (S, orders, G), the origin left out
        metrics: dict[str, Scalar] = {}
        metrics |= self._variance_metrics(grid, variance)
        if self.gap:
            metrics |= self._gap_metrics(x, t, grid, variance)
        scaled = predict(x[:1], 10 * t[:1], keep[:1], max(self.orders), grid)
        lengths = [self._bar(v) for v in (variance[0], scaled.variance[0][self.orders])]
        metrics["bars_independent_of_unit"] = bool(np.allclose(10 * lengths[0], lengths[1]))
        arrays = {"x": x[0][keep[0]], "t": t[0][keep[0]], "grid": grid}
        arrays |= {"mean": found.mean[0][self.orders, :-1], "bar": lengths[0]}
        arrays["mean_variance"] = variance.mean(0)
        if self.curve != "unknown":
            arrays["truth"] = self.truth(grid)
        first = Predictions(*(part[0] for part in found))
        for order in self.orders:
            drawn = sample_functions(first, order, self.functions * _GROUPS, rng)
            metrics |= self._function_metrics(grid, drawn, order)
            arrays[f"functions_order_{order}"] = drawn[: self.functions, :-1]
        ranges = [metrics[f"function_range_order_{order}"] for order in self.orders]
        metrics["widest_functions_order"] = self.orders[int(np.argmax(ranges))]
        return Outcome(metrics, arrays=arrays)

    def _bar(self, variance: Floats) -> Floats:
        return variance if self.bars == "variance" else np.sqrt(variance)

    def _variance_metrics(self, grid: Floats, variance: Floats) -> dict[str, Scalar]:
        """Which order is sure of its predictions, and where."""
        level, curve = variance.mean(-1), variance.mean(0)  # (S, orders), (orders, G)
        overall = level.mean(0)
        ranking = np.argsort(overall)
        tenth = max(2, len(grid) // 10)
        left, right = np.diff(curve[:, :tenth]), np.diff(curve[:, -tenth:])
        metrics: dict[str, Scalar] = {
            "order_of_largest_variance": self.orders[int(np.argmax(overall))],
            "order_of_smallest_variance": self.orders[int(np.argmin(overall))],
            "share_with_this_ranking": float(
                (np.argsort(level, axis=-1) == ranking).all(-1).mean()
            ),
            "variance_never_falls_near_edges": bool(np.all(left < 0) and np.all(right > 0)),
            "edges_above_average": bool(np.all(curve[:, [0, -1]].min(-1) > curve.mean(-1))),
            "share_with_edges_above_average": float(
                (variance[..., [0, -1]].min(-1) > level).all(-1).mean()
            ),
        }
        for k, order in enumerate(self.orders):
            metrics[f"mean_variance_order_{order}"] = float(overall[k])
            metrics[f"median_variance_order_{order}"] = float(np.median(level[:, k]))
        return metrics

    def _gap_metrics(
        self, x: Floats, t: Floats, grid: Floats, variance: Floats
    ) -> dict[str, Scalar]:
        """The variance in the gap: against its edges, and against the data without a gap."""
        low, high = self.gap
        inside = (grid >= low) & (grid <= high)
        everything: Bools = np.ones(x.shape, dtype=bool)
        whole = predict(x, t, everything, max(self.orders), grid[inside])
        ratios = variance[..., inside].mean(-1) / whole.variance[:, self.orders].mean(-1)
        curve, middle = variance.mean(0), int(np.argmin(np.abs(grid - (low + high) / 2)))
        edges = [int(np.argmin(np.abs(grid - edge))) for edge in (low, high)]
        peaks = curve[:, middle] > curve[:, edges].max(-1)
        medians = np.median(ratios, axis=0)
        metrics: dict[str, Scalar] = {
            "gap_matters_most_for_order": self.orders[int(np.argmax(medians))],
            "gap_always_raises_variance": bool(np.all(ratios > 1)),
            "share_raised_by_gap": float((ratios > 1).mean()),
        }
        for k, order in enumerate(self.orders):
            metrics[f"gap_ratio_order_{order}"] = float(medians[k])
            metrics[f"peak_in_gap_order_{order}"] = bool(peaks[k])
        return metrics

    def _function_metrics(self, grid: Floats, drawn: Floats, order: int) -> dict[str, Scalar]:
        """The range of several functions drawn together, averaged over many such sets."""
        sets = drawn.reshape(_GROUPS, self.functions, -1)
        ranges = np.ptp(sets, axis=1).mean(0)
        seen = self._seen(grid)
        metrics: dict[str, Scalar] = {
            f"function_range_order_{order}": float(ranges[:-1][seen].mean())
        }
        if order == 1:
            slopes = (sets[..., -2] - sets[..., 0]) / (grid[-1] - grid[0])
            metrics["gradient_range"] = float(np.ptp(slopes, axis=1).mean())
            metrics["intercept_range"] = float(ranges[-1])
            metrics["intercept_range_over_range_in_data"] = float(ranges[-1] / ranges[:-1].mean())
        return metrics

    def _seen(self, grid: Floats) -> Bools:
        low, high = self.zoom or (-np.inf, np.inf)
        return (grid >= low) & (grid <= high)

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        arrays = outcome.arrays
        names = self.labels() if self.data is None else axis_names(self.data)[:2]
        if self.show == "functions":
            figure, axes = tiles(len(self.orders), *names, sharex=True, sharey=True)
        else:
            figure, axes = tiles(1 + len(self.orders), *names, sharex=True, sharey=True)
        grid, seen = arrays["grid"], self._seen(arrays["grid"])
        truth = arrays.get("truth")
        if self.show == "functions":
            for ax, order in zip(axes, self.orders, strict=True):
                lines = arrays[f"functions_order_{order}"][:, seen]
                ax.plot(grid[seen], lines.T, color="C0", linewidth=0.9, alpha=0.6)
                if truth is not None:
                    ax.plot(grid[seen], truth[seen], color="black", linewidth=2.2)
                data = (arrays["x"] >= grid[seen][0]) & (arrays["x"] <= grid[seen][-1])
                ax.plot(arrays["x"][data], arrays["t"][data], "o", color="C1", markersize=3)
                ax.set_title(f"{self.functions} functions of order {order}")
            return {"functions": figure}
        axes[0].plot(arrays["x"], arrays["t"], "o", color="C1", markersize=3)
        axes[0].set_title("one data set" + ("" if truth is None else " and the true curve"))
        if truth is not None:
            axes[0].plot(grid, truth, color="black")
        sign = "²" if self.bars == "variance" else ""
        for ax, order, mean, bar in zip(
            axes[1:], self.orders, arrays["mean"], arrays["bar"], strict=True
        ):
            ax.errorbar(grid[::2], mean[::2], bar[::2], color="C0", linewidth=1, elinewidth=0.8)
            ax.set_title(f"order {order}: prediction ± σ{sign}")
        spread = np.ptp(arrays["t"])  # the longest bars leave the picture
        axes[0].set_ylim(arrays["t"].min() - spread / 3, arrays["t"].max() + spread / 3)
        return {"error-bars": figure}
