"""Components that shrink, by hand; the prior as MLAPP prints it."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture as SklearnMixture

from bythebook.models.clustering.gaussian_mixture import GaussianMixture
from bythebook.models.clustering.gaussian_mixture_starts import start_at, start_at_points
from bythebook.models.clustering.singularity import (
    METHODS,
    fit_by,
    shrinking,
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
    if method in ("ml", "reset"):  # neither prior nor singularity: scikit-learn's likelihood
        for r in range(3):
            theirs = SklearnMixture(
                2,
                weights_init=start.pi[r],
                means_init=start.mu[r],
                precisions_init=np.linalg.inv(start.Sigma[r]),
                tol=0,
                max_iter=9,
                reg_covar=0,
            )
            with pytest.warns(ConvergenceWarning):
                theirs.fit(points)
            np.testing.assert_allclose(Sigma[r], theirs.covariances_, rtol=1e-4)
            assert objective[r, -1] == pytest.approx(60 * theirs.score(points), rel=1e-6)


def test_three_methods_keep_a_component_off_its_point():
    """From a start that has one point to itself: likelihood alone lets it shrink."""
    rng = np.random.default_rng(1)
    points = rng.standard_normal((40, 2))
    start = GaussianMixture(
        np.array([[0.97, 0.03]]),
        np.stack([points.mean(0), points[7]])[None],
        np.stack([np.cov(points.T), 1e-4 * np.eye(2)])[None],
    )
    smallest = {}
    for method in METHODS:
        Sigma, _ = fit_by(method, points, start, rng, min_eigenvalue=1e-6, tol=0, max_iter=60)
        smallest[method] = np.linalg.eigvalsh(Sigma).min()
    assert smallest.pop("ml") < 1e-6
    assert min(smallest.values()) > 1e-6
    assert min(smallest["map"], smallest["vb"]) > 0.01


def test_the_prior_enters_map_and_variational_bayes():
    """One component needs no labels: both ends have a closed form."""
    points = np.random.default_rng(2).standard_normal((30, 2))
    start = start_at_points(points, 1, np.random.default_rng(0), 1)
    scatter, S0 = 30 * np.cov(points.T, bias=True), np.diag(points.var(axis=0))
    options = {"min_eigenvalue": 1e-9, "tol": 0.0, "max_iter": 30}
    Sigma, _ = fit_by("map", points, start, np.random.default_rng(0), **options)
    # The mode of an inverse Wishart distribution with nu0 + N degrees of freedom, nu0 = D + 2
    np.testing.assert_allclose(Sigma[0, 0], (S0 + scatter) / (4 + 30 + 2 + 1), rtol=1e-6)
    Sigma, _ = fit_by("vb", points, start, np.random.default_rng(0), **options)
    # PRML 10.61 to 10.63 with m0 at the mean: E[Lambda]^-1 = W^-1 / nu, nu = nu0 + N
    np.testing.assert_allclose(Sigma[0, 0], (S0 + scatter) / (4 + 30), rtol=1e-6)


def test_variational_bayes_begins_with_the_points_nearest_to_each_mean():
    """A narrow cluster and a broad one: each component keeps the one that it began at."""
    rng = np.random.default_rng(1)
    narrow, broad = rng.normal(0, 0.1, (60, 2)), rng.normal(20, 2, (60, 2))
    X, mu = np.concatenate([narrow, broad]), np.array([[[0.0, 0.0], [20.0, 20.0]]])
    options = {"min_eigenvalue": 1e-3, "tol": 1e-9, "max_iter": 50}
    for order in ([0, 1], [1, 0]):
        start = start_at(mu[:, order], np.eye(2))
        Sigma, _ = fit_by("vb", X, start, rng, **options)
        widths = np.trace(Sigma[0], axis1=1, axis2=2)[order]
        assert 2 * widths[0] < widths[1]
