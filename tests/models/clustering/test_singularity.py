"""Components that shrink, by hand; the prior as MLAPP prints it."""

import numpy as np
import pytest

from models.clustering.gaussian_mixture_starts import start_at_points
from models.clustering.singularity import (
    METHODS,
    fit_by,
    shrinking,
    shrinking_bernoulli,
    weak_prior,
)

X = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, -1.0], [6.0, 5.0]])
WIDTHS = np.array([1.0, 0.1])


def test_the_component_sits_on_its_point():
    mixture, single = shrinking(X, 2, 0.3, WIDTHS)
    np.testing.assert_allclose(mixture.pi, [[0.7, 0.3]] * 2)
    np.testing.assert_allclose(mixture.mu[:, 0], [[3, 2]] * 2)
    np.testing.assert_allclose(single.mu[:, 0], [X[2]] * 2)
    np.testing.assert_allclose(mixture.Sigma[0, 0], np.cov(X.T, bias=True))
    np.testing.assert_allclose(single.Sigma[1, 0], 0.01 * np.eye(2))


def test_binary_data_and_their_doubt():
    binary, mixture = shrinking_bernoulli(X, 3, 0.5, WIDTHS)
    np.testing.assert_array_equal(binary, [[0, 0], [0, 1], [1, 0], [1, 1]])
    np.testing.assert_allclose(mixture.mu[:, 1], [[0.5, 0.5], [0.9, 0.9]])


def test_the_weak_prior():
    prior = weak_prior(X, 4)
    np.testing.assert_allclose(prior.S0, np.diag(X.var(axis=0)) / 2)
    assert prior.nu0 == 4


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_covariances_and_a_climb(method):
    rng = np.random.default_rng(0)
    points = rng.standard_normal((60, 2))
    start = start_at_points(points, 2, rng, 3)
    Sigma, objective = fit_by(method, points, start, rng, min_eigenvalue=1e-6, tol=0, max_iter=9)
    assert Sigma.shape == (3, 2, 2, 2)
    assert (np.diff(objective) > -1e-9).all()
