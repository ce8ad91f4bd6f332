"""Objectives of a small problem by plain loops."""

import numpy as np
from numpy.testing import assert_allclose

from bythebook.models.approximation import log_sum_exp as lse


def test_objectives_by_loops() -> None:
    rng = np.random.default_rng(0)
    problem = lse.Problem(rng.normal(size=(3, 4, 2)), np.array([0, 3, 1]), rng.normal(size=(3, 4)))
    w = np.array([0.7, -1.1])
    expected = maxima = convex = 0.5 * (0.49 + 1.21)
    zero_one = 0.0
    for phi, y, loss in zip(problem.features, problem.labels, problem.log_loss, strict=True):
        s = phi @ w
        p = np.exp(s) / np.exp(s).sum()
        expected += np.log((np.exp(loss) * p).sum())
        maxima += (loss + s).max() - s.max()
        convex += (loss + s).max() - s[y]
        zero_one += np.log(1 - p[y]) + np.log(p[y])
    assert_allclose(lse.expected_loss(problem, w), expected)
    assert_allclose(lse.difference_of_maxima(problem, w), maxima)
    assert_allclose(lse.convex_objective(problem, w), convex)
    assert_allclose(lse.zero_one_gap(problem, w), zero_one)
    assert_allclose(lse.convex_objective(problem, np.stack([w, w])), [convex, convex])
