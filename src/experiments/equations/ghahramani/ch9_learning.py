"""Equations of Ghahramani 9: parameters and structures of directed graphs from data."""

from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.random import Generator
from scipy.optimize import minimize
from scipy.special import expit

from bythebook.experiments.core.equations import Sides, equation
from bythebook.experiments.equations._graphs import random_dag
from bythebook.models.graphs import parameters as model
from bythebook.models.graphs.learning import family_scores, masks, of_structures
from bythebook.models.graphs.structure import Dag
from bythebook.models.types import Floats, Ints


class _Case(NamedTuple):
    """A graph of binary nodes, logits of its tables, and data."""

    graph: Dag
    of: model.Family
    theta: Floats
    data: Ints  # (N, M), -1 where a value is missing


def _case(rng: Generator, missing: float = 0.0) -> _Case:
    M, N = int(rng.integers(3, 5)), int(rng.integers(5, 25))
    graph = random_dag(rng, M, 0.7)
    of = model.family(graph)
    data = rng.integers(0, 2, (N, M))
    lost = rng.random((N, M)) < missing
    return _Case(graph, of, rng.normal(0, 1.5, len(of.owner)), np.where(lost, -1, data))


def _probability(case: _Case, point: tuple[int, ...], node: int) -> float:
    """P(x_i | pa_i, theta_i) of a point, from the row of the node's table."""
    row = np.flatnonzero(case.of.owner == node)[0]
    row += sum(point[p] << k for k, p in enumerate(sorted(case.graph[node])))
    return float(expit(case.theta[row] if point[node] else -case.theta[row]))


@equation(
    "43",
    section="9.1.1",
    latex=r"P(\mathcal{D}|\theta) = \prod_{n=1}^N \prod_{i=1}^K"
    r" P(X_i^{(n)}|X_{\text{pa}_i}^{(n)}, \theta_i)",
)
def complete_likelihood(rng: Generator) -> Sides:
    """The log likelihood of complete data.

    The model sums over all settings that agree with each kind of data point.
    """
    case = _case(rng)
    chances = [
        [_probability(case, tuple(point), i) for i in range(len(case.graph))]
        for point in case.data.tolist()
    ]
    truth = model.log_likelihood(case.of, model.seen(case.of, case.data), case.theta)
    return Sides(truth=truth, printed=np.log(chances).sum())


@equation(
    "44 to 46",
    section="9.1.2",
    latex=r"P(\mathcal{D}|\theta) = \prod_{n=1}^N \sum_{x_{\text{mis}}^{(n)}} \prod_{i=1}^K"
    r" P(X_i^{(n)}|X_{\text{pa}_i}^{(n)}, \theta_i)",
)
def incomplete_likelihood(rng: Generator) -> Sides:
    """The log likelihood of data with missing values, point by point."""
    case = _case(rng, missing=0.3)
    total = 0.0
    for point in case.data.tolist():
        filled = product(*((0, 1) if x < 0 else (x,) for x in point))
        total += np.log(
            sum(np.prod([_probability(case, x, i) for i in range(len(case.graph))]) for x in filled)
        )
    truth = model.log_likelihood(case.of, model.seen(case.of, case.data), case.theta)
    return Sides(truth=truth, printed=total)


def _two_changes(rng: Generator, case: _Case) -> list[Floats]:
    """Parameters, with those of one family changed, with those of another, and with both."""
    one, other = rng.choice(len(case.graph), 2, replace=False)
    changed = rng.normal(0, 1.5, len(case.theta))
    where = [np.isin(case.of.owner, some) for some in ([], [one], [other], [one, other])]
    return [np.where(here, changed, case.theta) for here in where]


@equation(
    "section 9.1.1, decoupled families",
    section="9.1.1",
    latex=r"\ln P(\mathcal{D}|\theta) = \sum_{i=1}^K f_i(\theta_i)",
)
def decoupled_families(rng: Generator) -> Sides:
    """A sum of one term for each family: changes of two families add up."""
    case = _case(rng)
    what = model.seen(case.of, case.data)
    both = _two_changes(rng, case)
    none, one, other, all_ = (float(model.log_likelihood(case.of, what, t)) for t in both)
    return Sides(truth=all_, printed=one + other - none)


