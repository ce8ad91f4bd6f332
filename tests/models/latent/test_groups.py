"""Groups on a map, by hand."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from bythebook.models.latent.groups import (
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
    """In the plane the result agrees with a search over many directions for gaps."""
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


def test_contested_columns_by_the_rule_one_by_one():
    """More than a quarter votes, between 15 and 85 % in favour; from 2 % of the order to half."""
    rng = np.random.default_rng(5)
    Y = np.where(rng.random((40, 200)) < rng.random(200), 1.0, -1.0)
    Y[rng.random(Y.shape) < rng.random(200)] = 0.0
    right = rng.random(200)
    close = []
    for m in range(200):
        for_it, against = (Y[:, m] == 1).sum(), (Y[:, m] == -1).sum()
        cast = for_it + against
        if cast > 10 and 0.15 < for_it / cast < 0.85:
            close.append(m)
    assert 20 < len(close) < 180
    order = sorted(close, key=lambda m: right[m])
    last = len(order) - 1
    expected = [order[int(share * last)] for share in (0.02, 0.18, 0.34, 0.5)]
    assert_array_equal(contested(Y, right, 4), expected)


def test_spreads_and_shares_of_random_groups_by_loops():
    rng = np.random.default_rng(6)
    points, labels = rng.standard_normal((2, 30, 3)), np.arange(30) % 4
    found = spreads(points, labels, 3), between_share(points, labels)
    for r in range(2):
        for k in range(3):
            mine = points[r, labels == k]
            away = [np.sqrt(((x - np.median(mine, axis=0)) ** 2).sum()) for x in mine]
            assert_allclose(found[0][r, k], np.median(away))
        for d in range(3):
            means = [points[r, labels == k, d].mean() for k in range(4)]
            assert_allclose(found[1][r, d], np.var(means) / np.var(points[r, :, d]))
    share = nearest_to_own(points, labels, 3)
    for r in range(2):
        middles = [np.median(points[r, labels == k], axis=0) for k in range(3)]
        hits = [
            int(np.argmin([((x - m) ** 2).sum() for m in middles]) == k)
            for x, k in zip(points[r], labels, strict=True)
            if k < 3
        ]
        assert_allclose(share[r], np.mean(hits))
