"""Networks of discrete variables and tables, and queries on them (PRML 8; FCML 2.2)."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.graphs._scopes import links_of, split
from bythebook.models.graphs.discrete import conditional, connected, marginal, noisy_or, total
from bythebook.models.graphs.elimination import treewidth
from bythebook.models.graphs.estimates import State, estimates, summed_first_width
from bythebook.models.graphs.factors import Factor, scope
from bythebook.models.types import Floats

# FCML 2.2.4: a coin, and a person who reports heads correctly only four times in five.
COIN = {"coin": ["tails", "heads"], "report": ["tails", "heads"]}
TABLES = {"coin": [0.5, 0.5], "report | coin": [1.0, 0.0, 0.2, 0.8]}
WAYS = ("map", "mpe", "mpm", "maxed")
NUISANCE = 6  # variables to be summed out, whose orders are all tried


@dataclass
class DiscreteNetwork(Study):
    """Marginals and conditionals of a network or of one joint table, by exact summation.

    Also single settings: the most probable one of some variables with the others summed out (MAP)
    or maximised out (MPE), and the maximiser of each variable's marginal (MPM) and of its maxima
    over all others.
    """

    variables: dict[str, list[str]] = knob(
        {}, "the states of each variable, words in quotes; none: FCML's coin and its report"
    )
    factors: dict[str, list[float]] = knob(
        {},
        "tables by variables: 'a, b' joint, b fastest; 'c | a, b' for each a, b a row of c's; "
        "without numbers: drawn",
    )
    noisy_or: dict[str, list[float]] = knob(
        {}, "instead of a table, of variables of two states: 'c | a, b' with mu_0, mu_a, mu_b"
    )
    queries: list[str] = knob(
        [],
        "what to compute: 'a | b, c' is p_a_given_b_c over a, b, c; none: each",
        may_be_empty=True,
    )
    maximise: list[str] = knob([], "'a, b': settings of a, b", may_be_empty=True, distinct=True)
    draws: int = knob(1, "of tables without numbers", at_least=1, at_most=10_000)
    forbidden: float = knob(0.0, "share of zeros in tables drawn", at_least=0, below=1)
    show: list[str] = knob([], "queries to draw; none: all", may_be_empty=True, distinct=True)

    @property
    def states(self) -> dict[str, list[str]]:
        return self.variables or COIN

    @property
    def tables(self) -> dict[str, list[float]]:
        """All tables with their numbers; drawn tables have none."""
        found = dict(self.factors or TABLES)
        for given, mu in self.noisy_or.items():
            found[given] = noisy_or(mu).ravel().tolist()
        return found

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
            "factors": self.factors or TABLES,
            "noisy_or": self.noisy_or,
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
        if not set(self.show) <= set(self.parsed_queries):
            yield f"study.show={self.show}; allowed: among study.queries"
        for text in self.maximise:
            of, given = split(text)
            if given or len(scope(connected(self._factors(None), of))) - len(of) > NUISANCE:
                yield f"study.maximise: '{text}'; allowed: no bar, {NUISANCE} other variables"

    def _wrong_tables(self) -> Iterator[str]:
        for text, mu in self.noisy_or.items():
            of, given = split(text)
            two = all(len(self.states[name]) == 2 for name in of + given)
            between = len(mu) == 1 + len(given) and 0 <= min(mu) <= max(mu) <= 1
            if len(of) > 1 or not two or not between:
                size = f"{1 + len(given)} numbers between 0 and 1, two states of each"
                yield f"study.noisy_or: '{text}'; allowed: {size}"
                return
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
        found: dict[str, Quantity] = {}
        for of, given in self.parsed_queries.values():
            axes = [axis(name, self.states[name]) for name in of + given]
            if self._is_drawn(of + given):
                tables = [_table(factors, of, given) for factors in draws]
                found[quantity_name(of, given)] = over(tables, axis("draw", self.draws), *axes)
            else:
                found[quantity_name(of, given)] = over(_table(draws[0], of, given), *axes)
        return Outcome(total=total(draws[0]), **found, **self._settings(draws))

    def _is_drawn(self, names: list[str]) -> bool:
        """Whether the distribution of some variables depends on a drawn table."""
        drawn = {name for text, table in self.tables.items() if not table for name in _all(text)}
        return bool(drawn & set(scope(connected(self._factors(None), names))))

    def _settings(self, draws: list[list[Factor]]) -> dict[str, Quantity]:
        """Maximising settings of variables, their probabilities and expected errors."""
        if not self.maximise:
            return {}
        maximised, draw = axis("asked", self.maximise), axis("draw", self.draws)
        rows = [
            [estimates(connected(factors, split(text)[0]), split(text)[0]) for factors in draws]
            for text in self.maximise
        ]
        found: dict[str, Quantity] = {}
        for way in WAYS:
            settings = [
                [self._state_names(text, getattr(one, way)) for one in row]
                for text, row in zip(self.maximise, rows, strict=True)
            ]
            found[f"{way}_setting"] = over(settings, maximised, draw)
            if way != "maxed":
                chance = [[one.p[getattr(one, way)] for one in row] for row in rows]
                wrong = [[one.wrong(getattr(one, way)) for one in row] for row in rows]
                found[f"{way}_probability"] = over(chance, maximised, draw)
                found[f"{way}_wrong"] = over(wrong, maximised, draw)
        widths = [self._widths(split(text)[0]) for text in self.maximise]
        found["summed_first_width"] = maximised.of([first for first, _ in widths])
        found["free_width"] = maximised.of([free for _, free in widths])
        return found

    def _state_names(self, text: str, state: State) -> str:
        named = zip(split(text)[0], state, strict=True)
        return " ".join(self.states[name][k] for name, k in named)

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


def quantity_name(of: list[str], given: list[str]) -> str:
    """Name of the quantity of a query: p_a_b_given_c for "a, b | c"."""
    return "_".join(["p", *of, *(["given", *given] if given else [])])
