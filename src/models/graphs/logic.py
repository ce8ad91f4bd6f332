r"""Rules of first-order logic with weights, unrolled for some objects (MLAPP 19.4.5).

    P_1(x, ...) and P_2(...) => Q(...)     is     not P_1(x, ...) or not P_2(...) or Q(...)    19.34
    p(world) = 1/Z exp(sum over rules and objects of w_c [the clause holds])                   19.36

A world is a row of truth values, one for every ground atom.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from bythebook.models.types import Bools, Floats


class Atom(NamedTuple):
    """A predicate of some variables."""

    predicate: str
    arguments: tuple[str, ...]

    def text(self) -> str:
        return f"{self.predicate}({', '.join(self.arguments)})"

    def about(self, objects: dict[str, str]) -> str:
        """The atom with objects substituted for its variables."""
        return Atom(self.predicate, tuple(objects[name] for name in self.arguments)).text()


class Rule(NamedTuple):
    """All premises together imply the conclusion, for any objects."""

    premises: tuple[Atom, ...]
    conclusion: Atom

    def clause(self) -> str:
        """The rule in clausal form."""
        return " or ".join([*(f"not {a.text()}" for a in self.premises), self.conclusion.text()])

    def atoms(self) -> tuple[Atom, ...]:
        return (*self.premises, self.conclusion)


class Ground(NamedTuple):
    """A rule about certain objects: names of ground atoms."""

    premises: tuple[str, ...]
    conclusion: str


def ground(rule: Rule, constants: Sequence[str], *, apart: bool = False) -> Iterator[Ground]:
    """A rule for all objects in all places; `apart`: different variables, different objects."""
    names = list(dict.fromkeys(name for atom in rule.atoms() for name in atom.arguments))
    for chosen in product(constants, repeat=len(names)):
        if apart and len(set(chosen)) < len(chosen):
            continue
        objects = dict(zip(names, chosen, strict=True))
        yield Ground(tuple(a.about(objects) for a in rule.premises), rule.conclusion.about(objects))


def nodes(grounds: Sequence[Ground]) -> list[str]:
    """The ground atoms, each once."""
    return list(dict.fromkeys(a for one in grounds for a in (*one.premises, one.conclusion)))


def worlds(count: int) -> Bools:
    """All truth values of some atoms, (2^count, count)."""
    return np.array(list(product((False, True), repeat=count))).reshape(-1, count)


def clause_holds(one: Ground, names: Sequence[str], some: Bools) -> Bools:
    """Whether a literal of the clause is true, for each world."""
    false = [~some[:, names.index(atom)] for atom in one.premises]
    return np.asarray(np.logical_or.reduce([*false, some[:, names.index(one.conclusion)]]))


def world_probabilities(held: Sequence[Floats], weights: Sequence[float]) -> Floats:
    """The probability of every world, from how many clauses of each rule hold in it (19.36)."""
    return np.asarray(softmax(sum(w * count for w, count in zip(weights, held, strict=True))))


def interaction_order(one: Ground) -> int:
    """The most variables that act together in a clause: of its expansion in products of +-1."""
    names = nodes([one])
    some = worlds(len(names))
    value, sign = clause_holds(one, names, some).astype(float), np.where(some, 1.0, -1.0)
    for size in range(len(names), 0, -1):
        for places in combinations(range(len(names)), size):
            if abs((value * sign[:, places].prod(1)).mean()) > 1e-12:
                return size
    return 0
