"""Gradients of a network by backpropagation, against finite differences (MLAPP 16.5.4)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.networks import backpropagation as back
from bythebook.models.networks.backpropagation import ACTIVATIONS, OUTPUTS, Weights
from bythebook.models.networks.neural_network import error_and_gradient, fit_network, random_start
from bythebook.models.types import Floats

SEGMENTS = 200
STARTS = 5
DECAY = 0.01  # of the MAP estimate that they look for


@dataclass
class Backpropagation(Study):
    """Activation functions with their slopes, and gradients of random networks."""

    headline = {"gradient_gap": "max(gradient_gap)"}
    more_quantities = True
    quantities = {
        "gradient_gap": quantity(
            "largest difference between backpropagated gradient and differences",
            "output kind draw layer",
        ),
    }

    reach: float = knob(10.0, "activations are drawn from minus this to this", above=0)
    inputs: int = knob(3, "with the one that is always 1", at_least=2, at_most=20)
    hidden: int = knob(4, "units", at_least=1, at_most=50)
    targets: int = knob(3, "outputs of the network", at_least=2, at_most=10)
    cases: int = knob(5, "points", at_least=1, at_most=100)
    draws: int = knob(40, "random networks with data", at_least=1, at_most=1000)
    widths: list[int] = knob([5, 10, 20], "units whose cost is counted", at_least=1, distinct=True)

    def run(self, rng: Generator) -> Outcome:
        return Outcome(
            **self._activations(), **self._gradients(rng), **self._costs(), **self._surface(rng)
        )

    def _activations(self) -> dict[str, Quantity]:
        a = np.linspace(-self.reach, self.reach, 81)
        kind, x, width = (
            axis("kind", list(ACTIVATIONS)),
            axis("a", a),
            axis("width", [1, 0.1, 0.01]),
        )
        functions = list(ACTIVATIONS.values())
        gaps = [[back.linear_gap(g, w) for w in width.values] for g in functions]
        return {
            "activation": over([g(a) for g in functions], kind, x),
            "slope": over([back.numerical_slope(g, a) for g in functions], kind, x),
            "odd_gap": x.of(np.abs(np.tanh(a) + np.tanh(-a))),
            "linear_gap": over(gaps, kind, width),
        }

    def _gradients(self, rng: Generator) -> dict[str, Quantity]:
        output, kind = axis("output", OUTPUTS), axis("kind", list(ACTIVATIONS))
        draw, layer = axis("draw", self.draws), axis("layer", ["V", "W"])
        shape = (len(output), len(kind), self.draws)
        signal, gaps = np.empty(shape), np.empty((*shape, 2))
        printed = np.empty((len(output), self.draws))
        for d in range(self.draws):
            x = rng.standard_normal((self.cases, self.inputs))
            x[:, -1] = 1.0
            V = rng.standard_normal((self.hidden, self.inputs))
            W = rng.standard_normal((self.targets, self.hidden + 1))
            for o, name in enumerate(OUTPUTS):
                t = self._targets(name, rng)
                for k, g in enumerate(ACTIVATIONS):
                    b = back.forward(Weights(V, W), x, g)[1]
                    delta = back.outputs(name, b) - t
                    slope = back.differences(lambda b: back.error(name, b, t), b)  # noqa: B023
                    signal[o, k, d] = _relative(delta, slope)
                    found = back.gradient(Weights(V, W), x, t, name, g)
                    right = Weights(
                        back.differences(lambda v: self._error(v, W, x, t, name, g), V),  # noqa: B023
                        back.differences(lambda w: self._error(V, w, x, t, name, g), W),  # noqa: B023
                    )
                    gaps[o, k, d] = [_relative(f, r) for f, r in zip(found, right, strict=True)]
                slope = back.differences(lambda b: back.error_as_printed(name, b, t), b)  # noqa: B023
                printed[o, d] = _relative(delta, slope)
        return {
            "signal_gap": over(signal, output, kind, draw),
            "gradient_gap": over(gaps, output, kind, draw, layer),
            "printed_signal_gap": over(printed, output, draw),
        }

    def _error(self, V: Floats, W: Floats, x: Floats, t: Floats, kind: str, g: str) -> Floats:
        return back.error(kind, back.forward(Weights(V, W), x, g)[1], t)

    def _targets(self, kind: str, rng: Generator) -> Floats:
        shape = (self.cases, self.targets)
        if kind == "regression":
            return rng.standard_normal(shape)
        if kind == "binary":
            return (rng.random(shape) < 0.5).astype(float)
        return np.eye(self.targets)[rng.integers(self.targets, size=self.cases)]

    def _costs(self) -> dict[str, Quantity]:
        """Multiplications of a gradient: forwards and backwards, or by differences."""
        units = axis("units", sorted(self.widths))
        weights, differences, passes = np.empty((3, len(units)), dtype=np.int64)
        for k, hidden in enumerate(units.values.tolist()):
            counted = back.difference_operations(self.inputs, hidden, self.targets, self.cases)
            weights[k], differences[k] = counted
            tally, x = back.Tally(), np.ones((self.cases, self.inputs))
            V, W = np.ones((hidden, self.inputs)), np.ones((self.targets, hidden + 1))
            t = np.zeros((self.cases, self.targets))
            back.gradient(Weights(V, W), x, t, "regression", "tanh", tally)
            passes[k] = tally.count
        return {
            "weights": units.of(weights),
            "difference_operations": units.of(differences),
            "forward_operations": units.of(passes),
        }

    def _surface(self, rng: Generator) -> dict[str, Quantity]:
        """Segments of weight space, and where descents end, for a network of one output."""
        sizes = (1, self.hidden, 1)
        x = np.linspace(-2, 2, 20)[:, None]
        t = np.sin(2 * x) + 0.1 * rng.standard_normal(x.shape)
        ends = 2 * random_start(sizes, 2 * SEGMENTS, rng).reshape(SEGMENTS, 2, -1)
        middle = error_and_gradient(ends.mean(1), sizes, x, t)[0]
        curvature = error_and_gradient(ends, sizes, x, t)[0].mean(1) - middle
        fitted = fit_network(random_start(sizes, STARTS, rng), sizes, x, t, decay=DECAY)
        gradient = error_and_gradient(fitted.theta, sizes, x, t)[1] + DECAY * fitted.theta
        return {
            "curvature": axis("segment", SEGMENTS).of(curvature),
            "descended_gradient": axis("start", STARTS).of(np.abs(gradient).max(1)),
        }


def _relative(found: Floats, right: Floats) -> float:
    """The largest difference, relative to the largest entry."""
    return float(np.abs(found - right).max() / np.abs(right).max())
