"""Committees against refits, Jensen's inequality and arithmetic."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.models.regression.committees import (
    bootstrap_predictions,
    committee_errors,
    errors_by_size,
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


def test_members_are_not_penalised_by_default() -> None:
    rng = np.random.default_rng(20)
    x, t = rng.uniform(size=12), rng.normal(size=(1, 12))
    Phi = powers(x, 1)
    found = bootstrap_predictions(Phi, t, Phi, 3, np.random.default_rng(21))
    index = np.random.default_rng(21).integers(12, size=(1, 3, 12))
    for member, rows in enumerate(index[0]):
        slope, constant = np.polyfit(x[rows], t[0, rows], 1)
        assert_allclose(found[0, member], constant + slope * x, rtol=1e-8)
