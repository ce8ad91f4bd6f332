"""The mean of a sigmoid under a Gaussian: bounds, moderated outputs, samples (PRML 10.5)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.special import expit

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.approximation import bounds


@dataclass
class SigmoidIntegral(Study):
    """E{1 / (1 + e^-a)} for a ~ N(mean, variance): exact value, bounds and approximations.

    Also two formulas that are printed for such outputs: the error of a network, and an expansion in
    its weights (MLAPP 16.89 and 16.96).
    """

    headline = {"largest_gap": "max(integral - best_bound)"}
    more_quantities = True
    quantities = {
        "best_bound": quantity("largest lower bound on the expected sigmoid", "mean_of_a variance"),
        "integral": quantity("expected sigmoid of a Gaussian variable", "mean_of_a variance"),
    }

    means: list[float] = knob([-2.0, 0.0, 1.0], "of the activation", distinct=True)
    variances: list[float] = knob([1.0, 4.0], "of the activation", above=0, distinct=True)
    contacts: list[float] = knob([1.0], "parameters xi of the bound", at_least=0, distinct=True)
    samples: int = knob(0, "that a mean is taken of; 0: none", at_least=0, at_most=10_000)
    repetitions: int = knob(100, "of sampling", at_least=1, at_most=10_000)

    def run(self, rng: Generator) -> Outcome:
        mean, spread = axis("mean_of_a", self.means), axis("variance", self.variances)
        contact = axis("contact", self.contacts)
        m, v = np.meshgrid(self.means, self.variances, indexing="ij")
        xi = np.array(self.contacts)[:, None, None]
        best = np.array([[bounds.best_contact(a, s) for s in self.variances] for a in self.means])
        touched = axis("touched", [x for x in self.contacts if x > 0] or [1.0])
        sums = [
            bounds.sigmoid_integral(m, v, lambda a, x=x: bounds.gaussian_bound(a, np.array(x)))  # type: ignore[misc]
            for x in self.contacts
        ]
        return Outcome(
            integral=over(bounds.sigmoid_integral(m, v), mean, spread),
            bound=over(bounds.gaussian_integral(m, v, xi), contact, mean, spread),
            bound_quadrature=over(sums, contact, mean, spread),
            best_contact=over(best[..., 0], mean, spread),
            best_bound=over(best[..., 1], mean, spread),
            best_precision=over(1 / v + np.tanh(best[..., 0] / 2) / best[..., 0] / 2, mean, spread),
            touching=touched.of([_touching(x) for x in touched.values]),
            plug_in=mean.of(expit(np.array(self.means))),
            moderated=over(bounds.moderated(m, v), mean, spread),
            **self._sampled(rng),
            **_formulas(rng),
        )

    def _sampled(self, rng: Generator) -> dict[str, Quantity]:
        if not self.samples:
            return {}
        m, sd = np.array(self.means)[:, None, None, None], np.sqrt(self.variances)[:, None, None]
        shape = len(self.means), len(self.variances), self.repetitions, self.samples
        found = expit(m + sd * rng.standard_normal(shape)).mean(-1)
        axes = axis("mean_of_a", self.means), axis("variance", self.variances)
        return {"sampled": over(found, *axes, axis("repetition", self.repetitions))}


def _touching(xi: float) -> int:
    """Number of places where the bound touches the sigmoid: local minima below rounding."""
    x = np.union1d(np.linspace(-12, 12, 4801), [-xi, xi])
    gap = expit(x) - bounds.gaussian_bound(x, np.array(xi))
    least = (gap[1:-1] <= gap[:-2]) & (gap[1:-1] <= gap[2:]) & (np.abs(gap[1:-1]) <= 1e-12)
    places = x[1:-1][least]
    return int((np.diff(places, prepend=-np.inf) > 0.05).sum())


def _formulas(rng: Generator) -> dict[str, Quantity]:
    """The printed error for either class, and expansions of w^T x in the weights."""
    f = axis("output", np.linspace(0.05, 0.95, 19))
    label = axis("label", [0, 1])
    printed = [y * np.log(f.values) + (1 - y) * np.log(f.values) for y in (0, 1)]  # 16.89
    proper = [-np.log(1 - f.values), -np.log(f.values)]
    w, x, step = rng.standard_normal((3, 20, 4))
    truth = ((w + step) * x).sum(-1)
    gaps = [(w * x).sum(-1) + (g * step).sum(-1) - truth for g in (w, x)]  # 16.96
    which = axis("gradient", ["in the input", "in the weights"])
    return {
        "error_printed": over(printed, label, f),
        "error_corrected": over(proper, label, f),
        "expansion_gap": over(gaps, which, axis("case", 20)),
    }
