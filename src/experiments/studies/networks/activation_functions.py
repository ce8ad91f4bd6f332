"""Activation functions of hidden units and their slopes (MLAPP 16.5.4)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.special import expit

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob


@dataclass
class ActivationFunctions(Study):
    """The hyperbolic tangent and the logistic sigmoid, with their slopes (MLAPP 16.5.4)."""

    headline = {"largest_slope": "max(slope)"}
    quantities = {
        "activation": quantity("output of a unit", "function a"),
        "slope": quantity("derivative of the output in the input", "function a"),
    }
    axes = {
        "function": axis_of("activation function"),
        "a": axis_of("input of the unit"),
    }

    reach: float = knob(10.0, "activations are computed from minus this to this", above=0)

    def run(self, rng: Generator) -> Outcome:
        a = np.linspace(-self.reach, self.reach, 81)
        tanh, sigm = np.tanh(a), expit(a)
        return outcome(
            {"function": ["tanh", "sigm"], "a": a},
            activation=("function a", [tanh, sigm]),
            slope=("function a", [1 - tanh**2, sigm * (1 - sigm)]),
        )
