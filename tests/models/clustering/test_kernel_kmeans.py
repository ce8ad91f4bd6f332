"""Kernel K-means against distances in an explicit feature space, and against K-means itself."""

import numpy as np
import pytest

from bythebook.models.classification.kernels import gaussian
from bythebook.models.clustering.kernel_kmeans import distances, kernel_kmeans, one_against_the_rest
from bythebook.models.clustering.kmeans import kmeans


@pytest.fixture
def rng():
    return np.random.default_rng(65)


def test_distances_in_the_feature_space_of_a_quadratic_kernel(rng):
    X = rng.standard_normal((30, 2))
    a, b = X.T
    features = np.stack([a**2, np.sqrt(2) * a * b, b**2], axis=1)  # (x^T y)^2
    labels = rng.integers(3, size=(4, 30))
    d = distances((X @ X.T) ** 2, labels, 3)
    for r in range(4):
        for k in range(3):
            mean = features[labels[r] == k].mean(axis=0)
            expected = np.square(features - mean).sum(axis=1)
            np.testing.assert_allclose(d[r, :, k], expected, atol=1e-10)


def test_the_linear_kernel_is_k_means(rng):
    X = np.repeat([[0.0, 0.0], [3.0, 1.0], [0.0, 4.0]], 20, axis=0) + rng.standard_normal((60, 2))
    labels = rng.integers(3, size=(1, 60))
    centres = np.stack([X[labels[0] == k].mean(axis=0) for k in range(3)])
    found = kernel_kmeans(X @ X.T, labels, 3)
    expected = kmeans(X, centres[None])
    np.testing.assert_array_equal(found.labels, expected.labels)
    np.testing.assert_allclose(np.nanmin(found.distortion), expected.final[0], rtol=1e-10)
    assert found.converged.all()


def test_the_distortion_never_rises_and_starts_do_not_meddle(rng):
    X = rng.standard_normal((80, 2))
    K = gaussian(X, X, 0.7)
    labels = rng.integers(2, size=(10, 80))
    together = kernel_kmeans(K, labels, 2)
    assert np.nanmax(np.diff(together.distortion)) <= 1e-10
    for r in range(10):
        alone = kernel_kmeans(K, labels[[r]], 2)
        np.testing.assert_array_equal(alone.labels[0], together.labels[r])
        assert alone.iterations[0] == together.iterations[r]


def test_an_empty_cluster_takes_nothing():
    X = np.arange(5.0)[:, None]
    d = distances(X @ X.T, np.zeros((1, 5), dtype=np.int64), 2)
    assert np.isposinf(d[0, :, 1]).all()
    assert one_against_the_rest(4, np.array([2])).tolist() == [[0, 0, 1, 0]]


def by_hand(X, labels, clusters, max_iter):
    """One start in the plane itself: labels and distortion of every iteration, one by one."""
    history, distortion = [labels.tolist()], []
    for _ in range(max_iter):
        nearest, total = [], 0.0
        for x in X:
            far = []
            for k in range(clusters):
                mine = [y for y, label in zip(X, history[-1], strict=True) if label == k]
                far.append(((x - np.mean(mine, axis=0)) ** 2).sum() if mine else np.inf)
            nearest.append(far.index(min(far)))
            total += min(far)
        distortion.append(total)
        if nearest == history[-1]:
            return history, distortion, True
        history.append(nearest)
    return history, distortion, False


@pytest.mark.parametrize("max_iter", [2, 100])
def test_every_iteration_of_every_start_by_hand(rng, max_iter):
    X = np.repeat([[0.0, 0.0], [2.0, 1.0], [0.0, 3.0]], 12, axis=0) + rng.standard_normal((36, 2))
    labels = rng.integers(3, size=(6, 36))
    labels[0] = 0  # two empty clusters: converged immediately
    labels[1] = np.repeat([0, 1, 2], 12)
    found = kernel_kmeans(X @ X.T, labels, 3, max_iter=max_iter)
    steps = set()
    for r in range(6):
        history, distortion, ended = by_hand(X, labels[r], 3, max_iter)
        steps.add(len(distortion))
        assert found.labels[r].tolist() == history[-1]
        assert found.history[: len(history), r].tolist() == history
        assert (found.history[len(history) :, r] == found.labels[r]).all()
        np.testing.assert_allclose(found.distortion[r, : len(distortion)], distortion)
        assert np.isnan(found.distortion[r, len(distortion) :]).all()
        assert found.iterations[r] == len(history) - 1
        assert found.converged[r] == ended
    assert len(steps) > 1  # they stop one after the other
