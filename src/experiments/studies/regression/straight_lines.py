"""Straight lines, given or fitted, and where they meet and reach zero (FCML 1.1.2, 1.2.1)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, Quantity, axis, over
from experiments.contract.study import Study, knob
from models.datasets import load
from models.regression.linear import least_squares, line


@dataclass
class StraightLines(Study):
    """Lines by their weights, or through data sets and on to where they meet and reach zero."""

    data: list[str] = knob(
        [], "data sets, each with its least-squares line", dataset=True, may_be_empty=True
    )
    intercepts: list[float] = knob([0.0, 5.0, 10.0], "without data: w0 of each line")
    gradients: list[float] = knob([0.0, 2.0, 4.0], "without data: w1 of each line")
    low: float = knob(-5.0, "without data: the smallest x")
    high: float = knob(5.0, "without data: the largest x")
    predict_at: list[float] = knob([], "inputs to predict at", may_be_empty=True, distinct=True)

    def problems(self) -> Iterator[str]:
        if self.data:
            if len(self.data) != 2 or self.data[0] == self.data[1]:
                yield f"study.data={self.data}; allowed: none, or two that differ"
            for name in self.data:
                if len(np.unique(load(name).xt[0])) < 2:
                    yield f"{name} has fewer than two different inputs; a line needs two"
        elif self.low >= self.high:
            yield f"study.low={self.low:g}, study.high={self.high:g}; allowed: low < high"
        elif len(self.intercepts) != len(self.gradients):
            yield (
                f"study.gradients has {len(self.gradients)} entries;"
                f" allowed: {len(self.intercepts)}, as study.intercepts has"
            )

    def run(self, rng: Generator) -> Outcome:
        shown: dict[str, Quantity] = {}
        if self.data:
            sets = [load(name).xt for name in self.data]
            w = np.array([least_squares(line(x), t).w for x, t in sets])
            zeros = -w[:, 0] / w[:, 1]
            crossing = (w[1, 0] - w[0, 0]) / (w[0, 1] - w[1, 1])
            inputs, targets = (np.concatenate(part) for part in zip(*sets, strict=True))
            grid = np.linspace(inputs.min(), max(inputs.max(), crossing, *zeros), 400)
            name, point = axis("line", self.data), axis("point", len(inputs))
            shown["inputs"], shown["targets"] = point.of(inputs), point.of(targets)
            shown["line_of_point"] = point.of(np.repeat(self.data, [len(x) for x, _ in sets]))
            shown["crossing"] = Quantity(crossing)
        else:
            w = np.array([self.intercepts, self.gradients]).T
            grid = np.unique([self.low, 0.0, self.high])
            name = axis("line", len(w))
        if self.predict_at:
            at = axis("input", self.predict_at)
            shown["prediction"] = over([line(at.values) @ v for v in w], name, at)
        return Outcome(
            w=over(w, name, axis("weight", 2)),
            height=over(w @ line(grid).T, name, axis("x", grid)),
            **shown,
        )
