"""A smooth function and its Taylor approximations (FCML 4.2.1 and comment 4.3)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome
from experiments.contract.study import Study, knob
from models.approximation.taylor import FUNCTIONS, expansions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure


@dataclass
class TaylorApproximation(Study):
    """The exponential or the sigmoid, and approximations of growing order (FCML comment 4.3)."""

    function: str = knob("exp", "the function", choices=tuple(FUNCTIONS))
    about: float = knob(0.0, "the point the expansion is about", at_least=-100, at_most=100)
    orders: list[int] = knob(
        [0, 1, 2, 3], "orders, none: the function alone", at_least=0, at_most=20, may_be_empty=True
    )
    low: float = knob(-2.0, "the smallest argument", at_least=-500)
    high: float = knob(2.0, "the largest argument", at_most=500)
    x_name: str = knob("w", "what the argument is called in the figure")

    def problems(self) -> "Iterator[str]":
        if not self.low <= self.about <= self.high or self.low == self.high:
            yield f"study.low={self.low:g}, study.high={self.high:g}; allowed: low <= about <= high"
        if self.orders != sorted(set(self.orders)):
            yield f"study.orders={self.orders}; allowed: ascending"

    def run(self, rng: Generator) -> Outcome:
        w = np.linspace(self.low, self.high, 401)
        f = FUNCTIONS[self.function].f
        values = f(w)
        metrics: dict[str, Any] = {
            "value_at_point": float(f(np.array(self.about))),
            "strictly_increasing": bool(np.all(np.diff(values) > 0)),
            "between_0_and_1": bool(np.all((values > 0) & (values < 1))),
            "value_at_low": float(values[0]),
            "value_at_high": float(values[-1]),
            "value_far_below": float(f(np.array(-500.0))),
            "value_far_above": float(f(np.array(500.0))),
        }
        arrays = {"w": w, "f": values}
        if self.orders:
            curves = expansions(self.function, self.about, max(self.orders), w)[self.orders]
            error = np.abs(curves - values)
            largest = error.max(axis=-1)
            away = np.sort(np.abs(w - self.about))
            outward = [row[np.argsort(np.abs(w - self.about), kind="stable")] for row in error]
            metrics |= {f"largest_error_{n}": e for n, e in zip(self.orders, largest, strict=True)}
            metrics |= {
                "error_falls_with_order": bool(np.all(np.diff(largest) < 0)),
                "error_grows_away_from_point": all(
                    row[away > 0.9 * away[-1]].mean() > row[away < 0.1 * away[-1]].mean()
                    for row in outward
                ),
            }
            arrays["expansions"] = curves
        return Outcome(metrics, arrays=arrays)

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        arrays = outcome.arrays
        figure, ax = panels()
        ax.plot(arrays["w"], arrays["f"], color="black", linewidth=2.2, label=self.function)
        dashes = ("--", "-.", ":", (0, (5, 1)), (0, (1, 1)))
        for k, n in enumerate(self.orders):
            ax.plot(
                arrays["w"],
                arrays["expansions"][k],
                linestyle=dashes[k % 5],
                color=f"C{k % 8}",
                label=f"order {n}",
            )
        reach = np.ptp(arrays["f"])
        ax.set(
            xlabel=self.x_name,
            ylabel=f"{self.function}({self.x_name})",
            ylim=(arrays["f"].min() - reach / 6, arrays["f"].max() + reach / 12),
        )
        if self.orders:
            ax.legend(loc="upper left")
        return {"function": figure}
