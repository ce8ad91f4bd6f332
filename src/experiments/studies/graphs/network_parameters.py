"""Tables of a network from complete and incomplete data: coupling and EM (Ghahramani 9.1)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.graphs._scopes import scope_problems, split
from bythebook.models.graphs.elimination import eliminate
from bythebook.models.graphs.factors import Factor, condition, keep, normalised, product
from bythebook.models.graphs.parameters import (
    Family,
    Seen,
    coupling,
    drawn,
    em,
    expected_counts,
    family,
    fitted,
    gradient,
    log_likelihood,
    log_prior,
    seen,
    table,
)
from bythebook.models.graphs.structure import Dag, dag
from bythebook.models.types import Floats, Ints

FIGURE_1 = ["A", "B", "C | A, B", "D | B, C", "E | C, D"]
KINDS = ("complete", "posterior, complete", "missing", "posterior, missing", "hidden", "expected")


@dataclass
class NetworkParameters(Study):
    """Second derivatives of the log likelihood across tables, and EM from drawn tables.

    The objective "missing" has the largest share of missing entries, "expected" is the objective
    of its M step, and "posterior" adds a beta prior (2, 2) for each row.
    """

    headline = {"log likelihood": "mean(last(log_likelihood, over='iteration'))"}
    more_quantities = True
    quantities = {
        "log_likelihood": quantity(
            "log likelihood of the observed entries", "draw missing iteration", unit="nats"
        ),
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
        of = family(self.graph)
        draw, share = axis("draw", self.draws), axis("missing", self.missing)
        step = axis("iteration", self.iterations + 1)
        one, other = axis("family", self.names), axis("other", self.names)
        kind = axis("kind", KINDS)
        apart = np.triu_indices(len(self.names), 1)
        linked = np.empty((len(KINDS), self.draws, len(one), len(one)))
        course = np.empty((self.draws, len(share), len(step)))
        hidden_course, true = np.empty((self.draws, len(step))), np.empty(course.shape[:2])
        slopes, expected_slopes = np.empty((2, self.draws, len(of.owner)))
        gaps, surprise = np.empty((2, self.draws))
        by_tables, prior = np.empty(true.shape), np.empty((2, *slopes.shape))
        for d in range(self.draws):
            theta, start, elsewhere = _theta(of, rng), _theta(of, rng), _theta(of, rng)
            whole = drawn(of, theta, rng.random(self.points))
            lost = rng.random(whole.shape)
            data = [seen(of, np.where(lost < s, -1, whole)) for s in self.missing]
            never = seen(of, np.where([name in self.hidden for name in self.names], -1, whole))
            full, most = seen(of, whole), data[int(np.argmax(self.missing))]
            linked[:, d] = _coupled(of, full, most, never, elsewhere)
            slopes[d] = _slope(of, full, fitted(of, full.many @ full.agree))
            expected_slopes[d] = _expected_slope(of, most, start)
            for k, what in enumerate(data):
                course[d, k] = self._em_log_likelihoods(of, what, start)
                true[d, k] = log_likelihood(of, what, theta)
                by_tables[d, k] = self._summed(
                    of, theta, np.where(lost < self.missing[k], -1, whole)
                )
            hidden_course[d] = self._em_log_likelihoods(of, never, start)
            gaps[d] = self._gap(of, theta, whole[:3], lost[:3])
            surprise[d] = self._surprise(of, theta, whole)
            prior[:, d] = gradient(log_prior, elsewhere), -np.tanh(elsewhere / 2)
        return Outcome(
            coupling=over(linked, kind, draw, one, other),
            coupled_least=over(linked[..., apart[0], apart[1]].min(-1), kind, draw),
            complete_gradient=over(slopes, draw, axis("parameter", len(of.owner))),
            expected_gradient=over(expected_slopes, draw, axis("parameter", len(of.owner))),
            log_likelihood=over(course, draw, share, step),
            hidden_log_likelihood=over(hidden_course, draw, step),
            true_log_likelihood=over(true, draw, share),
            log_likelihood_by_tables=over(by_tables, draw, share),
            surprise=draw.of(surprise),
            prior_gradient=over(
                prior,
                axis("way", ["derivative", "formula"]),
                draw,
                axis("parameter", len(of.owner)),
            ),
            elimination_gap=draw.of(gaps),
        )

    def _tables(self, of: Family, theta: Floats) -> list[Factor]:
        """A factor for each node, over its parents and itself."""
        tables = []
        for k, scope in enumerate(self.factors):
            given = [name for name in self.names if name in split(scope)[1]]
            tables.append(Factor((*given, self.names[k]), table(of, theta, k, len(given))))
        return tables

    def _summed(self, of: Family, theta: Floats, data: Ints) -> float:
        """(46) point by point: the product of all tables, summed over what is missing."""
        joint = keep(product(self._tables(of, theta)), self.names).table
        agreeing = [joint[tuple(slice(None) if x < 0 else x for x in point)] for point in data]
        return float(sum(np.log(some.sum()) for some in agreeing))

    def _surprise(self, of: Family, theta: Floats, data: Ints) -> float:
        """The log probability of drawn data minus its mean, in standard deviations."""
        joint = keep(product(self._tables(of, theta)), self.names).table
        mean = (joint * np.log(joint)).sum()
        variance = (joint * np.log(joint) ** 2).sum() - mean**2
        found = np.log(joint[tuple(data.T)])
        return float((found - mean).sum() / np.sqrt(len(data) * variance))

    def _em_log_likelihoods(self, of: Family, what: Seen, start: Floats) -> list[float]:
        steps = islice(em(of, what, start), self.iterations + 1)
        return [float(log_likelihood(of, what, theta)) for theta in steps]

    def _gap(self, of: Family, theta: Floats, points: Ints, lost: Floats) -> float:
        """Posteriors of all families by elimination, against the table of all settings."""
        tables = self._tables(of, theta)
        worst = 0.0
        for point, gone in zip(points, lost < 0.5, strict=True):
            weights = expected_counts(of, seen(of, np.where(gone, -1, point)[None]), theta)
            joint = Factor(tuple(self.names), weights.reshape([2] * len(self.names)))
            seen_ = {n: int(x) for n, x, g in zip(self.names, point, gone, strict=True) if not g}
            left = [condition(one, seen_) for one in tables]
            for one in tables:
                unobserved = [name for name in one.variables if name not in seen_]
                order = [n for n in self.names if n not in seen_ and n not in unobserved]
                posterior = normalised(keep(eliminate(left, order).answer, unobserved))
                right = condition(keep(joint, one.variables), seen_)
                worst = max(worst, float(np.abs(posterior.table - right.over(unobserved)).max()))
        return worst


def _theta(of: Family, rng: Generator) -> Floats:
    """Logits of probabilities that are uniform between zero and one."""
    return rng.logistic(size=len(of.owner))


def _coupled(of: Family, full: Seen, most: Seen, never: Seen, theta: Floats) -> list[Floats]:
    """Second derivatives across families of each kind of objective."""
    counts = expected_counts(of, most, theta)
    objectives = {
        "complete": lambda t: log_likelihood(of, full, t),
        "posterior, complete": lambda t: log_likelihood(of, full, t) + log_prior(t),
        "missing": lambda t: log_likelihood(of, most, t),
        "posterior, missing": lambda t: log_likelihood(of, most, t) + log_prior(t),
        "hidden": lambda t: log_likelihood(of, never, t),
        "expected": lambda t: of.log_joint(t) @ counts,
    }
    return [coupling(of, objectives[kind], theta) for kind in KINDS]


def _slope(of: Family, what: Seen, theta: Floats) -> Floats:
    return gradient(lambda t: log_likelihood(of, what, t), theta)


def _expected_slope(of: Family, what: Seen, start: Floats) -> Floats:
    """The gradient of the M step's objective where its own counts are normalised."""
    counts = expected_counts(of, what, start)
    return gradient(lambda t: of.log_joint(t) @ counts, fitted(of, counts))
