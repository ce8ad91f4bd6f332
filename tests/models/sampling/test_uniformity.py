"""Tests of uniformity against SciPy's, and against numbers that are not uniform."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.stats import chi2_contingency, chisquare, kstest

from bythebook.models.sampling.uniformity import (
    all_even,
    distance,
    even,
    from_counts,
    independent,
    tally,
)


def test_the_distance_and_its_probability_are_those_of_scipy() -> None:
    u = np.random.default_rng(0).random((5, 400))
    for row, d, p in zip(u, distance(u), even(u), strict=True):
        expected = kstest(row, "uniform")
        assert_allclose(d, expected.statistic, rtol=1e-12)
        assert_allclose(p, expected.pvalue, atol=0.01)  # Stephens' factor is not exact


def test_few_numbers_have_nearly_the_exact_probability() -> None:
    u = np.random.default_rng(1).random((20, 20))
    expected = [kstest(row, "uniform", method="exact").pvalue for row in u]
    assert_allclose(even(u), expected, atol=0.025)


def test_the_worst_component_counts() -> None:
    u = np.random.default_rng(0).random((300, 3))
    u[:, 1] **= 2
    assert all_even(u) < 1e-6
    assert_allclose(all_even(u[:, :1]), even(u[:, 0]))


def test_what_is_no_number_is_not_uniform() -> None:
    u = np.random.default_rng(0).random(200)
    u[::2] = np.nan
    assert even(u) < 1e-6


def test_counts_by_scipy() -> None:
    counts = np.array([[10, 12, 7, 11], [30, 12, 7, 11]])
    assert_allclose(from_counts(counts), [chisquare(row).pvalue for row in counts])


def test_tally_by_a_loop() -> None:
    cell = np.random.default_rng(0).integers(0, 5, (3, 2, 40))
    found = tally(cell, 5)
    for i in np.ndindex(3, 2):
        assert found[i].tolist() == [int((cell[i] == k).sum()) for k in range(5)]


def test_dependence_is_found() -> None:
    u, v = np.random.default_rng(0).random((2, 2000))
    assert independent(u, v) > 0.001
    assert independent(u, (u + v / 4) % 1) < 1e-9
    table, _, _ = np.histogram2d(u, v, bins=4, range=[[0, 1], [0, 1]])
    assert abs(independent(u, v) - chi2_contingency(table).pvalue) < 0.4  # with margins given
