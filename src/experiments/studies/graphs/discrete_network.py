"""Networks of discrete variables and tables, and queries on them (PRML 8; FCML 2.2)."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.graphs._scopes import links_of, split
from bythebook.models.graphs.discrete import conditional, connected, marginal
from bythebook.models.graphs.elimination import treewidth
from bythebook.models.graphs.estimates import State, estimates, summed_first_width
from bythebook.models.graphs.factors import Factor, scope
from bythebook.models.types import Floats

# FCML 2.2.4: a coin, and a person who reports heads correctly only four times in five.
COIN = {"coin": ["tails", "heads"], "report": ["tails", "heads"]}
TABLES = {"coin": [0.5, 0.5], "report | coin": [1.0, 0.0, 0.2, 0.8]}
ESTIMATES = ("map", "mpe", "mpm", "maxed")
NUISANCE = 6  # variables to be summed out, whose orders are all tried


@dataclass
class DiscreteNetwork(Study):
    """Marginals and conditionals of a network or of one joint table, by exact summation.

    Also single settings: the most probable one of some variables with the others summed out (MAP)
    or maximised out (MPE), and the maximiser of each variable's marginal (MPM) and of its maxima
    over all others.
    """

    headline = {"p": "max(p)"}
    quantities = {
        "p": quantity("probability, with the first draw of tables without numbers", "event"),
        "setting": quantity("states of the variables asked for", "estimate asked draw"),
        "probability": quantity("probability of the setting", "estimate asked draw"),
        "wrong": quantity("expected number of variables in another state", "estimate asked draw"),
        "summed_first_width": quantity(
            "width of the best order that sums before it maximises", "asked"
        ),
        "free_width": quantity("width of the best order", "asked"),
    }
    axes = {
        "event": axis_of("states of variables, given those after the bar"),
        "estimate": axis_of("estimate: alone, with all others, and the maximum of each"),
        "asked": axis_of("variables asked for"),
        "draw": axis_of("draw of the tables"),
    }

    variables: dict[str, list[str]] = knob(
        {}, "the states of each variable, words in quotes; none: FCML's coin and its report"
    )
    factors: dict[str, list[float]] = knob(
        {},
        "tables by variables: 'a, b' joint, b fastest; 'c | a, b' for each a, b a row of c's; "
        "without numbers: drawn",
    )
    queries: list[str] = knob(
        [],
        "what to compute: 'a | b, c' for all states of a, b and c; none: each variable",
        may_be_empty=True,
    )
    maximise: list[str] = knob([], "'a, b': settings of a, b", may_be_empty=True, distinct=True)
    draws: int = knob(1, "of tables without numbers", at_least=1, at_most=10_000)
    forbidden: float = knob(0.0, "share of zeros in tables drawn", at_least=0, below=1)

    @property
    def states(self) -> dict[str, list[str]]:
        return self.variables or COIN

    @property
    def tables(self) -> dict[str, list[float]]:
        """All tables with their numbers; drawn tables have none."""
        return self.factors or TABLES

    @property
    def parsed_queries(self) -> dict[str, tuple[list[str], list[str]]]:
        """Each query as its variables and its conditions."""
        return {query: split(query) for query in self.queries or self.states}

    def problems(self) -> Iterator[str]:
        states = self.states
        for name, outcomes in states.items():
            if not re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name):
                yield f"study.variables: '{name}'; allowed: letters, digits, _"
            if len(set(outcomes)) < max(len(outcomes), 1):
                yield f"study.variables: the states of {name}, {outcomes}; allowed: different ones"
        written: dict[str, Iterable[str]] = {
            "factors": self.tables,
            "queries": self.parsed_queries,
            "maximise": self.maximise,
        }
        for where, scopes in written.items():
            for text in scopes:
                of, given = split(text)
                named = of + given
                if not of or not set(named) <= set(states) or len(set(named)) < len(named):
                    each = f"each of {', '.join(states)} once, with commas"
                    yield f"study.{where}: '{text}'; allowed: {each}"
                    return
        yield from self._wrong_tables()
        if {name for text in self.tables for name in _all(text)} != set(states):
            yield f"study.factors: {', '.join(self.tables)}; allowed: tables of all variables"
        for text in self.maximise:
            of, given = split(text)
            if given or len(scope(connected(self._factors(None), of))) - len(of) > NUISANCE:
                yield f"study.maximise: '{text}'; allowed: no bar, {NUISANCE} other variables"

    def _wrong_tables(self) -> Iterator[str]:
        for text, table in self.tables.items():
            of, given = split(text)
            rows, columns = (prod(len(self.states[name]) for name in part) for part in (given, of))
            if not table:
                continue
            if len(table) != rows * columns or min(table) < 0:
                size = f"{len(table)} numbers; allowed: {rows * columns}, none below zero"
                yield f"study.factors: '{text}' has {size}"
            elif given or len(of) == 1:  # a joint table of several is divided by its total
                off = np.abs(np.reshape(table, (rows, columns)).sum(1) - 1).max()
                if off > 1e-9:
                    yield f"study.factors: '{text}': the sum is off by {off:.6g}; allowed: 1"

    def _factors(self, rng: Generator | None) -> list[Factor]:
        """All factors, one draw; without a generator, tables without numbers are of ones."""
        found = []
        for text, table in self.tables.items():
            of, given = split(text)
            shape = [len(self.states[name]) for name in given + of]
            rows = table or self._rows(shape, len(of), rng)
            found.append(Factor((*given, *of), np.reshape(rows, shape)))
        return found

    def _rows(self, shape: list[int], last: int, rng: Generator | None) -> Floats:
        """Random rows that sum to one over the last axes, some of their entries zero."""
        rows, columns = prod(shape[: len(shape) - last]), prod(shape[len(shape) - last :])
        if rng is None:
            return np.ones((rows, columns))
        table = rng.dirichlet(np.ones(columns), rows)
        zero = rng.random((rows, columns)) < self.forbidden
        zero[np.arange(rows), rng.integers(columns, size=rows)] = False  # one stays in each row
        table[zero] = 0
        return np.asarray(table / table.sum(1, keepdims=True))

    def run(self, rng: Generator) -> Outcome:
        draws = [self._factors(rng) for _ in range(self.draws)]
        p = {
            event: value
            for of, given in self.parsed_queries.values()
            for event, value in zip(
                self.events(of, given), _table(draws[0], of, given).ravel(), strict=True
            )
        }
        found = ("event", list(p.values()))
        if not self.maximise:
            return outcome({"event": list(p)}, p=found)
        asked = [split(text)[0] for text in self.maximise]
        each = [[estimates(connected(factors, of), of) for factors in draws] for of in asked]
        states = [[[getattr(e, way) for e in row] for row in each] for way in ESTIMATES]
        widths = [self._widths(of) for of in asked]

        def over_draws(number: Callable[[int, int, int], Any]) -> tuple[str, Any]:
            """A value for each estimate, each question and each draw."""
            shape = len(ESTIMATES), len(asked), self.draws
            cells = [number(*cell) for cell in np.ndindex(*shape)]
            return "estimate asked draw", np.reshape(np.array(cells), shape)

        return outcome(
            {
                "event": list(p),
                "estimate": ESTIMATES,
                "asked": self.maximise,
                "draw": self.draws,
            },
            p=found,
            setting=over_draws(lambda e, a, d: self._state_names(asked[a], states[e][a][d])),
            probability=over_draws(lambda e, a, d: each[a][d].p[states[e][a][d]]),
            wrong=over_draws(lambda e, a, d: each[a][d].wrong(states[e][a][d])),
            summed_first_width=("asked", [first for first, _ in widths]),
            free_width=("asked", [free for _, free in widths]),
        )

    def events(self, of: list[str], given: list[str]) -> list[str]:
        """The states of a query's variables, as "a=0, b=1 | c=0", the last one fastest."""
        return [
            " | ".join(
                ", ".join(f"{name}={state}" for name, state in part)
                for part in (pairs[: len(of)], pairs[len(of) :])
                if part
            )
            for setting in product(*(self.states[name] for name in of + given))
            for pairs in [list(zip(of + given, setting, strict=True))]
        ]

    def _state_names(self, of: list[str], state: State) -> str:
        return " ".join(self.states[name][k] for name, k in zip(of, state, strict=True))

    def _widths(self, of: list[str]) -> tuple[int, int]:
        """Widths of the best order that sums before it maximises, and of the best order of all."""
        about = connected(self._factors(None), of)
        order = list(scope(about))
        graph = links_of([", ".join(factor.variables) for factor in about], order)
        return summed_first_width(graph, frozenset(map(order.index, of))), treewidth(graph)


def _all(text: str) -> list[str]:
    of, given = split(text)
    return of + given


def _table(factors: list[Factor], of: list[str], given: list[str]) -> Floats:
    about = connected(factors, of + given)
    return conditional(about, of, given) if given else marginal(about, of)
