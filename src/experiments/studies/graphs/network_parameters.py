"""Tables of a network from complete and incomplete data: coupling and EM (Ghahramani 9.1)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.graphs._scopes import scope_problems, split
from bythebook.models.graphs.parameters import (
    Family,
    Seen,
    coupling,
    drawn,
    em,
    family,
    log_likelihood,
    log_prior,
    seen,
)
from bythebook.models.graphs.structure import Dag, dag
from bythebook.models.types import Floats

FIGURE_1 = ["A", "B", "C | A, B", "D | B, C", "E | C, D"]
KINDS = ("missing", "posterior, missing", "hidden")


@dataclass
class NetworkParameters(Study):
    """Second derivatives of the log likelihood across tables, and EM from random tables.

    The objective "missing" has the largest share of missing entries, "posterior" adds a beta prior
    (2, 2) for each row, and "hidden" has variables that are never observed.
    """

    headline = {"log likelihood": "mean(last(log_likelihood, over='iteration'))"}
    quantities = {
        "coupling": quantity(
            "largest second derivative of the objective across the tables of two variables",
            "kind draw family other",
        ),
        "min_coupling": quantity("smallest coupling of two different tables", "kind draw"),
        "log_likelihood": quantity(
            "log likelihood of the observed entries", "draw missing iteration", unit="nats"
        ),
        "hidden_log_likelihood": quantity(
            "log likelihood with hidden variables", "draw iteration", unit="nats"
        ),
        "true_log_likelihood": quantity(
            "log likelihood of the parameters that made the data", "draw missing", unit="nats"
        ),
    }
    axes = {
        "kind": axis_of("objective"),
        "draw": axis_of("network and data"),
        "family": axis_of("variable of a table"),
        "other": axis_of("variable of another table"),
        "missing": axis_of("share of the entries that are missing"),
        "iteration": axis_of("iteration of EM"),
    }

    factors: list[str] = knob(FIGURE_1, "'child | parents', binary, parents first", distinct=True)
    missing: list[float] = knob(
        [0.0, 0.3], "shares of entries missing", at_least=0, below=1, distinct=True
    )
    hidden: list[str] = knob([], "variables never observed", may_be_empty=True, distinct=True)
    points: int = knob(200, "N, data points", at_least=1, at_most=100_000)
    iterations: int = knob(60, "of EM", at_least=1, at_most=10_000)
    draws: int = knob(20, "networks with data", at_least=1, at_most=1000)

    @property
    def names(self) -> list[str]:
        return [split(scope)[0][0] for scope in self.factors if split(scope)[0]]

    @property
    def graph(self) -> Dag:
        pairs = [(p, split(scope)[0][0]) for scope in self.factors for p in split(scope)[1]]
        return dag(len(self.names), [(self.names.index(a), self.names.index(b)) for a, b in pairs])

    def problems(self) -> Iterator[str]:
        yield from scope_problems("factors", self.factors)
        for k, scope in enumerate(self.factors):
            if not set(split(scope)[1]) <= set(self.names[:k]):
                yield f"study.factors: '{scope}'; allowed: parents before children"
        if len(set(self.names)) < len(self.factors) or not 2 <= len(self.names) <= 7:
            yield f"study.factors: {self.names}; allowed: one table for each of 2 to 7 variables"
        if not set(self.hidden) < set(self.names):
            yield f"study.hidden={self.hidden}; allowed: some of {', '.join(self.names)}"

    def run(self, rng: Generator) -> Outcome:
        of, M = family(self.graph), len(self.names)
        linked = np.empty((len(KINDS), self.draws, M, M))
        course = np.empty((self.draws, len(self.missing), self.iterations + 1))
        hidden_course, true = np.empty(course.shape[::2]), np.empty(course.shape[:2])
        unseen = [name in self.hidden for name in self.names]
        for d in range(self.draws):
            # Logits of probabilities that are uniform between zero and one.
            theta, start, elsewhere = (rng.logistic(size=len(of.owner)) for _ in range(3))
            complete = drawn(of, theta, rng.random(self.points))
            lost = rng.random(complete.shape)
            data = [seen(of, np.where(lost < s, -1, complete)) for s in self.missing]
            never = seen(of, np.where(unseen, -1, complete))
            most = data[int(np.argmax(self.missing))]
            linked[:, d] = _coupled(of, most, never, elsewhere)
            for k, what in enumerate(data):
                course[d, k] = self._em_log_likelihoods(of, what, start)
                true[d, k] = log_likelihood(of, what, theta)
            hidden_course[d] = self._em_log_likelihoods(of, never, start)
        return outcome(
            {
                "kind": KINDS,
                "draw": self.draws,
                "family": self.names,
                "other": self.names,
                "missing": self.missing,
                "iteration": self.iterations + 1,
            },
            coupling=("kind draw family other", linked),
            min_coupling=("kind draw", linked[..., *np.triu_indices(M, 1)].min(-1)),
            log_likelihood=("draw missing iteration", course),
            hidden_log_likelihood=("draw iteration", hidden_course),
            true_log_likelihood=("draw missing", true),
        )

    def _em_log_likelihoods(self, of: Family, what: Seen, start: Floats) -> list[float]:
        steps = islice(em(of, what, start), self.iterations + 1)
        return [float(log_likelihood(of, what, theta)) for theta in steps]


def _coupled(of: Family, most: Seen, never: Seen, theta: Floats) -> list[Floats]:
    """Second derivatives across families of each kind of objective."""
    objectives = {
        "missing": lambda t: log_likelihood(of, most, t),
        "posterior, missing": lambda t: log_likelihood(of, most, t) + log_prior(t),
        "hidden": lambda t: log_likelihood(of, never, t),
    }
    return [coupling(of, objectives[kind], theta) for kind in KINDS]
