"""More data tame an over-flexible polynomial (notes 2.1.2)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Series
from experiments.contract.study import Study, knob
from experiments.studies.regression.curve_data import SyntheticCurve, draw_fit, tiles
from models.regression.curves import expected_loss, quadrature
from models.regression.polynomials import fit_orders, predict_orders, training_loss

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure


@dataclass
class TrainingSize(SyntheticCurve, Study):
    """Error of a flexible polynomial against the size of the training set (notes 2.1.2)."""

    order: int = knob(9, "order of the polynomial", at_least=0, at_most=20)
    sizes: list[int] = knob(
        [10, 15, 25, 50, 100, 1000], "sizes of the training set", at_least=2, distinct=True
    )
    show: list[int] = knob([15, 100], "sizes whose fits are drawn", at_least=2, distinct=True)
    repetitions: int = knob(300, "data sets to draw for each size", at_least=1, at_most=100_000)

    def problems(self) -> "Iterator[str]":
        yield from super().problems()
        if self.order >= min(self.sizes):
            yield f"study.sizes={self.sizes}: order {self.order} needs {self.order + 1} points"
        if not set(self.show) <= set(self.sizes):
            yield f"study.show={self.show}; allowed: some of study.sizes={self.sizes}"

    def run(self, rng: Generator) -> Outcome:
        sizes, grid, nodes = sorted(self.sizes), self.grid(), quadrature(self.low, self.high)
        h = self.truth(nodes.x)
        rms = np.empty((2, len(sizes), self.repetitions))  # training and new data
        arrays = {"grid": grid, "truth": self.truth(grid)}
        for row, n in enumerate(sizes):
            x, t = self.sample(rng, self.repetitions, n)
            fits = fit_orders(x, t, self.order)
            f = predict_orders(fits, nodes.x)[:, -1]
            new = expected_loss(f, h, nodes.weight, self.noise)
            rms[:, row] = np.sqrt([training_loss(fits)[:, -1], new])
            if n in self.show:
                arrays |= {
                    f"x_{n}": x[0],
                    f"t_{n}": t[0],
                    f"curve_{n}": predict_orders(fits, grid)[0, -1],
                }
        low, middle, high = np.quantile(rms, [0.05, 0.5, 0.95], axis=-1)
        metrics: dict[str, Any] = {
            "test_rms_always_falls": bool(np.all(np.diff(middle[1]) < 0)),
            "gap_always_falls": bool(np.all(np.diff(middle[1] - middle[0]) < 0)),
        }
        metrics |= {f"test_rms_n_{n}": v for n, v in zip(sizes, middle[1].tolist(), strict=True)}
        table = {"n": sizes, "training_rms": middle[0], "test_rms": middle[1]}
        table |= {"test_rms_low": low[1], "test_rms_high": high[1]}
        series = {"test_rms": Series(sizes, middle[1].tolist())}
        return Outcome(metrics, series, {"sizes": table}, arrays)

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        table = outcome.tables["sizes"]
        figure, ax = panels()
        ax.plot(table["n"], table["training_rms"], "o-", label="training, median")
        ax.plot(table["n"], table["test_rms"], "s-", label="new data, median")
        low, high = table["test_rms_low"], table["test_rms_high"]
        ax.fill_between(
            table["n"],
            low,
            high,
            color="C1",
            alpha=0.2,
            linewidth=0,
            label="new data, central 90 %",
        )
        ax.axhline(self.noise, color="black", linestyle="--", linewidth=1, label="noise")
        ax.set(xlabel="points in the training set", ylabel="root mean square error", xscale="log")
        if max(high) > 20 * self.noise > 0:
            ax.set_yscale("log")
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)
        fits, axes = tiles(len(self.show), "x", "t", sharex=True, sharey=True)
        for panel, n in zip(axes, sorted(self.show), strict=True):
            points = {k: outcome.arrays[f"{k}_{n}"] for k in ("x", "t")}
            draw_fit(panel, {**outcome.arrays, **points}, outcome.arrays[f"curve_{n}"])
            panel.set(title=f"{n} points, order {self.order}")
        fits.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        return {"error": figure, "fits": fits}
