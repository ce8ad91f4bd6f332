"""A mixture's means by expectation propagation: one point by quadrature, symmetry."""

import numpy as np
from numpy.testing import assert_allclose
from scipy import stats

from bythebook.models.approximation import gaussian_fit, mixture_means


def test_one_component_is_conjugate() -> None:
    x = np.array([[0.3, 1.2, -0.5]])
    found = mixture_means.propagate(x, 1, 4.0, 60)
    assert_allclose(found.covariance, [[[1 / 3.25]]])
    assert_allclose(found.mean, [[x.sum() / 3.25]])


def test_one_point_has_the_moments_of_its_posterior() -> None:
    found = mixture_means.propagate(np.array([[1.5]]), 2, 0.5, 60)
    wide = np.array([6.0, 6.0])
    exact = gaussian_fit.moments(
        gaussian_fit.density(
            gaussian_fit.two_means(np.array([1.5]), 0.5).log_p, np.zeros_like, -wide, wide, 81
        )
    )
    assert_allclose(found.mean[0], exact.mean, atol=1e-8)
    assert_allclose(found.covariance[0], exact.covariance, atol=1e-8)


def test_labels_stay_alike() -> None:
    x = np.random.default_rng(0).normal(size=(3, 10)) + np.array([2.0, -2.0] * 5)
    found = mixture_means.propagate(x, 2, 10.0, 10)
    assert_allclose(found.mean[:, 0], found.mean[:, 1])
    assert (np.linalg.eigvalsh(found.covariance) > 0).all()


def test_components_that_differ_take_their_shares_of_a_point() -> None:
    """The moments of the factor times a Gaussian without symmetry, over a lattice of both means."""
    m, V, x = np.array([0.4, -1.0]), np.array([[0.7, 0.3], [0.3, 2.0]]), 1.5
    side = np.linspace(-12, 12, 241)
    both = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1)
    mass = stats.multivariate_normal(m, V).pdf(both) * stats.norm.pdf(x - both).sum(-1)
    mass /= mass.sum()
    mean = np.einsum("ab,abk->k", mass, both)
    off = both - mean
    found = mixture_means._matched(np.array([x]), m[None], V[None])
    assert_allclose(found.mean, [mean], rtol=1e-9)
    assert_allclose(found.covariance, [np.einsum("ab,abi,abj->ij", mass, off, off)], rtol=1e-9)
