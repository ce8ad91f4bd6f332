"""Kernels: inner products in a space that is written out here, and never by the kernel."""

import numpy as np
import pytest

from bythebook.models.classification.kernels import gaussian, linear, polynomial

RNG = np.random.default_rng(7)
X, Y = RNG.normal(size=(6, 2)), RNG.normal(size=(4, 2))


def test_polynomial_is_the_inner_product_of_all_monomials():
    def features(points):  # (1 + x^T y)^2 = phi(x)^T phi(y)
        a, b = points.T
        two = np.sqrt(2)
        return np.stack([np.ones_like(a), two * a, two * b, a * a, b * b, two * a * b], axis=1)

    np.testing.assert_allclose(polynomial(X, Y, 2), features(X) @ features(Y).T, rtol=1e-12)


def test_gaussian_is_a_function_of_the_distance():
    expected = [[np.exp(-0.3 * ((x - y) ** 2).sum()) for y in Y] for x in X]  # FCML 5.19
    np.testing.assert_allclose(gaussian(X, Y, 0.3), expected, rtol=1e-12)
    shift = np.array([5.0, -2.0])
    np.testing.assert_allclose(gaussian(X + shift, Y + shift, 0.3), expected, rtol=1e-10)


def test_linear_takes_batches():
    X3, Y3 = RNG.normal(size=(3, 5, 2)), RNG.normal(size=(3, 4, 2))
    expected = [
        [[x @ y for y in one_Y] for x in one_X] for one_X, one_Y in zip(X3, Y3, strict=True)
    ]
    np.testing.assert_allclose(linear(X3, Y3), expected, rtol=1e-12)


@pytest.mark.parametrize(
    "gram", [linear(X, X), gaussian(X, X, 2.0), polynomial(X, X, 3)], ids=["linear", "rbf", "poly"]
)
def test_a_gram_matrix_is_symmetric_and_has_no_negative_eigenvalue(gram):
    np.testing.assert_allclose(gram, gram.T, rtol=1e-12)
    assert np.linalg.eigvalsh(gram).min() > -1e-10 * np.abs(gram).max()
