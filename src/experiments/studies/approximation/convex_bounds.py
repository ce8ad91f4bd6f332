"""Tangents as bounds, conjugate functions, and bounds on the sigmoid (PRML 10.5)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.special import expit, log_expit

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Axis, Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.approximation import bounds
from bythebook.models.approximation.bounds import CURVES, Curve
from bythebook.models.types import Floats

POSITIVE = ("ln x", "half-angle in x squared")  # of which places
SIGMOIDS = {"ln sigmoid", "half-angle in x", "half-angle in x squared"}


@dataclass
class ConvexBounds(Study):
    """Slack of tangents to convex and concave functions, and conjugates by searches (PRML 10.5).

    Slack is positive where a bound holds: function minus tangent where the function is convex,
    tangent minus function where it is concave. Places are counted along the range of each.
    """

    headline = {"least_slack": "min(slack)"}
    more_quantities = True
    quantities = {
        "slack": quantity(
            "distance from a tangent to its function; positive where the bound holds",
            "function contact place",
        ),
    }

    functions: list[str] = knob(
        ["exp(-x)"], "convex or concave functions", choices=tuple(CURVES), distinct=True
    )
    stretches: list[list[float]] = knob([[-2.0, 5.0]], "smallest and largest place of each")
    contacts: list[float] = knob([1.0], "places where a tangent touches", above=0, at_most=5)
    slopes: list[float] = knob([0.2, 0.7], "of exponentials above the sigmoid", above=0, below=1)

    def problems(self) -> Iterator[str]:
        if [len(ends) for ends in self.stretches] != [2] * len(self.functions):
            yield f"study.stretches={self.stretches}; allowed: two ends for each function"
        elif any(a >= b for a, b in self.stretches):
            yield f"study.stretches={self.stretches}; allowed: the lower end first"
        elif any(
            a <= 0
            for f, (a, _) in zip(self.functions, self.stretches, strict=True)
            if f in POSITIVE
        ):
            yield f"study.stretches={self.stretches}; allowed for {' and '.join(POSITIVE)}: above 0"

    def run(self, rng: Generator) -> Outcome:
        kind, contact = axis("function", self.functions), axis("contact", self.contacts)
        at, turn = axis("place", 61), axis("turn", 25)
        each = [
            self._bounded(CURVES[name], (ends[0], ends[1]), len(at), len(turn))
            for name, ends in zip(self.functions, self.stretches, strict=True)
        ]
        axes: dict[str, tuple[Axis, ...]] = {
            "stretch": (at,),
            "slope_here": (at,),
            "printed_here": (at,),
            "function_value": (at,),
            "slack": (contact, at),
            "other_slack": (contact, at),
            "contact_slack": (contact,),
            "best_slope": (contact,),
            "recovered": (at,),
            "curvature": (at,),
            "slope_value": (turn,),
            "conjugate": (turn,),
            "conjugate_printed": (turn,),
            "conjugate_place": (turn,),
        }
        found = {name: over([of[name] for of in each], kind, *more) for name, more in axes.items()}
        if SIGMOIDS & set(self.functions):
            found |= self._sigmoid()
        return Outcome(**found)

    def _bounded(
        self, curve: Curve, ends: tuple[float, float], places: int, turns: int
    ) -> dict[str, Floats]:
        sign = 1.0 if curve.convex else -1.0
        x = np.linspace(*ends, places)
        xi = np.array(self.contacts)[:, None]
        slope = curve.slope(xi)
        tangent = slope * x - curve.conjugate(slope)  # 10.127
        other = curve.slope(x) * xi - curve.conjugate(curve.slope(x))  # touching at x, seen at xi
        below = sign * (curve.f(xi) - other)
        away = np.abs(x - xi) > 1e-3
        low, high = sorted(curve.slope(x[[0, -1]]).tolist())
        slopes = np.linspace(low, high, turns)
        g = bounds.conjugate(curve, slopes, ends)
        h = 0.01 * (x[1] - x[0])
        return {
            "stretch": x,
            "slope_here": curve.slope(x),
            "printed_here": curve.conjugate(curve.slope(x)),
            "function_value": curve.f(x),
            "slack": sign * (curve.f(x) - tangent),
            "other_slack": np.where(away, below, below.max()),
            "contact_slack": (curve.f(xi) - slope * xi + curve.conjugate(slope))[:, 0],
            "best_slope": bounds.recovered(curve, xi[:, 0], (low, high)).place,
            "recovered": bounds.recovered(curve, x, (low, high)).value,
            "curvature": (curve.f(x + h) - 2 * curve.f(x) + curve.f(x - h)) / h**2,
            "slope_value": slopes,
            "conjugate": g.value,
            "conjugate_printed": curve.conjugate(slopes),
            "conjugate_place": g.place,
        }

    def _sigmoid(self) -> dict[str, Quantity]:
        """The sigmoid, its bounds on either side, and lambda."""
        contact = axis("contact", self.contacts)
        x = axis("x", np.union1d(np.linspace(-10, 10, 401), np.outer([-1, 1], self.contacts)))
        slope = axis("upper_slope", np.union1d(self.slopes, np.linspace(0.02, 0.98, 25)))
        xi = np.array(self.contacts)[:, None]
        lower = [expit(x.values) - bounds.gaussian_bound(x.values, xi, s) for s in (-1.0, 1.0)]
        upper = bounds.exponential_bound(x.values, slope.values[:, None]) - expit(x.values)
        h = 1e-3
        second = expit(x.values + h) - 2 * expit(x.values) + expit(x.values - h)
        along = axis("xi", np.linspace(0.05, 20, 200))
        forms = np.tanh(along.values / 2) / (4 * along.values), bounds.lam(along.values)
        off = x.values - xi
        first = expit(-xi)  # the slope of ln sigmoid, and lambda of the upper bound there
        taylor = [log_expit(xi) + first * off, log_expit(xi) + first * off]
        taylor[1] = taylor[1] - first * (1 - first) * off**2 / 2
        exact = np.log(bounds.exponential_bound(x.values, first))
        return {
            "gaussian_slack": over(lower, axis("lambda_of", ["10.141", "10.150"]), contact, x),
            "exponential_slack": over(upper, slope, x),
            "sigmoid_curvature": x.of(second / h**2),
            "lambda_forms": over(forms, axis("form", ["tanh", "sigmoid"]), along),
            "taylor_gap": over([t - exact for t in taylor], axis("order", [1, 2]), contact, x),
        }
