"""Nearest neighbours against scikit-learn and a loop over folds."""

from functools import partial

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from bythebook.models.classification.kernels import gaussian, linear, polynomial
from bythebook.models.classification.knn import (
    fold_errors,
    islands,
    kernel_distances,
    majority,
    random_partitions,
    squared_distances,
    votes,
)


@pytest.fixture
def points():
    rng = np.random.default_rng(12)
    t = np.repeat([0, 1, 2], [15, 10, 20])
    return rng.standard_normal((45, 2)) + t[:, None], t, rng.standard_normal((60, 2)) + 1, rng


def test_decisions_are_those_of_scikit_learn(points):
    X, t, new, _ = points
    for ks in ([1, 3, 8, 45], [8, 1, 3], [44]):  # all points are ordered, or the nearest alone
        tally = votes(squared_distances(new, X), t, ks, 3)
        assert (tally.sum(-1) == np.array(ks)[:, None]).all()
        for k, ours in zip(ks, tally, strict=True):
            theirs = KNeighborsClassifier(k).fit(X, t)
            np.testing.assert_allclose(ours / k, theirs.predict_proba(new), rtol=1e-12)
            np.testing.assert_array_equal(majority(ours), theirs.predict(new))
    everybody = votes(squared_distances(new, X), t, [50], 3)
    assert (everybody[0] == [15, 10, 20]).all()


def test_cross_validation_is_a_loop_over_folds(points):
    X, t, _, rng = points
    folds = random_partitions(len(t), 5, 3, rng)
    assert (np.bincount(folds[0]) == 9).all()
    assert (folds[0] != folds[1]).any()
    ours = fold_errors(X, t, [1, 4, 7], folds, 3)
    for p, row in enumerate(folds):
        for i, k in enumerate((1, 4, 7)):
            wrong = 0
            for fold in range(5):
                out = row == fold
                model = KNeighborsClassifier(k).fit(X[~out], t[~out])
                wrong += (model.predict(X[out]) != t[out]).sum()
            assert ours[p, i] == pytest.approx(wrong / len(t))


def test_partitions_are_shuffles_of_folds_as_equal_as_can_be(points):
    folds = random_partitions(11, 3, 400, points[-1])
    assert folds.shape == (400, 11)
    assert {tuple(np.bincount(row)) for row in folds} == {(4, 4, 3)}
    assert len(np.unique(folds, axis=0)) > 380  # of 11550
    for fold, size in enumerate((4, 4, 3)):  # each point as often as any other
        np.testing.assert_allclose((folds == fold).mean(axis=0), size / 11, atol=0.1)


def test_leave_one_out(points):
    X, t, _, _ = points
    ours = fold_errors(X, t, [3], np.arange(len(t))[None], 3)
    wrong = [
        KNeighborsClassifier(3).fit(np.delete(X, n, 0), np.delete(t, n)).predict(X[n][None])[0]
        != t[n]
        for n in range(len(t))
    ]
    assert ours[0, 0] == pytest.approx(np.mean(wrong))


def test_kernels_are_inner_products_and_give_distances(points):
    X, _, new, _ = points
    np.testing.assert_allclose(linear(new, X)[3, 4], new[3] @ X[4], rtol=1e-14)
    apart = ((new[3] - X[4]) ** 2).sum()
    np.testing.assert_allclose(gaussian(new, X, 0.7)[3, 4], np.exp(-0.7 * apart), rtol=1e-13)

    def phi(x):  # (1 + x^T y)^2 in the plane has these six features
        a, b = x.T
        r = np.sqrt(2)
        return np.stack([np.ones_like(a), r * a, r * b, a * a, b * b, r * a * b], axis=1)

    np.testing.assert_allclose(polynomial(new, X, 2), phi(new) @ phi(X).T, rtol=1e-12, atol=1e-13)
    distance = kernel_distances(new, X, partial(polynomial, gamma=2))
    np.testing.assert_allclose(distance, squared_distances(phi(new), phi(X)), rtol=1e-9, atol=1e-11)


def test_islands_are_the_regions_beyond_the_first_of_each_class():
    region = np.zeros((6, 6), dtype=bool)
    assert islands(region) == 0
    region[:, 4:] = True
    assert islands(region) == 0
    region[1, 1] = True
    assert islands(region) == 1
    region[3, 5] = False
    assert islands(region) == 2
    region[2, 2] = True  # touches the first by a corner
    assert islands(region) == 2
    assert islands(np.stack([region, np.zeros_like(region)])).tolist() == [2, 0]


def test_a_large_fold_of_ones_own_hides_no_neighbour():
    """Both points of class 1 are farther away than all fourteen of their own fold."""
    X = np.concatenate([np.linspace(0, 1, 15), [5.0, 5.1, 9.0]])[:, None]
    t = np.repeat([0, 1, 0], [15, 2, 1])
    folds = np.repeat([0, 1], [15, 3])[None]
    # All points of the first fold have nearest neighbours of class 1, the others of class 0.
    assert fold_errors(X, t, [1], folds)[0, 0] == pytest.approx(17 / 18)
    assert fold_errors(X, t, [3], folds)[0, 0] == pytest.approx(17 / 18)
