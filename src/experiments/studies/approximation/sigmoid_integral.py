"""The mean of a sigmoid under a Gaussian: bounds, moderated outputs, samples (PRML 10.5)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.special import expit

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.approximation import bounds
from bythebook.models.types import Floats

LATTICE = np.linspace(-8, 8, 321)  # standard deviations of the weights of a unit


@dataclass
class SigmoidIntegral(Study):
    """E{1 / (1 + e^-a)} for a ~ N(mean, variance): exact value, bounds and approximations.

    Also for a network with the activation a = w_2 tanh(w_1 x) and weights N(m, I): exact, with the
    activation linearised at m, and by samples of the weights (MLAPP 16.5.7.4).
    """

    headline = {"largest_gap": "max(integral - best_bound)"}
    quantities = {
        "integral": quantity("expected sigmoid", "mean_of_a variance", equation="PRML 10.145"),
        "bound": quantity(
            "lower bound on the expected sigmoid",
            "contact mean_of_a variance",
            equation="PRML 10.146",
        ),
        "best_bound": quantity("largest lower bound of the family", "mean_of_a variance"),
        "plug_in": quantity("sigmoid of the mean", "mean_of_a"),
        "moderated": quantity("moderated output", "mean_of_a variance", equation="MLAPP 16.98"),
        "network_exact": quantity("expected output of the network"),
        "network_moderated": quantity("moderated output of the linearised network"),
        "network_sampled": quantity("mean output of some sampled networks", "repetition"),
    }
    axes = {
        "mean_of_a": axis_of("mean of the activation"),
        "variance": axis_of("variance of the activation"),
        "contact": axis_of("parameter xi of the bound"),
        "repetition": axis_of("set of samples"),
    }

    means: list[float] = knob([-2.0, 0.0, 1.0], "of the activation", distinct=True)
    variances: list[float] = knob([1.0, 4.0], "of the activation", above=0, distinct=True)
    contacts: list[float] = knob([1.0], "parameters xi of the bound", at_least=0, distinct=True)
    weights: list[float] = knob([1.0, 4.0], "means of the network's two weights")
    input: float = knob(3.0, "of the network")
    samples: int = knob(10, "of the weights, that a mean is taken of", at_least=1, at_most=10_000)
    repetitions: int = knob(100, "of sampling", at_least=1, at_most=10_000)

    def problems(self) -> Iterator[str]:
        if len(self.weights) != 2:
            yield f"study.weights={self.weights}; allowed: two"

    def run(self, rng: Generator) -> Outcome:
        m, v = np.meshgrid(self.means, self.variances, indexing="ij")
        xi = np.array(self.contacts)[:, None, None]
        best = [[bounds.best_contact(a, s)[1] for s in self.variances] for a in self.means]
        w, both = np.array(self.weights), "mean_of_a variance"
        lattice = np.stack(np.meshgrid(LATTICE, LATTICE, indexing="ij"), axis=-1)
        density = np.exp(-(lattice**2).sum(-1) / 2)
        exact = (density * expit(self._activation(w + lattice))).sum() / density.sum()
        sampled = w + rng.standard_normal((self.repetitions, self.samples, 2))
        unit = np.tanh(w[0] * self.input)
        slope = np.array([w[1] * (1 - unit**2) * self.input, unit])  # the gradient in the weights
        linear = bounds.moderated(self._activation(w), slope @ slope)
        return outcome(
            {
                "mean_of_a": self.means,
                "variance": self.variances,
                "contact": self.contacts,
                "repetition": self.repetitions,
            },
            integral=(both, bounds.sigmoid_integral(m, v)),
            bound=(f"contact {both}", bounds.gaussian_integral(m, v, xi)),
            best_bound=(both, best),
            plug_in=("mean_of_a", expit(np.array(self.means))),
            moderated=(both, bounds.moderated(m, v)),
            network_exact=float(exact),
            network_moderated=float(linear),
            network_sampled=("repetition", expit(self._activation(sampled)).mean(-1)),
        )

    def _activation(self, w: Floats) -> Floats:
        return np.asarray(w[..., 1] * np.tanh(w[..., 0] * self.input))
