r"""Estimates of a binary network's tables from complete and incomplete data (Ghahramani 9.1).

    ln P(D | theta) = sum_n ln sum over missing values of prod_i P(x_i | pa_i, theta_i)    44 to 46

theta holds ln p / (1 - p) of the second state for each row of each node's table, node after node.
A data set is a matrix that has for every kind of point the settings that agree with its observed
values, and the number of points of each kind.
"""

from collections.abc import Callable, Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from bythebook.models.graphs.structure import Dag
from bythebook.models.types import Floats, Ints

STEP = 1e-30  # of a complex derivative, exact up to rounding
APART = 0.1  # of a second one, by differences: independent parameters give exactly zero
Function = Callable[[Floats], Floats]  # of parameters, the last axis; others are a batch


class Family(NamedTuple):
    """A graph whose tables are estimated: for all settings of its nodes, the row of each table."""

    settings: Ints  # (S, M)
    rows: Ints  # (S, M): the place in theta
    owner: Ints  # the node of each place

    def log_joint(self, theta: Floats) -> Floats:
        """Log p of all settings; theta may be complex, and a batch."""
        chosen = theta[..., self.rows]
        sign = np.where(self.settings == 1, 1, -1)
        return np.asarray(-np.log1p(np.exp(-sign * chosen)).sum(-1))


def family(graph: Dag) -> Family:
    """The settings of a graph of binary nodes, and the places of their probabilities."""
    settings = np.array(list(product((0, 1), repeat=len(graph))))
    starts = np.cumsum([0, *(2 ** len(parents) for parents in graph)])
    rows = np.empty_like(settings)
    for node, parents in enumerate(graph):
        number = sum(settings[:, p] << k for k, p in enumerate(sorted(parents)))
        rows[:, node] = starts[node] + number
    owner = np.repeat(np.arange(len(graph)), np.diff(starts))
    return Family(settings, rows, owner)


class Seen(NamedTuple):
    """Kinds of data points: the settings that agree with each, and the number of points."""

    agree: Floats  # (kinds, S), ones and zeros
    many: Floats


def seen(of: Family, data: Ints) -> Seen:
    """Kinds of data points of a matrix in which -1 marks missing values."""
    kinds, count = np.unique(data, axis=0, return_counts=True)
    agree = ((kinds[:, None] == of.settings) | (kinds[:, None] < 0)).all(-1)
    return Seen(agree.astype(float), count.astype(float))


def log_likelihood(of: Family, what: Seen, theta: Floats) -> Floats:
    """Ln P(D | theta), missing values summed out."""
    return np.asarray(np.log(np.exp(of.log_joint(theta)) @ what.agree.T) @ what.many)


def log_prior(theta: Floats, a: float = 2.0) -> Floats:
    """Beta priors of all rows, of their probabilities, up to a constant; they factorise."""
    return np.asarray((a - 1) * (-np.log1p(np.exp(theta)) - np.log1p(np.exp(-theta))).sum(-1))


def expected_counts(of: Family, what: Seen, theta: Floats) -> Floats:
    """E step: the expected number of points with each setting."""
    p = what.agree * np.exp(of.log_joint(theta))
    return np.asarray(what.many @ (p / p.sum(1, keepdims=True)))


def fitted(of: Family, counts: Floats) -> Floats:
    """M step: each row of each table from its (expected) counts; uniform if it has none."""
    P = len(of.owner)
    both = np.zeros((2, P))
    for node in range(of.settings.shape[1]):
        np.add.at(both, (of.settings[:, node], of.rows[:, node]), counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        logit = np.log(both[1]) - np.log(both[0])
    return np.asarray(np.clip(np.nan_to_num(logit, nan=0.0), -40, 40))


def em(of: Family, what: Seen, theta: Floats) -> Iterator[Floats]:
    """An infinite iterator over the parameters of EM, beginning with the start."""
    while True:
        yield theta
        theta = fitted(of, expected_counts(of, what, theta))


def gradient(f: Function, theta: Floats) -> Floats:
    """First derivatives along the last axis, by complex steps."""
    moved = theta[..., None, :] + 1j * STEP * np.eye(theta.shape[-1])
    return np.asarray(f(moved).imag / STEP)


def coupling(of: Family, f: Function, theta: Floats) -> Floats:
    """The largest second derivative across each two nodes' parameters; zero for a node itself."""
    P, M = len(theta), of.settings.shape[1]
    ahead, behind = (gradient(f, theta + way * APART * np.eye(P)) for way in (1, -1))
    second = np.abs(ahead - behind) / (2 * APART)
    found = np.zeros((M, M))
    np.maximum.at(found, (of.owner[:, None], of.owner), second)
    np.fill_diagonal(found, 0)
    return found


def drawn(of: Family, theta: Floats, uniforms: Floats) -> Ints:
    """Complete data, a setting for each number between zero and one."""
    steps = np.cumsum(np.exp(of.log_joint(theta)))
    return of.settings[np.minimum(np.searchsorted(steps, uniforms), len(steps) - 1)]
