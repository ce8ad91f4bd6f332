"""Groups on a map, by hand."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from models.latent.groups import (
    apart_on_a_line,
    astray,
    between_share,
    contested,
    correlations,
    distances,
    medians,
    nearest_to_own,
    place_between,
    spreads,
)

X = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [10.0, 0.0], [10.0, 4.0], [1.2, 0.0]])
LABELS = np.array([0, 0, 0, 1, 1, 1])


def test_middles_and_spread():
    assert_allclose(medians(X, LABELS, 2), [[1, 0], [10, 0]])
    assert_allclose(spreads(X, LABELS, 2), [1, 4])
    assert_allclose(distances(medians(X, LABELS, 2)), [[0, 9], [9, 0]])
    both = np.stack([X, 2 * X])  # maps are a batch axis
    assert_allclose(spreads(both, LABELS, 2), [[1, 4], [2, 8]])


def test_nearest_to_own_counts_the_first_groups_only():
    assert nearest_to_own(X, LABELS, 2) == 5 / 6
    assert nearest_to_own(X, np.array([0, 0, 0, 1, 1, 2]), 2) == 1


def test_correlations_within_groups():
    values = np.array([[1.0, 2.0, 3.0, 1.0, 2.0, 3.0]])
    assert_allclose(correlations(values, np.array([2, 4, 6, 9, 8, 7]), LABELS, 2), [[1, -1]])


def test_contested_columns_divide():
    Y = np.array([[1, 1, 1, 0], [1, -1, 1, 0], [1, 1, -1, 0], [1, -1, -1, 1.0]])
    right = np.array([0.1, 0.9, 0.8, 0.2])
    assert_array_equal(contested(Y, right, 1), [2])
    assert_array_equal(contested(Y, right, 4), [0, 0, 3, 3])  # too few divide: all of them


def test_members_whose_neighbours_are_of_another_group():
    line = np.array([[[0.0], [0.1], [5.0], [5.1]]])
    assert_array_equal(astray(line, np.array([0, 0, 1, 1])), [0])
    assert_array_equal(astray(line, np.array([0, 1, 0, 1])), [1])


def test_the_share_between_groups():
    two = np.array([[0.0, -1.0], [0.0, 1.0], [4.0, -1.0], [4.0, 1.0]])
    assert_allclose(between_share(two, np.array([0, 0, 1, 1])), [1, 0])


def test_places_on_a_line():
    own, other = np.array([1.0, 1.0]), np.array([3.0, 1.0])
    assert_allclose(place_between(np.array([[1.0, 5.0], [2.0, 0.0]]), own, other), [0, 0.5])


def test_groups_apart_on_a_line_by_turning_it():
    """Where a line of many directions shows gaps there is one; and nowhere else, in the plane."""
    rng = np.random.default_rng(7)
    corners = np.array([[0.0, 0.0], [5.0, 5.0], [5.0, 0.0], [0.0, 5.0]])
    labels = np.repeat(np.arange(4), 6)
    turns = np.linspace(0, np.pi, 7201)
    found = []
    for spread in np.repeat([0.1, 0.6, 0.75, 1.5], 5):
        points = corners[labels] + spread * rng.standard_normal((24, 2))
        places = points @ np.stack([np.cos(turns), np.sin(turns)])
        in_order = labels[places.argsort(axis=0)]
        gaps = (np.diff(in_order, axis=0) != 0).sum(axis=0) == 3
        assert apart_on_a_line(points, labels) == gaps.any()
        found.append(gaps.any())
    assert {True, False} == set(found)
