"""A printed table of data: its averages, and the columns that the book works out from it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.claims import number, rounds_to
from experiments.contract.legacy import Outcome, Scalar
from experiments.contract.study import Study, knob
from experiments.drawing.labels import axis_names
from models.datasets import load

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure


@dataclass
class DataTable(Study):
    """Check a data set's averages and its printed columns of products (FCML Tables 1.2 and 1.3)."""

    data: str = knob("olympics-100m-men", "the regression data", dataset=True)
    products: list[str] = knob([], "the column x t as printed", may_be_empty=True)
    squares: list[str] = knob([], "the column x^2 as printed", may_be_empty=True)
    due_every: int | None = knob(None, "an input is due every so often; find the gaps", at_least=1)

    def problems(self) -> "Iterator[str]":
        rows = len(load(self.data).matrix)
        for name, cells in (("products", self.products), ("squares", self.squares)):
            if len(cells) not in (0, rows):
                yield f"study.{name} has {len(cells)} cells; {self.data} has {rows} rows"
            bad = [cell for cell in cells if number(cell) is None]
            if bad:
                yield f"study.{name}: '{bad[0]}' is not a number as a book would print it"

    def run(self, rng: Generator) -> Outcome:
        x, t = load(self.data).xt
        columns = {"x": x, "t": t, "xt": x * t, "xx": x**2}
        metrics: dict[str, Scalar] = {
            f"mean_{name}": float(np.mean(values)) for name, values in columns.items()
        }
        metrics |= {"smallest_x": float(x.min()), "largest_t": float(t.max())}
        if np.ptp(x) > 0 and np.ptp(t) > 0:
            covariance = np.mean((x - x.mean()) * (t - t.mean()))
            metrics["correlation_x_t"] = float(covariance / (x.std() * t.std()))
        table = {name: values.tolist() for name, values in columns.items()}
        for name, cells in (("xt", self.products), ("xx", self.squares)):
            if cells:
                agree = [rounds_to(*pair) for pair in zip(table[name], cells, strict=True)]
                metrics[f"printed_{name}_agree"] = all(agree)
                table |= {f"printed_{name}": cells, f"{name}_agrees": agree}
        if self.due_every is not None:
            due = np.arange(x.min(), x.max(), self.due_every)
            gaps = np.setdiff1d(due, x).astype(int)
            metrics |= {f"gap_{i}": int(gap) for i, gap in enumerate(gaps, start=1)}
        return Outcome(metrics, tables={"rows": table}, arrays={"x": x, "t": t})

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        names = axis_names(self.data)
        figure, ax = panels()
        ax.plot(outcome.arrays["x"], outcome.arrays["t"], "o")
        ax.set(xlabel=names.x, ylabel=names.t)
        return {"data": figure}
