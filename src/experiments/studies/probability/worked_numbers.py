"""Elementary counts and sums by enumeration (FCML 2.2-2.5, 5.2)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.classification.gaussian_classifier import FULL, NAIVE, parameter_count
from bythebook.models.probability.distributions import tabulate
from bythebook.models.regression.curves import quadrature


@dataclass
class WorkedNumbers(Study):
    """Counts of choices, terms and parameters; an area and a uniform density (FCML 2.2-2.5)."""

    quantities = {
        "ways_to_choose": quantity("ways to choose some of the objects", "chosen"),
        "terms": quantity("number of terms of a sum over all outcomes", "outcomes variables"),
        "covariance_entries": quantity("different entries of a covariance matrix", "dimension"),
        "parameters": quantity("parameters of a Gaussian", "covariance dimension"),
        "area": quantity("area under the line 2x"),
        "uniform_height": quantity("height of the uniform density"),
    }
    axes = {
        "chosen": axis_of("number of objects chosen"),
        "covariance": axis_of("form of the covariance"),
        "dimension": axis_of("number of dimensions"),
        "outcomes": axis_of("outcomes of a variable"),
        "variables": axis_of("number of variables"),
    }

    objects: int = knob(4, "objects to choose from", at_least=1, at_most=16)
    variables: int = knob(8, "most variables in a joint distribution", at_least=2, at_most=16)
    outcomes: list[int] = knob(
        [2], "outcomes of each variable", at_least=2, at_most=6, distinct=True
    )
    area: list[float] = knob([2.0, 3.0], "integrate 2x between these")
    support: list[float] = knob([3.0, 8.0], "a uniform variable lies between these")
    dimensions: int = knob(20, "most dimensions of a Gaussian", at_least=2, at_most=1000)
    show: str = knob("numbers", "what to draw", choices=("numbers", "parameters"))

    def problems(self) -> Iterator[str]:
        for name, pair in (("area", self.area), ("support", self.support)):
            if len(pair) != 2 or pair[0] >= pair[1]:
                yield f"study.{name}={pair}; allowed: two numbers, low < high"
        if max(self.outcomes) ** (self.variables - 1) > 1_000_000:
            yield "study.variables and study.outcomes give more than a million combinations"

    def run(self, rng: Generator) -> Outcome:
        chosen = axis("chosen", self.objects + 1)
        variables = axis("variables", np.arange(2, self.variables + 1))
        dimension = axis("dimension", np.arange(1, self.dimensions + 1))
        ways = [sum(1 for _ in combinations(range(self.objects), y)) for y in chosen.values]
        terms = [
            [sum(1 for _ in product(range(k), repeat=j - 1)) for j in variables.values]
            for k in self.outcomes
        ]
        counts = [[parameter_count(D, kind) for D in dimension.values] for kind in (FULL, NAIVE)]
        low, high = self.area
        rule, law = quadrature(low, high), tabulate("uniform", self.support)
        return Outcome(
            ways_to_choose=chosen.of(ways),  # listed, not computed, like all counts but the last
            terms=over(terms, axis("outcomes", self.outcomes), variables),
            # The entries of a symmetric matrix that can be chosen freely.
            covariance_entries=dimension.of([len(np.triu_indices(D)[0]) for D in dimension.values]),
            parameters=over(counts, axis("covariance", [FULL, NAIVE]), dimension),
            area=(high - low) * (rule.weight @ (2 * rule.x)),
            uniform_height=np.exp(law.log_p[0]),
        )
