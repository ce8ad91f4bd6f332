"""Two discrete variables: joint, marginal and reversed conditional probabilities (FCML 2.2)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar
from experiments.contract.study import Study, knob
from models.probability.discrete_pair import pair

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure


@dataclass
class JointTable(Study):
    """The product rule, marginalisation and Bayes' rule on small tables (FCML 2.2.4-2.2.7)."""

    x_name: str = knob("X", "the variable that comes first")
    y_name: str = knob("Y", "the variable that depends on it")
    x: list[str] = knob(["0", "1"], "outcomes of X", distinct=True)
    y: list[str] = knob(["0", "1"], "outcomes of Y", distinct=True)
    prior: list[float] = knob([0.5, 0.5], "P(x)", at_least=0, at_most=1)
    conditional: list[list[float]] = knob([[1.0, 0.0], [0.2, 0.8]], "P(y | x), a row for each x")
    unit: int = knob(1, "marginals are also given in units of one over this", at_least=1)

    def problems(self) -> "Iterator[str]":
        if len(self.prior) != len(self.x) or abs(sum(self.prior) - 1) > 1e-9:
            yield f"study.prior={self.prior}; allowed: {len(self.x)} probabilities that sum to one"
        if len(self.conditional) != len(self.x):
            yield f"study.conditional has {len(self.conditional)} rows; allowed: {len(self.x)}"
        for row in self.conditional:
            if len(row) != len(self.y) or min(row) < 0 or abs(sum(row) - 1) > 1e-9:
                yield (
                    f"study.conditional: {row} is not a row of {len(self.y)} probabilities"
                    " that sum to one"
                )

    def run(self, rng: Generator) -> Outcome:
        rows = np.array(self.conditional)
        found = pair(np.array(self.prior), rows)
        metrics: dict[str, Scalar] = {"joint_total": float(found.joint.sum())}
        for i, x in enumerate(self.x):
            for j, y in enumerate(self.y):
                metrics[f"joint_{x}_{y}"] = found.joint[i, j]
                if found.joint[i, j] > 0:
                    metrics[f"joint_{x}_{y}_one_in"] = 1 / found.joint[i, j]
                metrics[f"x_{x}_given_y_{y}"] = found.reverse[i, j]
        for j, y in enumerate(self.y):
            metrics[f"marginal_{y}"] = found.marginal[j]
            metrics[f"marginal_{y}_in_units"] = found.marginal[j] * self.unit
        if rows.shape == (2, 2):  # P(y' | x) = 1 - P(y | x) is about one x; do two x's agree?
            metrics["rows_are_complements"] = bool(np.isclose(rows[0, 1], 1 - rows[1, 1]))
        metrics["independent"] = bool(np.allclose(rows, found.marginal))
        table = {
            self.x_name: [x for x in self.x for _ in self.y],
            self.y_name: [y for _ in self.x for y in self.y],
            "joint": found.joint.ravel(),
            "reverse": found.reverse.ravel(),
        }
        return Outcome(metrics, tables={"tables": table}, arrays=found._asdict())

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        x, y = self.x_name, self.y_name
        figure, axes = panels(1, 2)
        places = np.arange(len(self.y))
        for ax, name, label in (
            (axes[0], "joint", f"P({x}, {y}), stacked to P({y})"),
            (axes[1], "reverse", f"P({x} | {y})"),
        ):
            bottom = np.zeros(len(self.y))
            for k, row in enumerate(outcome.arrays[name]):
                ax.bar(places, row, 0.6, bottom=bottom, color=f"C{k}", label=f"{x} = {self.x[k]}")
                bottom = bottom + row
            ax.set(xlabel=y, ylabel=label)
            ax.set_xticks(places, self.y)
            ax.grid(axis="x", visible=False)
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(self.x))
        return {"tables": figure}
