"""Data about a known curve: the knobs that many studies share, and a study of the data."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome
from experiments.contract.study import Study, knob
from models.datasets import load
from models.regression import curves
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CURVES = ("sine", "polynomial")
_UNITS = {"time": "time (s)"}


@dataclass
class SyntheticCurve:
    """Knobs of a generator: a true curve, its inputs and its noise. A base for studies."""

    curve: str = knob("sine", "the true curve: sin(2 pi x), or a polynomial", choices=CURVES)
    weights: list[float] = knob([0.0, 1.0], "w0, w1, ... of the true curve if a polynomial")
    n: int = knob(10, "points in a data set", at_least=2)
    noise: float = knob(0.3, "standard deviation of the noise", at_least=0)
    design: str = knob("grid", "inputs equally spaced or drawn uniformly", choices=curves.DESIGNS)
    low: float = knob(0.0, "the smallest input")
    high: float = knob(1.0, "the largest input")

    def problems(self) -> "Iterator[str]":
        if self.low >= self.high:
            yield f"study.low={self.low:g}, study.high={self.high:g}; allowed: low < high"

    def truth(self, x: Floats) -> Floats:
        """h(x)."""
        return (
            curves.sine(x) if self.curve == "sine" else curves.polynomial(x, np.array(self.weights))
        )

    @property
    def true_order(self) -> int | None:
        """The order of the true polynomial."""
        return None if self.curve == "sine" else int(np.flatnonzero([1, *self.weights[1:]])[-1])

    def sample(self, rng: Generator, n_sets: int, n: int | None = None) -> tuple[Floats, Floats]:
        """Inputs and targets of many data sets, each (n_sets, n)."""
        x = curves.inputs(n or self.n, self.low, self.high, self.design, n_sets, rng)
        return x, curves.noisy(self.truth(x), self.noise, rng)

    def grid(self, points: int = 300) -> Floats:
        """Where curves are drawn."""
        return np.linspace(self.low, self.high, points)


@dataclass
class NoisyCubic(SyntheticCurve):
    """The generator with a cubic, faint at the usual noise, in place of the sine."""

    curve: str = knob("polynomial", "the true curve: sin(2 pi x), or a polynomial", choices=CURVES)
    weights: list[float] = knob(
        [0.0, 1.0, 0.0, -1.0], "w0, w1, ... of the true curve if a polynomial"
    )
    n: int = knob(20, "points in a data set", at_least=2)
    design: str = knob(
        "uniform", "inputs equally spaced or drawn uniformly", choices=curves.DESIGNS
    )
    low: float = knob(-1.0, "the smallest input")


@dataclass
class CurveOrData(SyntheticCurve):
    """The same, or an embedded data set in place of the draws."""

    curve: str = knob(
        "sine", "the true curve; unknown only with data", choices=(*CURVES, "unknown")
    )
    data: str | None = knob(None, "an embedded data set in place of drawn ones", dataset=True)

    def problems(self) -> "Iterator[str]":
        yield from super().problems()
        if self.data is None and self.curve == "unknown":
            yield "study.curve=unknown leaves nothing to draw from; give study.data=<data set>"

    @property
    def size(self) -> int:
        """Points in a data set."""
        return self.n if self.data is None else len(load(self.data).xt[0])

    def sets(self, rng: Generator, n_sets: int = 1) -> tuple[Floats, Floats]:
        """Inputs and targets, each (n_sets, n); the embedded data set is always a single one."""
        if self.data is None:
            return self.sample(rng, n_sets)
        x, t = load(self.data).xt
        return x[None], t[None]

    def labels(self) -> tuple[str, str]:
        """The names of the axes."""
        if self.data is None:
            return "x", "t"
        first, *_, last = load(self.data).columns
        return _UNITS.get(first, first), _UNITS.get(last, last)


@dataclass
class CurveData(CurveOrData, Study):
    """Data about a curve, their residuals and the share within one standard deviation (PRML A)."""

    repetitions: int = knob(1, "data sets to draw", at_least=1, at_most=100_000)

    def run(self, rng: Generator) -> Outcome:
        x, t = self.sets(rng, self.repetitions)
        metrics: dict[str, Any] = {
            "n_points": self.size,
            "equally_spaced": bool(np.allclose(np.diff(x), np.diff(x).mean(), rtol=1e-9)),
            "inputs_in_interval": bool(np.all((x >= self.low) & (x <= self.high))),
        }
        arrays = {"x": x[0], "t": t[0], "grid": self.grid()}
        if self.curve != "unknown":
            residuals = t - self.truth(x)
            arrays["truth"] = self.truth(arrays["grid"])
            arrays["residual_rms"] = np.sqrt(np.mean(residuals**2, axis=-1))
            arrays["share_within_one_sd"] = np.mean(np.abs(residuals) <= self.noise, axis=-1)
            metrics["residual_rms"] = float(np.sqrt(np.mean(residuals**2)))
            metrics["share_within_one_sd"] = float(arrays["share_within_one_sd"].mean())
            metrics["noise_present"] = bool(np.all(arrays["residual_rms"] > 0))
        return Outcome(metrics, tables={"data": {"x": x[0], "t": t[0]}}, arrays=arrays)

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        arrays = outcome.arrays
        known = "truth" in arrays
        figure, axes = panels(1, 1 + known, squeeze=False, sharey=True)
        x_name, t_name = self.labels()
        axes[0, 0].plot(arrays["x"], arrays["t"], "o", color="C0", label="data")
        axes[0, 0].set(xlabel=x_name, ylabel=t_name, title=f"{len(arrays['x'])} points")
        if known:
            axes[0, 0].plot(arrays["grid"], arrays["truth"], color="C2", label=self.curve)
            draw_band(axes[0, 1], arrays["grid"], arrays["truth"], self.noise)
            axes[0, 1].set(xlabel=x_name, title="p(t | x)")
            for ax in axes[0]:
                ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)
        return {"data": figure}


def draw_band(ax: "Axes", grid: Floats, mean: Floats, sd: float) -> None:
    """A curve and one standard deviation on either side."""
    ax.plot(grid, mean, color="C2", label="mean")
    band: dict[str, Any] = {"color": "C1", "alpha": 0.25, "linewidth": 0}
    ax.fill_between(grid, mean - sd, mean + sd, label="one standard deviation", **band)


def draw_fit(ax: "Axes", arrays: Mapping[str, Floats], curve: Floats) -> None:
    """Data, the true curve, and a fit that may leave the picture."""
    spread = np.ptp(arrays["t"])
    ax.plot(arrays["x"], arrays["t"], "o", color="C0", markersize=4, label="data")
    ax.plot(arrays["grid"], arrays["truth"], color="C2", label="true curve")
    ax.plot(arrays["grid"], curve, color="C1", label="fit")
    ax.set_ylim(arrays["t"].min() - spread / 4, arrays["t"].max() + spread / 4)


def tiles(count: int, x_name: str, t_name: str, **options: Any) -> "tuple[Figure, list[Axes]]":
    """Panels in two columns, which stay legible on a page, with names at the outer ones."""
    from experiments.drawing.canvas import panels

    columns = min(2, count)
    figure, axes = panels(-(-count // columns), columns, squeeze=False, **options)
    used, spare = list(axes.flat[:count]), axes.flat[count:]
    for ax in spare:
        ax.remove()
    for ax in used[-columns:]:
        ax.set_xlabel(x_name)
        ax.xaxis.set_tick_params(labelbottom=True)
    for ax in used[::columns]:
        ax.set_ylabel(t_name)
    return figure, used
