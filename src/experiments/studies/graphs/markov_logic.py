"""Markov logic networks: weighted rules as a random field over ground atoms (MLAPP 19.4.5)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.graphs.logic import (
    Atom,
    Ground,
    Rule,
    clause_holds,
    ground,
    interaction_order,
    nodes,
    world_probabilities,
    worlds,
)
from bythebook.models.graphs.structure import dag, order
from bythebook.models.types import Floats

SMOKERS = {"cancer": "Sm(x) => Ca(x)", "friends": "Fr(x, y) and Sm(x) => Sm(y)"}
ATOM = r"([A-Za-z]\w*)\(([^()]*)\)"
LARGEST = 15  # ground atoms at most, all of whose worlds are enumerated


def parsed(text: str) -> Rule | None:
    """Parse a rule such as "P(x) and Q(x, y) => R(y)"; None if it is not one."""
    before, arrow, behind = text.partition("=>")
    parts = [re.fullmatch(ATOM, part.strip()) for part in [*before.split(" and "), behind]]
    if not arrow or None in parts:
        return None
    atoms = [
        Atom(one[1], tuple(name.strip() for name in one[2].split(","))) for one in parts if one
    ]
    return Rule(tuple(atoms[:-1]), atoms[-1])


@dataclass
class MarkovLogic(Study):
    """Marginals of ground atoms and shares of true rules, over all worlds (MLAPP 19.4.5)."""

    headline = {"nodes": "size(marginal)"}
    quantities = {
        "marginal": quantity("probability that a ground atom is true", "node"),
        "probability_of_pair": quantity("probability that two ground atoms are true", "node other"),
        "satisfied": quantity(
            "mean share of a rule's ground clauses that hold, with its own weight changed",
            "rule weight",
        ),
        "clause": quantity("the rule in clausal form", "rule"),
        "interaction_order": quantity(
            "largest number of variables that interact in a ground clause", "rule"
        ),
        "link_count": quantity("number of pairs of ground atoms that share a clause"),
        "rules_are_acyclic": quantity(
            "whether arrows from premises to conclusions form no directed cycle"
        ),
        "nodes_without_equals": quantity("number of ground atoms if variables must differ"),
    }
    axes = {
        "node": axis_of("ground atom"),
        "other": axis_of("ground atom"),
        "rule": axis_of("rule"),
        "weight": axis_of("weight of the rule"),
    }

    rules: dict[str, str] = knob({}, "by name: 'P(x) and Q(x, y) => R(y)'; none: two on smokers")
    weights: list[float] = knob([1.0, 1.0], "w, one for each rule")
    constants: list[str] = knob(["A", "B"], "the objects", distinct=True)
    swept: list[float] = knob([0.0, 1.0, 2.0], "weights of one rule at a time", distinct=True)

    @property
    def known(self) -> dict[str, Rule]:
        found = {name: parsed(text) for name, text in (self.rules or SMOKERS).items()}
        return {name: rule for name, rule in found.items() if rule}

    def problems(self) -> Iterator[str]:
        for name, text in (self.rules or SMOKERS).items():
            if not parsed(text):
                yield f"study.rules: {name}: '{text}'; allowed: 'P(x) and Q(x, y) => R(y)'"
                return
        if len(self.weights) != len(self.known):
            yield f"study.weights={self.weights}; allowed: {len(self.known)} numbers"
        count = len(nodes(self._ground()))
        if count > LARGEST:
            yield f"study.constants={self.constants}: {count} atoms; allowed: up to {LARGEST}"

    def _ground(self, *, apart: bool = False) -> list[Ground]:
        rules = self.known.values()
        return [one for rule in rules for one in ground(rule, self.constants, apart=apart)]

    def run(self, rng: Generator) -> Outcome:
        every = self._ground()
        names = nodes(every)
        some = worlds(len(names))
        each = [list(ground(one, self.constants)) for one in self.known.values()]
        holds = [np.array([clause_holds(g, names, some) for g in grounds]) for grounds in each]
        counts = [one.sum(0).astype(float) for one in holds]
        p = world_probabilities(counts, self.weights)
        links = {
            pair
            for one in every
            for pair in combinations(sorted({*one.premises, one.conclusion}), 2)
        }
        return outcome(
            {"node": names, "other": names, "rule": list(self.known), "weight": self.swept},
            marginal=("node", p @ some),
            probability_of_pair=("node other", (some * p[:, None]).T @ some),
            satisfied=("rule weight", self._swept(counts, [len(g) for g in each])),
            clause=("rule", [one.clause() for one in self.known.values()]),
            interaction_order=("rule", [max(map(interaction_order, g)) for g in each]),
            link_count=len(links),
            rules_are_acyclic=_acyclic(every, names),
            nodes_without_equals=len(nodes(self._ground(apart=True))),
        )

    def _swept(self, counts: list[Floats], most: list[int]) -> Floats:
        """The share of each rule's clauses that hold, as its own weight changes."""
        found = np.empty((len(self.known), len(self.swept)))
        for k, w in np.ndindex(*found.shape):
            changed = [*self.weights[:k], self.swept[w], *self.weights[k + 1 :]]
            found[k, w] = world_probabilities(counts, changed) @ counts[k] / most[k]
        return found


def _acyclic(every: list[Ground], names: list[str]) -> bool:
    """Whether arrows from premises to conclusions form no directed cycle, self-arrows ignored."""
    pairs = {(a, one.conclusion) for one in every for a in one.premises if a != one.conclusion}
    graph = dag(len(names), [(names.index(a), names.index(b)) for a, b in pairs])
    return order(graph) is not None
