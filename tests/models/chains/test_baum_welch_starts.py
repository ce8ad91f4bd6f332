"""Labels give counts and class moments; a good start reaches the optimum that labels reach."""

import numpy as np

from bythebook.models.chains import baum_welch as bw
from bythebook.models.chains import baum_welch_starts as starts
from bythebook.models.chains import hmm
from bythebook.models.types import Floats, Ints


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


def test_a_shaken_model_is_off_by_so_much_noise() -> None:
    """Log odds move by strength times differences of normal numbers, means in units of Sigma."""
    rng = np.random.default_rng(3)
    theta = starts.random_categorical(3, 4, 4000, rng)._replace(
        pi=np.tile([0.5, 0.5, 0.0], (4000, 1))
    )
    shaken = starts.perturb(theta, np.random.default_rng(4), 0.2)
    assert (shaken.pi[:, 2] == 0).all()
    for before, after in zip(theta, shaken, strict=True):
        np.testing.assert_allclose(after.sum(axis=-1), 1, rtol=1e-12)
        odds = np.log(after[..., 0] / after[..., 1]) - np.log(before[..., 0] / before[..., 1])
        np.testing.assert_allclose(odds.std(), 0.2 * np.sqrt(2), rtol=0.05)
        assert abs(odds.mean()) < 0.02
    mu, Sigma = np.zeros((4000, 2, 2)), np.tile([[4.0, 1.0], [1.0, 1.0]], (4000, 2, 1, 1))
    gaussian = bw.GaussianHMM(*starts.uniform_chain(4000, 2), mu, Sigma)
    moved = starts.perturb(gaussian, np.random.default_rng(6), 0.3)
    np.testing.assert_array_equal(moved.Sigma, Sigma)
    shifts = moved.mu.reshape(-1, 2)
    np.testing.assert_allclose(np.cov(shifts.T), 0.09 * Sigma[0, 0], rtol=0.06)
    assert np.abs(shifts.mean(axis=0)).max() < 0.03
    still = starts.perturb(gaussian, np.random.default_rng(6), 0.0)
    for name in ("pi", "A", "mu"):
        np.testing.assert_allclose(getattr(still, name), getattr(gaussian, name), rtol=1e-15)


def test_random_chains_have_the_requested_concentration() -> None:
    """A symmetric Dirichlet: mean 1 / K, variance (K - 1) / K^2 / (K c + 1)."""
    for c in (1.0, 6.0):
        theta = starts.random_categorical(3, 5, 20_000, np.random.default_rng(7), c)
        for p, K in ((theta.pi, 3), (theta.A, 3), (theta.B, 5)):
            np.testing.assert_allclose(p.sum(axis=-1), 1, rtol=1e-12)
            np.testing.assert_allclose(p.reshape(-1, K).mean(axis=0), 1 / K, rtol=0.02)
            spread = (K - 1) / K**2 / (K * c + 1)
            np.testing.assert_allclose(p.reshape(-1, K).var(axis=0), spread, rtol=0.05)
    flat = starts.random_categorical(3, 5, 20_000, np.random.default_rng(7))
    np.testing.assert_array_equal(
        flat.A, starts.random_categorical(3, 5, 20_000, np.random.default_rng(7), 1.0).A
    )


def test_equal_states_have_the_frequencies_and_moments_of_all_data() -> None:
    x = np.array([[0, 1, 1, 2], [2, 2, 0, 1]])
    theta = starts.identical_categorical(x, 2, 4, 3)
    np.testing.assert_allclose(theta.B, np.tile([2 / 8, 3 / 8, 3 / 8, 0], (3, 2, 1)))
    np.testing.assert_allclose(theta.pi, 1 / 2)
    np.testing.assert_allclose(theta.A, 1 / 2)
    _, points = three_clusters(40, seed=8)
    flat = points.reshape(-1, 2)
    same = starts.identical_gaussian(points, 3, 2)
    random = starts.random_gaussian(points, 3, 2, np.random.default_rng(9))
    for model in (same, random):
        covariance = (flat - flat.mean(0)).T @ (flat - flat.mean(0)) / len(flat)
        np.testing.assert_allclose(model.Sigma, np.tile(covariance, (2, 3, 1, 1)))
    np.testing.assert_allclose(same.mu, np.tile(flat.mean(0), (2, 3, 1)))
    assert all((flat == mean).all(axis=1).any() for mean in random.mu.reshape(-1, 2))
    assert random.A.std() > 0.1


def test_starts_by_kmeans_are_the_moments_of_its_clusters() -> None:
    z, x = three_clusters(200, seed=10)
    theta = starts.kmeans_gaussian(x, 3, 2, np.random.default_rng(11))
    points, true = x.reshape(-1, 2), z.ravel()
    for mu, Sigma in zip(theta.mu, theta.Sigma, strict=True):
        labels = ((points[:, None] - mu) ** 2).sum(axis=2).argmin(axis=1)
        for k in range(3):
            np.testing.assert_allclose(mu[k], points[labels == k].mean(axis=0), rtol=1e-9)
            covariance = np.cov(points[labels == k].T, bias=True)
            np.testing.assert_allclose(Sigma[k], covariance, rtol=1e-8)
        purity = sum(np.bincount(true[labels == k]).max() for k in range(3)) / len(true)
        assert purity > 0.95
    np.testing.assert_array_equal(theta.A, np.full((2, 3, 3), 1 / 3))
    np.testing.assert_array_equal(theta.pi, np.full((2, 3), 1 / 3))
