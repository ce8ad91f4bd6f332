"""Point estimates when the parameter is changed (Ghahramani 1.3)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize_scalar
from scipy.special import expit

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.types import Floats, Ints

# A coin's probability as a function of each parameter, its derivative, and the parameter's ends.
Map = tuple[Callable[[float], float], Callable[[float], float], tuple[float, float]]
MAPS: dict[str, Map] = {
    "probability": (lambda u: u, lambda u: 1.0, (0.0, 1.0)),
    "log odds": (
        lambda u: float(expit(u)),
        lambda u: float(expit(u) * expit(-u)),
        (-30.0, 30.0),
    ),
    "square": (lambda u: u**0.5, lambda u: 0.5 * u**-0.5, (0.0, 1.0)),
    "angle": (lambda u: np.sin(u) ** 2, lambda u: np.sin(2 * u), (0.0, np.pi / 2)),
}
POINTS, INPUTS, SIMPLE = 30, 12, 3  # of a regression; all inputs, and those of the simple one


@dataclass
class Reparameterisation(Study):
    """The most probable probability of a coin, found in several parameters and transformed back.

    For comparison, the best penalised likelihood, which is not a density, and the likelihood of
    linear regressions on random inputs; the more complex one has two more inputs.
    """

    headline = {"range": "max(most_probable) - min(most_probable)"}
    quantities = {
        "most_probable": quantity(
            "most probable probability of heads, transformed back", "parameter"
        ),
        "best_penalised": quantity(
            "probability of the largest penalised likelihood, transformed back", "parameter"
        ),
        "penalised": quantity("penalised log likelihood", "r", unit="nats"),
        "jacobian": quantity("derivative of the parameter by the probability", "parameter r"),
        "simple_likelihood": quantity("largest log likelihood, 3 inputs", "repetition"),
        "complex_likelihood": quantity("largest log likelihood, 5 other inputs", "repetition"),
    }
    axes = {
        "parameter": axis_of("parameter of the coin"),
        "r": axis_of("probability of heads"),
        "repetition": axis_of("pair of regressions"),
    }

    prior: list[float] = knob([2.0, 2.0], "parameters of the beta prior", above=1)
    heads: int = knob(3, "heads seen", at_least=0)
    tosses: int = knob(4, "tosses", at_least=1)
    repetitions: int = knob(100, "pairs of regressions", at_least=1, at_most=100_000)

    def problems(self) -> Iterator[str]:
        if len(self.prior) != 2:
            yield f"study.prior={self.prior}; allowed: two"
        if self.heads > self.tosses:
            yield f"study.heads={self.heads}; allowed: up to study.tosses={self.tosses}"

    def run(self, rng: Generator) -> Outcome:
        pairs = np.array([_likelihoods(rng) for _ in range(self.repetitions)])
        r = np.linspace(0.01, 0.99, 99)
        return outcome(
            {"parameter": list(MAPS), "r": r, "repetition": self.repetitions},
            most_probable=("parameter", [self._best(of, density=True) for of in MAPS.values()]),
            best_penalised=("parameter", [self._best(of, density=False) for of in MAPS.values()]),
            penalised=("r", [self._penalised(float(place)) for place in r]),
            jacobian=("parameter r", [_jacobian(of, r) for of in MAPS.values()]),
            simple_likelihood=("repetition", pairs[:, 0]),
            complex_likelihood=("repetition", pairs[:, 1]),
        )

    def _penalised(self, r: float) -> float:
        """Ln likelihood with the log prior of r as its penalty."""
        a, b = self.prior[0] - 1 + self.heads, self.prior[1] - 1 + self.tosses - self.heads
        return float(a * np.log(r) + b * np.log1p(-r))

    def _best(self, of: Map, *, density: bool) -> float:
        p, slope, (low, high) = of

        def cost(u: float) -> float:
            value = self._penalised(p(u))
            return -(value + np.log(abs(slope(u)))) if density else -value

        room = 1e-9 * (high - low)
        found = minimize_scalar(
            cost, bounds=(low + room, high - room), method="bounded", options={"xatol": 1e-11}
        )
        return float(p(found.x))


def _jacobian(of: Map, r: Floats) -> list[float]:
    """|du / dr| at probabilities, the parameter of each being found in a table."""
    p, slope, ends = of
    u = np.linspace(*ends, 20_001)[1:-1]
    return [1 / abs(slope(v)) for v in np.interp(r, [p(v) for v in u], u)]


def _likelihoods(rng: Generator) -> tuple[float, float]:
    """Largest log likelihoods of two regressions that are not nested, noise 1, on one data set."""
    X = rng.standard_normal((POINTS, INPUTS))
    y = X[:, :2].sum(1) + rng.standard_normal(POINTS)
    order = rng.permutation(INPUTS)
    first, second = order[:SIMPLE], order[SIMPLE : 2 * SIMPLE + 2]

    def largest(which: Ints) -> float:
        off = y - X[:, which] @ np.linalg.lstsq(X[:, which], y, rcond=None)[0]
        return float(-(off @ off + POINTS * np.log(2 * np.pi)) / 2)

    return largest(first), largest(second)
