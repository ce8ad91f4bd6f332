"""Tangents as bounds on convex and concave functions, and on the sigmoid (PRML 10.5)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.approximation.bounds import BOUNDS


@dataclass
class ConvexBounds(Study):
    """Functions with bounds that touch them at some places, by convex duality (PRML 10.5)."""

    headline = {"functions": "size(value, over='bound')"}
    quantities = {
        "value": quantity("function", "bound x"),
        "tangent": quantity("bound that touches the function at a contact", "bound contact x"),
        "height": quantity("at a contact, the bound that touches at x", "bound contact x"),
    }
    axes = {
        "bound": axis_of("function, and side of the bound"),
        "contact": axis_of("place of contact"),
        "x": axis_of("place"),
    }

    bounds: list[str] = knob(
        ["below exp(-x)"], "functions and sides", choices=tuple(BOUNDS), distinct=True
    )
    contacts: list[float] = knob([1.0], "places where a bound touches", distinct=True)
    low: float = knob(-2.0, "smallest place")
    high: float = knob(5.0, "largest place")
    points: int = knob(401, "places", at_least=3, at_most=100_000)

    def problems(self) -> Iterator[str]:
        if self.low >= self.high:
            yield f"study.low={self.low:g}; allowed: below study.high={self.high:g}"

    def run(self, rng: Generator) -> Outcome:
        x = np.append(np.linspace(self.low, self.high, self.points), self.contacts)
        x = np.unique(x.round(12))  # a contact may be on the grid
        xi = np.array(self.contacts)[:, None]
        chosen = [BOUNDS[name] for name in self.bounds]
        return outcome(
            {"bound": self.bounds, "contact": self.contacts, "x": x},
            value=("bound x", [each.f(x) for each in chosen]),
            tangent=("bound contact x", [each.bound(x, xi) for each in chosen]),
            height=("bound contact x", [each.bound(xi, x) for each in chosen]),
        )
