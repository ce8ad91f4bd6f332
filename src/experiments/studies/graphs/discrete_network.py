"""Discrete variables and tables, and the distributions asked of them (PRML 8; FCML 2.2)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, Quantity, axis, over
from experiments.contract.study import Study, knob
from experiments.studies.graphs._scopes import split
from models.graphs.discrete import conditional, marginal, total
from models.graphs.factors import Factor

# FCML 2.2.4: a coin, and somebody who tells heads only four times in five.
COIN = {"coin": ["tails", "heads"], "report": ["tails", "heads"]}
TABLES = {"coin": [0.5, 0.5], "report | coin": [1.0, 0.0, 0.2, 0.8]}


@dataclass
class DiscreteNetwork(Study):
    """Marginals and conditionals of a network or of one joint table, by exact summation."""

    variables: dict[str, list[str]] = knob(
        {}, "the states of each variable, words in quotes; none: FCML's coin and its report"
    )
    factors: dict[str, list[float]] = knob(
        {},
        "tables by variables: 'a, b' joint, b fastest; 'c | a, b' for each a, b a row of c's",
    )
    queries: list[str] = knob(
        [],
        "what to compute: 'a | b, c' is p_a_given_b_c over a, b, c; none: each",
        may_be_empty=True,
    )
    show: list[str] = knob([], "queries to draw; none: all", may_be_empty=True, distinct=True)

    @property
    def states(self) -> dict[str, list[str]]:
        return self.variables or COIN

    @property
    def asked(self) -> dict[str, tuple[list[str], list[str]]]:
        """The queries as what is asked and what is given."""
        return {query: split(query) for query in self.queries or self.states}

    def problems(self) -> Iterator[str]:
        states, tables = self.states, self.factors or TABLES
        for name, outcomes in states.items():
            if not re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name):
                yield f"study.variables: '{name}'; allowed: letters, digits, _"
            if len(set(outcomes)) < max(len(outcomes), 1):
                yield f"study.variables: the states of {name}, {outcomes}; allowed: different ones"
        for where, scopes in (("factors", tables), ("queries", self.asked)):
            for scope in scopes:
                of, given = split(scope)
                named = of + given
                if not of or not set(named) <= set(states) or len(set(named)) < len(named):
                    each = f"each of {', '.join(states)} once, with commas"
                    yield f"study.{where}: '{scope}'; allowed: {each}"
                    return
        for scope, table in tables.items():
            of, given = split(scope)
            rows, columns = (prod(len(states[name]) for name in part) for part in (given, of))
            if len(table) != rows * columns or min(table) < 0:
                size = f"{len(table)} numbers; allowed: {rows * columns}, none below zero"
                yield f"study.factors: '{scope}' has {size}"
            elif given or len(of) == 1:  # a joint table of several is divided by its total
                off = np.abs(np.reshape(table, (rows, columns)).sum(1) - 1).max()
                if off > 1e-9:
                    yield f"study.factors: '{scope}' sums to one but for {off:.6g}; allowed: to one"
        if {name for scope in tables for part in split(scope) for name in part} != set(states):
            yield f"study.factors: {', '.join(tables)}; allowed: tables of all variables"
        if not set(self.show) <= set(self.asked):
            yield f"study.show={self.show}; allowed: among study.queries"

    def _factor(self, scope: str, table: list[float]) -> Factor:
        of, given = split(scope)
        shape = [len(self.states[name]) for name in given + of]
        return Factor((*given, *of), np.reshape(table, shape))

    def run(self, rng: Generator) -> Outcome:
        factors = [self._factor(*entry) for entry in (self.factors or TABLES).items()]
        found: dict[str, Quantity] = {}
        for of, given in self.asked.values():
            table = conditional(factors, of, given) if given else marginal(factors, of)
            axes = [axis(name, self.states[name]) for name in of + given]
            found[quantity_name(of, given)] = over(table, *axes)
        return Outcome(total=total(factors), **found)


def quantity_name(of: list[str], given: list[str]) -> str:
    """`a, b | c` is the quantity p_a_b_given_c."""
    return "_".join(["p", *of, *(["given", *given] if given else [])])
