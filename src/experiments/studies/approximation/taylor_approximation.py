"""A smooth function and its Taylor approximations (FCML 4.2.1 and comment 4.3)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, axis, over
from experiments.contract.study import Study, knob
from models.approximation.taylor import FUNCTIONS, expansions


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

    def problems(self) -> Iterator[str]:
        if not self.low <= self.about <= self.high or self.low == self.high:
            yield f"study.low={self.low:g}, study.high={self.high:g}; allowed: low <= about <= high"
        if self.orders != sorted(set(self.orders)):
            yield f"study.orders={self.orders}; allowed: ascending"

    def run(self, rng: Generator) -> Outcome:
        f, far = FUNCTIONS[self.function].f, axis("far", [-500.0, 500.0])
        w, order = axis("w", np.linspace(self.low, self.high, 401)), axis("order", self.orders)
        found = {"function": w.of(f(w.values)), "far_function": far.of(f(far.values))}
        if self.orders:
            curves = expansions(self.function, self.about, max(self.orders), w.values)
            found["expansion"] = over(curves[self.orders], order, w)
        return Outcome(**found)
