"""The Gaussian Bayes classifier against scikit-learn, scipy.stats and sums over a grid."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB

from bythebook.models.classification.gaussian_classifier import (
    fit,
    log_likelihood,
    probabilities,
)


@pytest.fixture
def points():
    rng = np.random.default_rng(5)
    t = np.repeat([1, 2, 4], [20, 30, 25])
    X = rng.standard_normal((75, 3)) @ rng.standard_normal((3, 3)) + t[:, None]
    return X, t, rng.standard_normal((40, 3)) * 3


@pytest.mark.parametrize("unbiased", [False, True])
def test_full_covariance_is_bayes_rule(points, unbiased):
    X, t, new = points
    joint = np.stack(
        [
            multivariate_normal(mine.mean(0), np.cov(mine.T, bias=not unbiased)).pdf(new)
            * len(mine)
            for mine in (X[t == c] for c in (1, 2, 4))
        ],
        axis=1,
    )
    expected = joint / joint.sum(1, keepdims=True)
    np.testing.assert_allclose(
        probabilities(fit(X, t, unbiased=unbiased), new), expected, rtol=1e-7
    )


def test_naive_is_gaussian_naive_bayes(points):
    X, t, new = points
    theirs = GaussianNB(var_smoothing=0).fit(X, t).predict_proba(new)
    np.testing.assert_allclose(probabilities(fit(X, t, "naive"), new), theirs, rtol=1e-7)


def test_shared_is_linear_discriminant_analysis(points):
    X, t, new = points
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(X, t).predict_proba(new)
    np.testing.assert_allclose(probabilities(fit(X, t, "shared"), new), theirs, rtol=1e-6)


def test_shared_without_bias_divides_by_the_points_less_the_classes(points):
    X, t, _ = points
    scatter = sum((np.sum(t == c) - 1) * np.cov(X[t == c].T) for c in (1, 2, 4))
    found = fit(X, t, "shared", unbiased=True).covariance
    np.testing.assert_allclose(found, np.stack([scatter / (len(X) - 3)] * 3), rtol=1e-12)


def test_priors_and_likelihoods(points):
    X, t, new = points
    classes = fit(X, t)
    np.testing.assert_allclose(classes.prior, [np.mean(t == c) for c in (1, 2, 4)], rtol=1e-15)
    for k, c in enumerate((1, 2, 4)):
        mine = X[t == c]
        law = multivariate_normal(mine.mean(0), np.cov(mine.T, bias=True))
        np.testing.assert_allclose(log_likelihood(classes, new)[:, k], law.logpdf(new), rtol=1e-9)
