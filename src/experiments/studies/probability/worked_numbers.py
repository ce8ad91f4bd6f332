"""Elementary numbers by listing what is counted and adding what is summed (FCML 2.2.6-2.5.1)."""

from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar, Series
from experiments.contract.study import Study, knob
from models.probability.distributions import tabulate
from models.regression.curves import quadrature

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure


@dataclass
class WorkedNumbers(Study):
    """Choices, terms of a marginalisation, an area and a uniform density (FCML 2.2-2.5)."""

    objects: int = knob(4, "objects to choose from", at_least=1, at_most=16)
    variables: int = knob(8, "most variables in a joint distribution", at_least=2, at_most=16)
    outcomes: int = knob(2, "outcomes of each variable", at_least=2, at_most=6)
    area: list[float] = knob([2.0, 3.0], "integrate 2x between these")
    support: list[float] = knob([3.0, 8.0], "a uniform variable lies between these")

    def problems(self) -> "Iterator[str]":
        for name, pair in (("area", self.area), ("support", self.support)):
            if len(pair) != 2 or pair[0] >= pair[1]:
                yield f"study.{name}={pair}; allowed: two numbers, low < high"
        if self.outcomes**self.variables > 1_000_000:
            yield "study.variables and study.outcomes give more than a million combinations"

    def run(self, rng: Generator) -> Outcome:
        metrics: dict[str, Scalar] = {}
        for y in range(self.objects + 1):
            ways = len(list(combinations(range(self.objects), y)))  # listed, not computed
            metrics[f"ways_to_choose_{y}"] = ways
        J = list(range(2, self.variables + 1))
        terms = [sum(1 for _ in product(range(self.outcomes), repeat=j - 1)) for j in J]
        metrics |= {f"terms_with_{j}_variables": count for j, count in zip(J, terms, strict=True)}
        metrics["terms_grow_by_power"] = bool(
            all(count == self.outcomes ** (j - 1) for j, count in zip(J, terms, strict=True))
        )
        low, high = self.area
        rule = quadrature(low, high)
        metrics["area"] = float((high - low) * (rule.weight @ (2 * rule.x)))
        law = tabulate("uniform", self.support)
        metrics["uniform_height"] = float(np.exp(law.log_p[0]))
        metrics["uniform_total"] = float(law.weight.sum())
        return Outcome(metrics, {"terms": Series(J, [float(count) for count in terms])})

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels
        from experiments.drawing.clusters import whole_steps

        figure, axes = panels(1, 3)
        steps, values = outcome.series["terms"]
        axes[0].plot(steps, values, "o-")
        axes[0].set(xlabel="variables J", ylabel="terms of a marginal sum", yscale="log")
        whole_steps(axes[0])
        (low, high), top = self.area, self.area[1] + 1
        axes[1].plot([0, top], [0, 2 * top])
        axes[1].fill_between([low, high], [2 * low, 2 * high], color="C1", alpha=0.4)
        axes[1].set(xlabel="x", ylabel="y = 2x", title=f"area {outcome.metrics['area']:g}")
        a, b = self.support
        height = outcome.metrics["uniform_height"]
        axes[2].plot([a - 1, a, a, b, b, b + 1], [0, 0, height, height, 0, 0])
        axes[2].set(xlabel="y", ylabel="p(y)", ylim=(None, 1.3 * height))
        return {"numbers": figure}
