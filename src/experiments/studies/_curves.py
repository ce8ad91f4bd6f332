"""Data about a known curve, or an embedded data set instead: knobs that studies share."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.outcome import Quantity, axis
from bythebook.experiments.core.study import knob
from bythebook.models.datasets import load
from bythebook.models.regression import curves
from bythebook.models.types import Floats

CURVES = ("sine", "polynomial")


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

    def problems(self) -> Iterator[str]:
        if self.low >= self.high:
            yield f"study.low={self.low:g}, study.high={self.high:g}; allowed: low < high"

    def truth(self, x: Floats) -> Floats:
        """h(x)."""
        w = np.array(self.weights)
        return curves.sine(x) if self.curve == "sine" else curves.polynomial(x, w)

    @property
    def true_order(self) -> int | None:
        """The order of the true polynomial."""
        return None if self.curve == "sine" else int(np.flatnonzero([1, *self.weights[1:]])[-1])

    def sample(
        self, rng: Generator, n_sets: int, n: int | None = None, design: str | None = None
    ) -> tuple[Floats, Floats]:
        """Inputs and targets of many data sets, each (n_sets, n)."""
        x = curves.inputs(n or self.n, self.low, self.high, design or self.design, n_sets, rng)
        return x, curves.noisy(self.truth(x), self.noise, rng)

    def grid(self, points: int = 300) -> Floats:
        """Inputs at which curves are drawn."""
        return np.linspace(self.low, self.high, points)

    def drawn(self, x: Floats, t: Floats, points: int = 300) -> dict[str, Quantity]:
        """One data set and the true curve, for figures."""
        point, grid = axis("point", len(x)), axis("x", self.grid(points))
        truth = grid.of(self.truth(grid.values))
        return {"inputs": point.of(x), "targets": point.of(t), "truth": truth}

    def expected_loss(self, f: Floats) -> Floats:
        """Expected squared loss on new data of fits f (..., G) at the nodes of `quadrature`."""
        nodes = self.quadrature
        return curves.expected_loss(f, self.truth(nodes.x), nodes.weight, self.noise)

    @property
    def quadrature(self) -> curves.Quadrature:
        """The average over inputs uniform between low and high."""
        return curves.quadrature(self.low, self.high)


@dataclass
class CurveOrData(SyntheticCurve):
    """Knobs of a synthetic curve, or of an embedded data set instead. A base for studies."""

    curve: str = knob("sine", "the true curve, if it is known", choices=(*CURVES, "unknown"))
    data: str | None = knob(
        None, "an embedded data set instead of drawn ones", dataset="regression"
    )

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if self.data is None and self.curve == "unknown":
            yield "study.curve=unknown leaves nothing to draw from; give study.data=<data set>"

    @property
    def size(self) -> int:
        """Points in a data set."""
        return self.n if self.data is None else len(load(self.data).xt[0])

    def sets(self, rng: Generator, n_sets: int = 1, n: int | None = None) -> tuple[Floats, Floats]:
        """Inputs and targets, each (n_sets, n); the embedded data set is always a single one."""
        if self.data is None:
            return self.sample(rng, n_sets, n)
        x, t = load(self.data).xt
        return x[None], t[None]
