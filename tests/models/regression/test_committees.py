"""Committees against refits, Jensen's inequality and arithmetic."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.models.regression.committees import (
    LOSSES,
    between,
    bootstrap_predictions,
    committee_errors,
    committee_ratio,
    correlated_errors,
    errors_by_size,
    skewed_losses,
    weighted_means,
)
from bythebook.models.regression.curves import powers
from bythebook.models.regression.curves import sine as sinusoid


@pytest.mark.parametrize("own_inputs", [False, True])
def test_bootstrap_members_are_refits(own_inputs: bool) -> None:
    rng = np.random.default_rng(8)
    x = rng.uniform(size=(3, 25) if own_inputs else 25)
    t = sinusoid(x) + rng.normal(0, 0.3, size=(3, 25))
    Phi, grid = powers(x, 3), powers(np.linspace(0, 1, 6), 3)
    found = bootstrap_predictions(Phi, t, grid, 5, np.random.default_rng(9), lam=1e-3)
    index = np.random.default_rng(9).integers(25, size=(3, 5, 25))
    assert found.shape == (3, 5, 6)
    for data in range(3):
        design = Phi[data] if own_inputs else Phi
        for member in range(5):
            rows = index[data, member]
            A = design[rows].T @ design[rows] + 1e-3 * np.eye(4)
            w = np.linalg.solve(A, design[rows].T @ t[data, rows])
            assert_allclose(found[data, member], grid @ w, rtol=1e-8)


def test_committee_is_never_worse_than_its_members() -> None:
    """E_AV - E_COM is the members' variance, by Jensen's inequality not negative."""
    rng = np.random.default_rng(10)
    x, grid = rng.uniform(size=(20, 25)), np.linspace(0, 1, 50)
    t = sinusoid(x) + rng.normal(0, 0.3, size=x.shape)
    y = bootstrap_predictions(powers(x, 5), t, powers(grid, 5), 30, rng, lam=1e-3)
    found = committee_errors(y, sinusoid(grid))
    assert found.average.shape == (20,)
    assert np.all(found.committee < found.average)
    assert_allclose(found.average - found.committee, y.var(-2).mean(-1), rtol=1e-9)
    few = errors_by_size(y, sinusoid(grid), [7, 30])
    assert_allclose(few.committee[1], found.committee, rtol=1e-12)
    alone = committee_errors(y[:, :7], sinusoid(grid))
    assert_allclose([few.average[0], few.committee[0]], alone, rtol=1e-12)
    # The members share their data: the gain is far from the factor 30 of (14.14).
    assert np.median(found.average / found.committee) < 10


@pytest.mark.parametrize("rho", [-0.1, 0.0, 0.2, 0.9])
@pytest.mark.parametrize("members", [1, 2, 10])
def test_committee_of_correlated_errors(rho: float, members: int) -> None:
    """PRML (14.14) at rho = 0, and its generalisation."""
    G = 100_000
    errors = correlated_errors(rho, members, G, np.random.default_rng(11))
    found = committee_errors(errors, np.zeros(G))
    # Relative standard errors: sqrt(2 / G) of a mean square of Gaussians, at most, for each.
    assert_allclose(found.average, 1, rtol=4 * np.sqrt(2 / G))
    ratio = found.committee / found.average
    assert_allclose(ratio, committee_ratio(rho, members), rtol=8 * np.sqrt(2 / G))
    if members > 1:
        assert_allclose(np.atleast_2d(np.corrcoef(errors))[0, 1], rho, rtol=0, atol=4 / np.sqrt(G))


def test_convex_losses_favour_the_committee_and_others_need_not() -> None:
    found = skewed_losses(3, 1000, np.random.default_rng(15))
    worse = found.committee > found.average * (1 + 1e-12)
    assert list(LOSSES)[-1] == "root"
    assert not worse[:-1].any()
    assert worse[-1].any()  # not convex: the theorem needs it


def test_weights_stay_inside_if_and_only_if_they_are_convex() -> None:
    found = weighted_means(4, 2000, np.random.default_rng(16))
    assert np.all(found.convex_stay_inside)
    assert np.array_equal(found.stay_inside, found.are_convex)
    assert 0.3 < found.are_convex.mean() < 0.7
    weights = np.array([[0.5, 0.6], [1.5, -0.5], [0.5, 0.5]])
    inside = between(weights, np.array([[1.0, 1.0], [0.0, 1.0], [3.0, 4.0]]))
    assert inside.tolist() == [False, False, True]


def test_every_loss_of_skewed_members_by_its_formula() -> None:
    found = skewed_losses(4, 6, np.random.default_rng(17))
    rng = np.random.default_rng(17)
    members = rng.gamma(1.0, size=(6, 4, 20)) - rng.uniform(0, 2, (6, 1, 1))
    rules = {
        "square": lambda e: e * e,
        "absolute": lambda e: abs(e),
        "fourth_power": lambda e: e * e * e * e,
        "exponential": lambda e: np.e**e,
        "root": lambda e: abs(e) ** 0.5,
    }
    for i, (name, loss) in enumerate(rules.items()):
        assert list(LOSSES)[i] == name
        for trial in range(6):
            whole = [loss(e) for e in members[trial].ravel()]
            together = [loss(e) for e in members[trial].mean(0)]
            assert_allclose(found.average[i, trial], np.mean(whole), rtol=1e-10)
            assert_allclose(found.committee[i, trial], np.mean(together), rtol=1e-10)


def test_a_third_of_the_weights_of_each_kind() -> None:
    found = weighted_means(3, 900, np.random.default_rng(18))
    assert found.are_convex[600:].all()
    assert not found.are_convex[:300].any()  # they sum to anything
    assert 0.05 < found.are_convex[300:600].mean() < 0.8  # and these to one, with any signs
    assert found.convex_stay_inside.shape == found.stay_inside.shape == (900,)


def test_a_billionth_is_rounding_and_two_are_not() -> None:
    ones = np.ones((2, 1))
    assert between(np.array([[1 + 5e-10], [1 + 1.5e-9]]), ones).tolist() == [True, False]
    assert between(np.array([[1 - 5e-10], [1 - 1.5e-9]]), ones).tolist() == [True, False]


def test_members_are_not_penalised_by_default() -> None:
    rng = np.random.default_rng(20)
    x, t = rng.uniform(size=12), rng.normal(size=(1, 12))
    Phi = powers(x, 1)
    found = bootstrap_predictions(Phi, t, Phi, 3, np.random.default_rng(21))
    index = np.random.default_rng(21).integers(12, size=(1, 3, 12))
    for member, rows in enumerate(index[0]):
        slope, constant = np.polyfit(x[rows], t[0, rows], 1)
        assert_allclose(found[0, member], constant + slope * x, rtol=1e-8)
