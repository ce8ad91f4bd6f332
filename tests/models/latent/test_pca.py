"""PCA against the singular value decomposition and a search over directions."""

import numpy as np
import pytest

from bythebook.models.latent.pca import covariance, pca


@pytest.fixture
def Y():
    rng = np.random.default_rng(72)
    return rng.standard_normal((3, 40, 5)) @ rng.standard_normal((5, 5)) + 7


def test_eigenvalues_are_squared_singular_values(Y):
    found = pca(Y)
    for y, values, W, X in zip(Y, *found, strict=True):
        centred = y - y.mean(axis=0)
        d = np.linalg.svd(centred, compute_uv=False)
        np.testing.assert_allclose(values, d**2 / 40, rtol=1e-10)
        np.testing.assert_allclose(W.T @ W, np.eye(5), atol=1e-12)
        np.testing.assert_allclose(X.var(axis=0), values, rtol=1e-10)
        np.testing.assert_allclose(X, centred @ W, atol=1e-12)
        np.testing.assert_allclose(covariance(y), np.cov(y.T, bias=True), rtol=1e-10)


def test_no_direction_has_more_variance_than_the_first(Y):
    rng = np.random.default_rng(0)
    w = rng.standard_normal((5, 2000))
    w /= np.linalg.norm(w, axis=0)
    assert (Y[0] @ w).var(axis=0).max() < pca(Y[0]).eigenvalues[0]


def test_signs_are_fixed(Y):
    W = pca(Y).W
    largest = np.take_along_axis(W, np.abs(W).argmax(-2)[..., None, :], -2)
    assert (largest > 0).all()
    np.testing.assert_allclose(pca(-Y).W, W, atol=1e-12)
