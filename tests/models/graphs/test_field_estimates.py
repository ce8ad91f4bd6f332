"""Estimates against a general optimiser, closed forms, and enumerated conditionals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import expit

from bythebook.models.graphs import boltzmann as bm
from bythebook.models.graphs import field_estimates as fe

LINKS = np.array([(0, 1), (1, 2), (0, 2)])
Y = bm.all_states(3)


def shares(count: int = 2) -> np.ndarray:
    return np.random.default_rng(1).dirichlet(np.ones(8), count)


def pseudo(theta: np.ndarray, share: np.ndarray) -> float:
    """From the enumerated joint: sum of ln p(y_s | rest)."""
    p = bm.probabilities(theta, bm.features(Y, LINKS)).reshape(2, 2, 2)
    total = sum(np.log(p / p.sum(s, keepdims=True)) for s in range(3))
    return float(share @ np.ravel(total))


def test_pseudo_likelihood_against_a_search_that_knows_only_the_joint() -> None:
    share = shares()
    for own, found in zip(share, fe.pseudo_likelihood(share, Y, LINKS), strict=True):
        best = minimize(lambda t, own=own: -pseudo(t, own), np.zeros(6))
        assert_allclose(found, best.x, atol=1e-4)
        assert pseudo(found, own) >= -best.fun - 1e-9


def test_rows_are_what_the_conditional_takes() -> None:
    rng = np.random.default_rng(2)
    theta = rng.standard_normal(6)
    p = bm.probabilities(theta, bm.features(Y, LINKS)).reshape(2, 2, 2)
    rows = fe.conditional_rows(Y, LINKS)
    for s in range(3):
        given = (p / p.sum(s, keepdims=True)).ravel()
        assert_allclose(expit(2 * rows[:, s] @ theta), given, rtol=1e-12)


def test_separate_fits_are_three_logistic_regressions() -> None:
    share = shares(1)
    found = fe.separately(share, Y, LINKS)[0]  # first ends, second ends, biases
    others = Y[:, [1, 2]]

    def loss(t: np.ndarray) -> float:
        return float(share[0] @ np.logaddexp(0, -2 * Y[:, 0] * (others @ t[:2] + t[2])))

    best = minimize(loss, np.zeros(3)).x
    assert_allclose([found[0], found[2], found[6]], best, atol=1e-4)  # of spin 0: to 1, to 2, own


def test_a_gaussian_with_all_links_is_the_inverse_covariance() -> None:
    S = np.cov(np.random.default_rng(3).standard_normal((3, 12)))
    assert_allclose(fe.gaussian_pseudo_likelihood(S, LINKS), np.linalg.inv(S), atol=1e-5)


def test_a_gaussian_with_few_links_is_at_a_stationary_point() -> None:
    S = np.cov(np.random.default_rng(4).standard_normal((3, 12)))
    links = LINKS[:2]
    L = fe.gaussian_pseudo_likelihood(S, links)
    assert L[0, 2] == 0

    def value(M: np.ndarray) -> float:
        own = M.diagonal()
        return float((np.log(own) - (M @ S @ M).diagonal() / own).sum() / 2)

    for i, j in [*links, (0, 0), (2, 2)]:
        move = np.zeros((3, 3))
        move[i, j] = move[j, i] = 1e-5
        assert abs(value(L + move) - value(L - move)) / 2e-5 < 1e-5


def test_evidence_is_weighed_by_a_logistic_regression_where_spins_are_one() -> None:
    rng = np.random.default_rng(5)
    y = rng.choice([-1.0, 1.0], 400)
    x = y[:, None] + rng.standard_normal((400, 2))
    w, v = fe.evidence_pair(x, y, 1e-4, pseudo=False)
    margin = y * x.sum(1)
    best = minimize(lambda t: float(np.logaddexp(0, -2 * t[0] * margin).mean()), np.zeros(1)).x[0]
    assert v == pytest.approx(best, abs=0.05)
    assert w > 1
    assert fe.evidence_pair(x, y, 1e-4, pseudo=True)[1] < v


def test_sweeps_leave_the_distribution_as_it_is() -> None:
    rng = np.random.default_rng(6)
    theta = rng.standard_normal((2, 6))
    y = rng.choice([-1.0, 1.0], (2, 20_000, 3))
    for _ in range(10):
        fe.gibbs_sweep(y, theta, LINKS, rng)
    number = ((y + 1) // 2) @ [4, 2, 1]
    p = bm.probabilities(theta, bm.features(Y, LINKS))
    for k in range(2):
        share = np.bincount(number[k].astype(int), minlength=8) / 20_000
        assert np.abs(share - p[k]).max() < 5 * 0.5 / np.sqrt(20_000)


def test_a_sweep_of_a_distribution_is_that_of_many_samples() -> None:
    rng = np.random.default_rng(8)
    links = np.array([[0, 1], [1, 2]])
    y, theta = bm.all_states(3), rng.normal(0, 0.7, 5)
    q = bm.probabilities(theta, bm.features(y, links)).reshape(2, 2, 2)
    assert_allclose(fe.swept(q, q), q, rtol=1e-12)
    start = np.zeros((2, 2, 2))
    start[1, 0, 1] = 1
    spins = np.tile([[1.0, -1.0, 1.0]], (40_000, 1))
    fe.gibbs_sweep(spins, theta, links, rng)
    number = ((spins + 1) / 2 @ [4, 2, 1]).astype(int)
    share = np.bincount(number, minlength=8) / len(spins)
    assert_allclose(fe.swept(start, q).ravel(), share, atol=0.012)
