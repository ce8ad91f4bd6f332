"""Tests of errors against scipy.stats and the F test of nested models."""

import numpy as np
from numpy.testing import assert_allclose
from scipy import stats

from models.datasets import load
from models.regression.error_checks import correlation, curvature, rank_correlation


def test_spearman_against_scipy() -> None:
    rng = np.random.default_rng(1)
    a = rng.normal(size=25)
    b = 0.4 * a + rng.normal(size=25)
    assert_allclose(rank_correlation(a, b), stats.spearmanr(a, b), rtol=1e-10)
    assert_allclose(correlation(a, b), stats.pearsonr(a, b), rtol=1e-10)
    assert rank_correlation(a, np.exp(a)) == (1.0, 0.0)


def test_the_bend_is_the_f_test_of_a_quadratic() -> None:
    x, t = load("olympics-100m-men").xt
    losses = [np.polyfit((x - 1950) / 50, t, k, full=True)[1][0] for k in (1, 2)]
    F = (losses[0] - losses[1]) / (losses[1] / 24)
    found = curvature(x, t)
    assert_allclose(found.statistic**2, F, rtol=1e-8)
    assert_allclose(found.p_value, stats.f.sf(F, 1, 24), rtol=1e-8)
