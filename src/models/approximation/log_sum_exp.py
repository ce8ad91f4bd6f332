r"""Bounds on the log of a sum of exponentials, and on an expected loss (MLAPP 19.7.1).

    max_y f(y) <= log sum_y exp f(y) <= log |Y| + max_y f(y)                               19.85
    R_EL(w) = E(w) + sum_i log sum_y L(y_i, y) p(y | x_i, w)                               19.80

Problems have features phi (N, Y, D), labels y (N,) and log losses (N, Y); weights are a batch.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from bythebook.models.types import Floats, Ints


class Problem(NamedTuple):
    """A problem of structured output, with E(w) = |w|^2 / 2."""

    features: Floats  # (N, Y, D)
    labels: Ints  # (N,)
    log_loss: Floats  # (N, Y)

    def scores(self, w: Floats) -> Floats:
        """w^T phi(x_i, y), (..., N, Y)."""
        return np.asarray(np.einsum("nyd,...d->...ny", self.features, w))

    def own(self, w: Floats) -> Floats:
        """The scores of the labels, (..., N)."""
        return np.asarray(self.scores(w)[..., np.arange(len(self.labels)), self.labels])


def energy(w: Floats) -> Floats:
    return np.asarray((w**2).sum(-1) / 2)


def expected_loss(problem: Problem, w: Floats) -> Floats:
    """R_EL (19.84)."""
    scores = problem.scores(w)
    each = logsumexp(problem.log_loss + scores, axis=-1) - logsumexp(scores, axis=-1)
    return np.asarray(energy(w) + each.sum(-1))


def difference_of_maxima(problem: Problem, w: Floats) -> Floats:
    """The objective of 19.87."""
    scores = problem.scores(w)
    each = (problem.log_loss + scores).max(-1) - scores.max(-1)
    return np.asarray(energy(w) + each.sum(-1))


def convex_objective(problem: Problem, w: Floats) -> Floats:
    """The objective of 19.89."""
    each = (problem.log_loss + problem.scores(w)).max(-1) - problem.own(w)
    return np.asarray(energy(w) + each.sum(-1))


def zero_one_gap(problem: Problem, w: Floats) -> Floats:
    """R_EL for 0-1 loss less R_MAP (19.80 less 19.78)."""
    scores = problem.scores(w)
    total = logsumexp(scores, axis=-1)
    wrong = np.arange(scores.shape[-1]) != problem.labels[:, None]
    others = logsumexp(np.where(wrong, scores, -np.inf), axis=-1)  # log (1 - p) without cancelling
    return np.asarray((others - total + problem.own(w) - total).sum(-1))
