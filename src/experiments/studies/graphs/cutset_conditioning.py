"""Cutset conditioning: messages for each value of a cutset (Ghahramani 8.5)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.graphs._joint import shared
from bythebook.experiments.studies.graphs._scopes import drawn, names, scope_problems
from bythebook.models.graphs.cutset import Case, averaged, cases, cut
from bythebook.models.graphs.factors import Factor, clamp, keep, product
from bythebook.models.types import Floats

FIGURE = ["A, C", "B, C", "B, D", "C, D", "C, E", "D, E"]  # Ghahramani Figure 1


@dataclass
class CutsetConditioning(Study):
    """Beliefs averaged over the values of a cutset against the joint table (Ghahramani 8.5).

    Only cutsets that leave no loops are used.
    """

    headline = {"error": "max(error)"}
    more_quantities = True
    quantities = {
        "error": quantity("largest error of a belief", "used draw"),
    }

    factors: list[str] = knob(FIGURE, "scopes of the factors", distinct=True)
    cutsets: list[str] = knob(["C", "D"], "variables to assume, one each time", distinct=True)
    observed: list[str] = knob(["E"], "observed variables", may_be_empty=True, distinct=True)
    states: int = knob(3, "states of each variable", at_least=2, at_most=4)
    draws: int = knob(40, "draws of all tables", at_least=1, at_most=1000)

    def problems(self) -> Iterator[str]:
        yield from scope_problems("factors", self.factors)
        known = names(self.factors)
        for where, some in (("cutsets", self.cutsets), ("observed", self.observed)):
            if not set(some) <= set(known):
                yield f"study.{where}={some}; allowed: {', '.join(known)}"
        graph = drawn(self.factors, self.states, np.random.default_rng(0))
        if all(cut(graph, [name]).loops for name in self.cutsets):
            yield f"study.cutsets={self.cutsets}; allowed: one at least that leaves no loops"
        if len(known) > 8:
            yield f"study.factors: {len(known)} variables; allowed: 8, for all settings count"

    def run(self, rng: Generator) -> Outcome:
        graph = drawn(self.factors, self.states, rng)
        loops = [cut(graph, [name]).loops for name in self.cutsets]
        cutset, draw = axis("cutset", self.cutsets), axis("draw", self.draws)
        used = axis("used", [name for name, n in zip(self.cutsets, loops, strict=True) if not n])
        tried = []
        for _ in range(self.draws):
            given = {name: int(rng.integers(self.states)) for name in self.observed}
            tables = clamp(drawn(self.factors, self.states, rng), given)
            tried.append([self._errors(tables, str(name)) for name in used.values])
        error, weight, plain, runs = np.moveaxis(np.array(tried), (0, 1), (2, 1))
        return Outcome(
            loops=cutset.of(loops),
            error=over(error, used, draw),
            weight_error=over(weight, used, draw),
            unweighted_error=over(plain, used, draw),
            runs=over(runs, used, draw),
        )

    def _errors(self, tables: Sequence[Factor], name: str) -> list[float]:
        """Errors of beliefs, of weights and of a plain average, and the number of messages."""
        joint = product(tables)
        found = cases(tables, [name])
        hidden = [x for x in names(self.factors) if x != name and x not in self.observed]
        right = {x: shared(keep(joint, [x]).table) for x in hidden}
        weights = np.array([case.weight for case in found])
        return [
            max(_apart(averaged(found, x), right[x]) for x in hidden),
            _apart(shared(weights), shared(keep(joint, [name]).table)),
            max(_apart(averaged(_level(found), x), right[x]) for x in hidden),
            len(found),
        ]


def _level(found: Sequence[Case]) -> list[Case]:
    """The same cases with equal weights."""
    return [case._replace(weight=1.0) for case in found]


def _apart(one: Floats, other: Floats) -> float:
    return float(np.abs(one - other).max())
