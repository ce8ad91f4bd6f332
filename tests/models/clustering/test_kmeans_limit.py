"""EM with held covariances by a plain loop; the limit of the complete log likelihood by sums."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.cluster import KMeans

from bythebook.models.clustering.kmeans_limit import approach, fit_held

CENTRES = np.array([[-1.0, 0.0], [1.0, 0.0]])
WEIGHTS = np.array([[0.5, 0.5], [0.8, 0.2]])


@pytest.fixture
def X():
    return np.random.default_rng(5).standard_normal((40, 2)) + np.repeat(CENTRES, 20, axis=0)


def test_held_covariances_by_a_loop(X):
    epsilon = np.array([1.0, 0.2])
    em = fit_held(X, CENTRES, epsilon, WEIGHTS, fixed_pi=True, steps=7)
    for i, (e, pi) in enumerate((e, pi) for e in epsilon for pi in WEIGHTS):
        mu = CENTRES
        for _ in range(7):
            p = pi * np.exp(-((X[:, None] - mu) ** 2).sum(2) / (2 * e))
            gamma = p / p.sum(1, keepdims=True)
            mu = gamma.T @ X / gamma.sum(0)[:, None]
        np.testing.assert_allclose(em.theta.mu[i], mu, rtol=1e-9)
    assert sorted(em.snapshots) == list(range(8))


def test_the_approach_to_kmeans(X):
    found = approach(X, CENTRES, np.array([0.5, 1e-6]), WEIGHTS, fixed_pi=False)
    theirs = KMeans(2, init=CENTRES, n_init=1, tol=0).fit(X)
    assert found.distortion[-1] == pytest.approx(theirs.inertia_)
    for values in found.ends:
        assert values.shape == (2, 2)
        assert (values[0] > 1e-4).all()
        assert (values[1] < 1e-9).all()
    assert found.path_difference.max() < 1e-9
    mu = fit_held(X, CENTRES, np.array([0.5]), WEIGHTS[1:], fixed_pi=False, steps=200).theta.mu[0]
    expected = np.abs(mu - theirs.cluster_centers_).max()
    assert found.ends.difference[0, 1] == pytest.approx(expected)


def test_the_paths_and_ends_by_loops(X):
    """Both algorithms one step after the other; K-means stays where it has ended."""
    epsilon = np.array([0.9, 0.5])
    found = approach(X, CENTRES, epsilon, WEIGHTS, fixed_pi=False)
    labels_of = lambda mu: ((X[:, None] - mu) ** 2).sum(2).argmin(1)  # noqa: E731
    hard = [CENTRES]
    for _ in range(200):
        hard.append(np.array([X[labels_of(hard[-1]) == k].mean(0) for k in range(2)]))
    r = np.eye(2)[labels_of(hard[-1])]
    for e, w in np.ndindex(2, 2):
        mu, pi, path = CENTRES, WEIGHTS[w], [CENTRES]
        for _ in range(201):
            p = pi * np.exp(-((X[:, None] - mu) ** 2).sum(2) / (2 * epsilon[e]))
            gamma = p / p.sum(1, keepdims=True)
            if len(path) == 201:
                break
            mu, pi = gamma.T @ X / gamma.sum(0)[:, None], gamma.mean(0)
            path.append(mu)
        ends = found.ends
        assert ends.difference[e, w] == pytest.approx(np.abs(mu - hard[-1]).max(), rel=1e-6)
        off = np.abs(gamma - r).max()
        assert ends.responsibilities_off_labels[e, w] == pytest.approx(off, rel=1e-6)
        far = np.abs(pi - r.mean(0)).max()
        assert ends.weights_off_fractions[e, w] == pytest.approx(far, rel=1e-6)
        if (e, w) == (1, 0):
            aside = [np.abs(a - b).max() for a, b in zip(path, hard, strict=True)]
            np.testing.assert_allclose(found.path_difference, aside, rtol=1e-6)
    distortion = []
    for before, after in pairwise(hard):
        labels = labels_of(before)
        distortion += [((X - mu[labels]) ** 2).sum() for mu in (before, after)]
    T = len(found.distortion)
    np.testing.assert_allclose(found.distortion, distortion[:T])
    assert distortion[T - 1] == pytest.approx(distortion[-1])