@equation(
    "section 9.1.1, posterior",
    section="9.1.1",
    latex=r"P(\theta|\mathcal{D}) = \prod_i P(\theta_i|\mathcal{D})",
)
def decoupled_posterior(rng: Generator) -> Sides:
    """With a prior that factorises, changes of the log posterior by two families add up."""
    case = _case(rng)
    what = model.seen(case.of, case.data)
    none, one, other, all_ = (
        float(model.log_likelihood(case.of, what, theta) + model.log_prior(theta))
        for theta in _two_changes(rng, case)
    )
    return Sides(truth=all_, printed=one + other - none)


@equation(
    "section 9.1.2, M step",
    section="9.1.2",
    latex=r"\sum_n \sum_{x_{\text{mis}}} q(x_{\text{mis}}) \ln P(X^{(n)}|\theta)"
    r" = \sum_{i=1}^K g_i(\theta_i)",
)
def decoupled_m_step(rng: Generator) -> Sides:
    """The expected complete log likelihood is a sum of one term for each family."""
    case = _case(rng, missing=0.3)
    counts = model.expected_counts(case.of, model.seen(case.of, case.data), case.theta)
    none, one, other, all_ = (
        float(case.of.log_joint(theta) @ counts) for theta in _two_changes(rng, case)
    )
    return Sides(truth=all_, printed=one + other - none)


@equation(
    "section 9.1.2, closed form",
    section="9.1.2",
    latex=r"\hat{P}(X_i = 1|X_{\text{pa}_i}) = \frac{n_{i1}}{n_{i0} + n_{i1}}",
    within=1e-5,
)
def tables_in_closed_form(rng: Generator) -> Sides:
    """The shares of the data in each row of a table maximise the likelihood.

    A row without data, or with equal data only, has no finite maximum: one observation of each
    configuration is added.
    """
    case = _case(rng)
    data = np.concatenate([case.data, case.of.settings])
    what = model.seen(case.of, data)
    found = minimize(
        lambda theta: -float(model.log_likelihood(case.of, what, theta)),
        np.zeros(len(case.theta)),
        jac=lambda theta: -model.gradient(lambda t: model.log_likelihood(case.of, what, t), theta),
        options={"gtol": 1e-9},
    )
    shares = []
    for node, parents in enumerate(case.graph):
        for states in product((0, 1), repeat=len(parents)):
            # The first parent changes fastest.
            row = np.all(data[:, sorted(parents)] == states[::-1], axis=1)
            shares.append(data[row, node].mean())
    return Sides(truth=expit(found.x), printed=shares)


@equation(
    "48",
    section="9.2.1",
    latex=r"P(\mathcal{D}|m) = \int P(\mathcal{D}|\theta, m)"
    r" P(\theta|m) \, d\theta = \prod_i \prod_j"
    r" \frac{\Gamma(\alpha_{ij})}{\Gamma(\alpha_{ij} + n_{ij})} \prod_k"
    r" \frac{\Gamma(\alpha_{ijk} + n_{ijk})}{\Gamma(\alpha_{ijk})}",
)
def structure_score(rng: Generator) -> Sides:
    """The marginal likelihood of binary data in closed form, with uniform priors.

    The reference is a quadrature over all parameters at once; it is exact, because the likelihood
    is a polynomial.
    """
    graph, data = random_dag(rng, 3), rng.integers(0, 2, (int(rng.integers(3, 9)), 3))
    x, w = leggauss(len(data) // 2 + 1)
    x, w = (x + 1) / 2, w / 2
    rows = [(node, row) for node, parents in enumerate(graph) for row in range(2 ** len(parents))]
    value = np.ones([len(x)] * len(rows))
    for point in data:
        for node, parents in enumerate(graph):
            row = sum(int(point[p]) << k for k, p in enumerate(sorted(parents)))
            shape = [-1 if at == (node, row) else 1 for at in rows]
            value = value * (x if point[node] else 1 - x).reshape(shape)
    for _ in rows:
        value = value @ w
    counts = np.zeros((1, 2, 2, 2))
    np.add.at(counts[0], tuple(data.T), 1)
    score = of_structures(family_scores(counts, "uniform"), masks([graph]))[0, 0]
    return Sides(truth=np.log(float(value)), printed=score)
