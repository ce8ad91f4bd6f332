"""Markov logic networks: weighted rules as a random field over ground atoms (MLAPP 19.4.5)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.graphs.logic import (
    Atom,
    Ground,
    Rule,
    clause_holds,
    ground,
    implication_holds,
    interaction_order,
    nodes,
    world_probabilities,
    worlds,
)
from bythebook.models.graphs.structure import dag, order
from bythebook.models.types import Bools, Floats

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
    more_quantities = True
    quantities = {
        "marginal": quantity("probability that a ground atom is true", "node"),
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
        rule, node = axis("rule", list(self.known)), axis("node", names)
        each = [list(ground(one, self.constants)) for one in self.known.values()]
        holds = [np.array([clause_holds(g, names, some) for g in grounds]) for grounds in each]
        counts = [one.sum(0).astype(float) for one in holds]
        p = world_probabilities(counts, self.weights)
        return Outcome(
            clause=rule.of([one.clause() for one in self.known.values()]),
            clause_disagrees=rule.of(
                [_disagree(g, h, names, some) for g, h in zip(each, holds, strict=True)]
            ),
            interaction_order=rule.of([max(map(interaction_order, g)) for g in each]),
            rules_are_acyclic=_acyclic(every, names),
            nodes_without_equals=len(nodes(self._ground(apart=True))),
            marginal=node.of(p @ some),
            probability_of_pair=over((some * p[:, None]).T @ some, node, axis("other", names)),
            satisfied=self._swept(counts, [len(g) for g in each]),
            **self._ratios(p, holds, some),
        )

    def _swept(self, counts: list[Floats], most: list[int]) -> Quantity:
        """The share of each rule's clauses that hold, as its own weight changes."""
        rule, weight = axis("rule", list(self.known)), axis("weight", self.swept)
        found = np.empty((len(rule), len(weight)))
        for k, w in np.ndindex(*found.shape):
            changed = [*self.weights[:k], self.swept[w], *self.weights[k + 1 :]]
            found[k, w] = world_probabilities(counts, changed) @ counts[k] / most[k]
        return over(found, rule, weight)

    def _ratios(self, p: Floats, holds: list[Bools], some: Bools) -> dict[str, Quantity]:
        """Probability ratios of worlds that differ in one atom and in one ground clause."""
        states = np.concatenate(holds).T  # (world, ground clause)
        owner = np.repeat(self.weights, [len(h) for h in holds])
        ratio, weight = [], []
        for atom in range(some.shape[1]):
            off = np.flatnonzero(~some[:, atom])
            on = off + (1 << (some.shape[1] - 1 - atom))
            alone = (states[off] != states[on]).sum(1) == 1
            for a, b in zip(off[alone], on[alone], strict=True):
                clause = int(np.argmax(states[a] != states[b]))
                high, low = (a, b) if states[a, clause] else (b, a)
                ratio.append(p[high] / p[low])
                weight.append(owner[clause])
        pair = axis("pair", len(ratio))
        return {"world_ratio": pair.of(ratio), "ratio_weight": pair.of(weight)}


def _disagree(grounds: list[Ground], holds: Bools, names: list[str], some: Bools) -> int:
    """Number of ground clauses and worlds for which clause and implication differ."""
    worlds = [dict(zip(names, world.tolist(), strict=True)) for world in some]
    return sum(
        implication_holds(one, world) != bool(row[k])
        for one, row in zip(grounds, holds, strict=True)
        for k, world in enumerate(worlds)
    )


def _acyclic(every: list[Ground], names: list[str]) -> bool:
    """Whether arrows from premises to conclusions form no directed cycle, self-arrows ignored."""
    pairs = {(a, one.conclusion) for one in every for a in one.premises if a != one.conclusion}
    graph = dag(len(names), [(names.index(a), names.index(b)) for a, b in pairs])
    return order(graph) is not None
