"""Labels give counts and class moments; a good start reaches the optimum that labels reach."""

import numpy as np

from models.chains import baum_welch as bw
from models.chains import baum_welch_starts as starts
from models.chains import hmm
from models.types import Floats, Ints


def three_clusters(length: int, seed: int) -> tuple[Ints, Floats]:
    """Two sequences of a chain of three Gaussians, and their states."""
    rng = np.random.default_rng(seed)
    A, mu = 0.05 + 0.85 * np.eye(3), np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])
    z = hmm.sample_states(np.full(3, 1 / 3), A, rng.random((2, length)))
    return z, hmm.sample_gaussians(mu, np.tile(0.5 * np.eye(2), (3, 1, 1)), z, rng)


def test_labelled_estimates_are_counts() -> None:
    x, z = np.array([[0, 1, 1, 2], [2, 2, 0, 1]]), np.array([[0, 0, 1, 1], [1, 0, 0, 1]])
    theta = starts.labelled_categorical(x, bw.one_hot(z, 3)[None], 3)
    np.testing.assert_array_equal(theta.pi[0], [1 / 2, 1 / 2, 0])
    np.testing.assert_array_equal(theta.A[0, :2], [[2 / 4, 2 / 4, 0], [1 / 2, 1 / 2, 0]])
    np.testing.assert_array_equal(theta.B[0, :2], [[2 / 4, 1 / 4, 1 / 4], [0, 2 / 4, 2 / 4]])
    np.testing.assert_array_equal(theta.A[0, 2], [1 / 3] * 3)  # never seen: no preference
    smooth = starts.labelled_categorical(x, bw.one_hot(z, 3)[None], 3, bw.Prior(symbol=1.0))
    np.testing.assert_array_equal(smooth.B[0, 0], [3 / 7, 2 / 7, 2 / 7])


def test_labelled_gaussians_are_class_moments() -> None:
    z, x = three_clusters(200, seed=14)
    theta = starts.labelled_gaussian(x, bw.one_hot(z, 3)[None])
    for k in range(3):
        np.testing.assert_allclose(theta.mu[0, k], x[z == k].mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(theta.Sigma[0, k], np.cov(x[z == k].T, bias=True), rtol=1e-11)


def test_kmeans_and_labels_reach_the_best_optimum() -> None:
    z, x = three_clusters(150, seed=15)
    clustered = bw.baum_welch(starts.kmeans_gaussian(x, 3, 4, np.random.default_rng(16)), x)
    labelled = bw.baum_welch(starts.labelled_gaussian(x, bw.one_hot(z, 3)[None]), x)
    scattered = bw.baum_welch(starts.random_gaussian(x, 3, 10, np.random.default_rng(17)), x)
    best = labelled.final[0]
    np.testing.assert_allclose(clustered.final, best, rtol=0, atol=1e-5)
    assert (scattered.final < best + 1e-5).all()
    assert scattered.final.min() < best - 1


def test_a_mixture_finds_the_clusters_and_leaves_the_chain_uniform() -> None:
    z, x = three_clusters(300, seed=19)
    theta = starts.mixture_gaussian(x[0], 3, 4, np.random.default_rng(20))
    np.testing.assert_array_equal(theta.A, np.full((4, 3, 3), 1 / 3))
    centres = np.array([x[0][z[0] == k].mean(axis=0) for k in range(3)])
    for mu in theta.mu:
        away = np.linalg.norm(mu[:, None] - centres, axis=-1)
        assert sorted(away.argmin(axis=1)) == [0, 1, 2]
        assert away.min(axis=1).max() < 0.3


def test_zeros_are_put_in_and_rows_still_sum_to_one() -> None:
    theta = starts.random_categorical(3, 4, 5, np.random.default_rng(21))
    cut = starts.with_zeros(theta)
    assert not cut.pi[:, 0].any()
    assert not cut.A[:, 0, 1].any()
    np.testing.assert_allclose(cut.pi.sum(axis=-1), 1, rtol=1e-14)
    np.testing.assert_allclose(cut.A.sum(axis=-1), 1, rtol=1e-14)
    np.testing.assert_array_equal(cut.A[:, 1:], theta.A[:, 1:] / theta.A[:, 1:].sum(-1)[..., None])
    assert theta.pi.all()  # what it was made of stays
