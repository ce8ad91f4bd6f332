"""The likelihood against normal densities, the information by finite differences."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from bythebook.models.regression.linear_likelihood import (
    information,
    log_likelihood,
    relative_likelihood,
)
from bythebook.models.types import Floats


@pytest.fixture(scope="module")
def sample() -> tuple[Floats, Floats]:
    rng = np.random.default_rng(1)
    X = np.column_stack([np.ones(30), rng.normal(size=(30, 2))])
    return X, X @ [1.0, -2.0, 0.5] + 0.7 * rng.normal(size=30)


def test_log_likelihood_is_the_sum_of_normal_densities(sample: tuple[Floats, Floats]) -> None:
    X, t = sample
    W = np.random.default_rng(2).normal(size=(4, 5, 3))
    found = log_likelihood(X, t, W, 0.3)
    assert found.shape == (4, 5)
    expected = norm.logpdf(t, X @ W[1, 2], np.sqrt(0.3)).sum()
    assert_allclose(found[1, 2], expected, rtol=1e-12)
    ratio = np.exp(expected - norm.logpdf(t, X @ W[0, 0], np.sqrt(0.3)).sum())
    assert_allclose(relative_likelihood(X, t, W, W[0, 0], 0.3)[1, 2], ratio, rtol=1e-9)


def test_the_information_is_the_curvature_of_the_likelihood(sample: tuple[Floats, Floats]) -> None:
    X, t = sample
    w, eye = np.array([0.3, -1.0, 1.0]), np.eye(3)  # differences of a quadratic are exact
    pairs = w + eye[:, None] + eye
    one, none = log_likelihood(X, t, w + eye, 0.5), log_likelihood(X, t, w, 0.5)
    second = log_likelihood(X, t, pairs, 0.5) - one[:, None] - one + none
    assert_allclose(information(X, 0.5), -second, rtol=1e-8, atol=1e-8)
