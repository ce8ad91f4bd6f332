"""Straight lines for several intercepts and gradients (FCML 1.1.2)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar
from experiments.contract.study import Study, knob
from models.regression.linear import line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure


@dataclass
class LineFamily(Study):
    """What intercept and gradient do to a line, one line for each pair (FCML Figure 1.2)."""

    intercepts: list[float] = knob([0.0, 5.0, 10.0], "w0 of each line")
    gradients: list[float] = knob([0.0, 2.0, 4.0], "w1 of each line")
    low: float = knob(-5.0, "the smallest x")
    high: float = knob(5.0, "the largest x")

    def problems(self) -> "Iterator[str]":
        if self.low >= self.high:
            yield f"study.low={self.low:g}, study.high={self.high:g}; allowed: low < high"
        if len(self.intercepts) != len(self.gradients):
            yield (
                f"study.gradients has {len(self.gradients)} entries;"
                f" allowed: {len(self.intercepts)}, as study.intercepts has"
            )

    def run(self, rng: Generator) -> Outcome:
        w = np.array([self.intercepts, self.gradients])
        x = np.array([self.low, self.high])
        t = (line(x) @ w).T  # (lines, 2)
        slopes = np.diff(t)[:, 0] / (self.high - self.low)
        crossings = (line(np.zeros(1)) @ w)[0]
        metrics: dict[str, Scalar] = {
            "intercept_is_value_at_zero": bool(np.array_equal(crossings, w[0])),
            "gradient_is_rise_over_run": bool(np.allclose(slopes, w[1], rtol=1e-12, atol=1e-12)),
        }
        return Outcome(metrics, tables={"lines": {"w_0": w[0], "w_1": w[1]}}, arrays={"t": t})

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from matplotlib import colormaps

        from experiments.drawing.canvas import panels

        figure, ax = panels()
        count = len(self.intercepts)
        shown = {0, count // 2, count - 1}
        for k, t in enumerate(outcome.arrays["t"]):
            label = f"$w_0$ = {self.intercepts[k]:g}, $w_1$ = {self.gradients[k]:g}"
            colour = colormaps["cividis"](0.9 * k / max(count - 1, 1))
            ax.plot([self.low, self.high], t, color=colour, label=label if k in shown else None)
        ax.set(xlabel="x", ylabel="t = $w_0$ + $w_1$ x")
        ax.legend(loc="upper left")
        return {"lines": figure}
