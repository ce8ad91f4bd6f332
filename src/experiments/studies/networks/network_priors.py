"""Functions drawn from a network's prior as each precision falls (MLAPP 16.5.6.1)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.networks import priors
from bythebook.models.networks.neural_network import layers, predict
from bythebook.models.networks.priors import Precisions
from bythebook.models.types import Floats

SHOWN = 10  # functions per panel
SCALED = (3.0, 0.5)  # inputs and outputs of a rescaled network
SHIFTED = (1.0, -2.0)


@dataclass
class NetworkPriors(Study):
    """Shapes of functions from a network prior, one precision divided (MLAPP 16.5.6.1)."""

    headline = {"dynamic_range": "median(dynamic_range)"}
    more_quantities = True
    quantities = {
        "dynamic_range": quantity(
            "median range of the functions that the prior draws", "reduced repetition"
        ),
    }

    hidden: int = knob(12, "tanh units", at_least=1, at_most=500)
    alpha_v: float = knob(0.01, "precision of the first weights", above=0)
    alpha_b: float = knob(0.1, "of the first biases", above=0)
    alpha_w: float = knob(1.0, "of the second weights", above=0)
    alpha_c: float = knob(1.0, "of the second bias", above=0)
    factor: float = knob(10.0, "by which one of them is divided", above=1)
    draws: int = knob(1000, "functions", at_least=SHOWN, at_most=100_000)
    repetitions: int = knob(20, "such sets of functions", at_least=1, at_most=1000)

    def run(self, rng: Generator) -> Outcome:
        reduced = axis("reduced", ["default", "v", "b", "w", "c"])
        repetition, x = axis("repetition", self.repetitions), axis("x", np.linspace(-1, 1, 61))
        names = priors.Shapes._fields
        found = np.empty((len(names), len(reduced), self.repetitions))
        shown = np.empty((len(reduced), SHOWN, len(x)))
        squares = np.empty((len(reduced), len(Precisions._fields), self.repetitions))
        expected, rescaled = np.empty(len(reduced)), np.empty(self.repetitions)
        base = Precisions(self.alpha_v, self.alpha_b, self.alpha_w, self.alpha_c)
        for k, name in enumerate(reduced.values.tolist()):
            alpha = base.over(name, self.factor)
            expected[k] = priors.expected_square(alpha, self.hidden, x.values)
            for r in range(self.repetitions):
                theta, f = priors.draw_functions(alpha, self.hidden, x.values, self.draws, rng)
                found[:, k, r] = priors.shapes(x.values, f)
                first, second = layers(theta, (1, self.hidden, 1))
                squares[k, :, r] = [(of**2).mean() for of in (*first, *second)]
                if r == 0:
                    shown[k] = f[:SHOWN]
                if k == 0:
                    rescaled[r] = self._rescaled(theta[:SHOWN], x.values, f[:SHOWN])
        return Outcome(
            **{
                name: over(values, reduced, repetition)
                for name, values in zip(names, found, strict=True)
            },
            weight_square=over(squares, reduced, axis("weight", Precisions._fields), repetition),
            expected_square=reduced.of(expected),
            rescaled_gap=repetition.of(rescaled),
            sample=over(shown, reduced, axis("drawn", SHOWN), x),
        )

    def _rescaled(self, theta: Floats, x: Floats, f: Floats) -> float:
        """The largest gap between rescaled functions and those of rescaled weights."""
        (a, c), (b, d) = SCALED, SHIFTED
        moved = priors.rescaled(theta, self.hidden, (a, b), (c, d))
        found = predict(moved, (1, self.hidden, 1), (a * x + b)[:, None])[..., 0]
        return float(np.abs(found - (c * f + d)).max())
