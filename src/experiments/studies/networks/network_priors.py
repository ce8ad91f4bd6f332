"""Functions drawn from a network's prior as each precision falls (MLAPP 16.5.6.1)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.networks import priors
from bythebook.models.networks.priors import Precisions

SHOWN = 10  # functions per panel


@dataclass
class NetworkPriors(Study):
    """Shapes of functions from a network prior, one precision divided (MLAPP 16.5.6.1)."""

    headline = {"dynamic_range": "median(dynamic_range)"}
    quantities = {
        "steepness": quantity(
            "median of the largest slope, in units of a function's own range", "reduced repetition"
        ),
        "centre_spread": quantity(
            "interquartile range of the place of the largest slope", "reduced repetition"
        ),
        "sensitivity": quantity("median of the mean absolute slope", "reduced repetition"),
        "dynamic_range": quantity("median range of the functions", "reduced repetition"),
        "level_spread": quantity(
            "standard deviation of the mean over the inputs", "reduced repetition"
        ),
        "sample": quantity("drawn functions", "reduced drawn x"),
    }
    axes = {
        "reduced": axis_of("precision that is divided"),
        "repetition": axis_of("set of functions"),
        "drawn": axis_of("function"),
        "x": axis_of("input"),
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
        reduced, x = ["default", "v", "b", "w", "c"], np.linspace(-1, 1, 61)
        names = priors.Shapes._fields
        found = np.empty((len(names), len(reduced), self.repetitions))
        shown = np.empty((len(reduced), SHOWN, len(x)))
        base = Precisions(self.alpha_v, self.alpha_b, self.alpha_w, self.alpha_c)
        for k, name in enumerate(reduced):
            alpha = base.over(name, self.factor)
            for r in range(self.repetitions):
                f = priors.draw_functions(alpha, self.hidden, x, self.draws, rng)
                found[:, k, r] = priors.shapes(x, f)
                if r == 0:
                    shown[k] = f[:SHOWN]
        return outcome(
            {"reduced": reduced, "repetition": self.repetitions, "drawn": SHOWN, "x": x},
            **{
                name: ("reduced repetition", values)
                for name, values in zip(names, found, strict=True)
            },
            sample=("reduced drawn x", shown),
        )
