"""Kinds of start by name."""

import numpy as np
import pytest

from bythebook.models.clustering.gaussian_mixture import GaussianMixture
from bythebook.models.clustering.kmeans import (
    kmeans,
    kmeans_plus_plus,
    random_in_box,
    random_points,
)
from bythebook.models.clustering.starts import CENTRES, MIXTURES, centres, mixtures
from bythebook.models.types import Floats

R, K = 40, 3


@pytest.fixture(name="X")
def make_points() -> Floats:
    return np.random.default_rng(0).normal(size=(30, 2))


@pytest.mark.parametrize("kind", CENTRES)
def test_centres_are_where_their_kind_says(kind: str, X: Floats) -> None:
    box = np.array([4.0, 4.0]), np.array([6.0, 8.0])
    found = centres(kind, X, K, box, np.random.default_rng(1), R)
    assert found.shape == (R, K, 2)
    if kind in ("points", "plus_plus"):
        assert (found[..., None, :] == X).all(-1).any(-1).all()
        return
    assert ((found >= box[0]) & (found <= box[1])).all()
    # A tenth of each side, in a corner: together in every variable.
    together = (np.ptp(found, axis=1) <= (box[1] - box[0]) / 10).all(-1)
    assert together.all() == (kind == "corner")


@pytest.mark.parametrize("kind", MIXTURES)
def test_every_mixture_is_one(kind: str, X: Floats) -> None:
    theta = mixtures(kind, X, K, (X.min(0), X.max(0)), np.random.default_rng(1), R)
    assert theta.mu.shape == (R, K, 2)
    np.testing.assert_allclose(theta.pi.sum(axis=1), 1)
    assert (np.linalg.eigvalsh(theta.Sigma) > 0).all()
    assert (np.ptp(theta.mu, axis=1).max() < 1e-12) == (kind == "identical")


def test_a_corner_is_the_box_in_a_tenth_of_its_size(X: Floats) -> None:
    low, high = np.array([4.0, 4.0]), np.array([6.0, 8.0])
    found = centres("corner", X, K, (low, high), np.random.default_rng(2), R)
    rng = np.random.default_rng(2)
    inside = random_in_box(low, high, K, rng, R)
    corner = np.where(rng.random((R, 1, 2)) < 0.5, low, high)
    np.testing.assert_allclose(found, 0.9 * corner + 0.1 * inside, rtol=1e-12)


def test_a_mixture_is_its_recipe(X: Floats) -> None:
    """Each kind from the same draws: the places of its means, its widths and its weights."""
    box = X.min(0), X.max(0)
    unit, shared = np.eye(2), np.cov(X.T, bias=True)

    def found(kind: str) -> GaussianMixture:
        return mixtures(kind, X, K, box, np.random.default_rng(3), R)

    def drawn() -> np.random.Generator:
        return np.random.default_rng(3)

    for kind, mu, Sigma in (
        ("points", random_points(X, K, drawn(), R), shared),
        ("unit_points", random_points(X, K, drawn(), R), unit),
        ("plus_plus", kmeans_plus_plus(X, K, drawn(), R), shared),
        ("box", random_in_box(*box, K, drawn(), R), unit),
        ("identical", np.tile(X.mean(0), (R, K, 1)), shared),
    ):
        theta = found(kind)
        np.testing.assert_allclose(theta.mu, mu, rtol=1e-12)
        np.testing.assert_allclose(theta.Sigma, np.broadcast_to(Sigma, (R, K, 2, 2)), rtol=1e-12)
        np.testing.assert_array_equal(theta.pi, np.full((R, K), 1 / K))
    labels = kmeans(X, random_points(X, K, drawn(), R)).labels
    by_kmeans = found("kmeans")
    for r in range(5):
        for k in range(K):
            own = X[labels[r] == k]
            np.testing.assert_allclose(by_kmeans.pi[r, k], len(own) / len(X))
            np.testing.assert_allclose(by_kmeans.mu[r, k], own.mean(0))
    rng = drawn()
    mu, u = rng.standard_normal((R, K, 2)), rng.uniform(size=(R, K, 1, 1))
    np.testing.assert_allclose(found("gaussians").mu, mu)
    np.testing.assert_allclose(found("gaussians").Sigma, u * unit)
