"""Tests of errors against scipy.stats and the F test of nested models."""

import numpy as np
from numpy.testing import assert_allclose
from scipy import stats

from models.datasets import load
from models.regression.error_checks import correlation, curvature, p_values, rank_correlation


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


def test_every_question_has_its_own_test() -> None:
    rng = np.random.default_rng(3)
    x = rng.uniform(0, 4, 30)
    t = 1 + x + 0.3 * x**2 + rng.normal(size=30) * (0.2 + x)
    errors = t - np.polyval(np.polyfit(x, t, 1), x)
    size = np.abs(errors)
    found = p_values(x, t, errors)
    expected = {
        "direction by ranks": stats.spearmanr(x, errors).pvalue,
        "size by ranks": stats.spearmanr(x, size).pvalue,
        "size by values": stats.pearsonr(x, size).pvalue,
        "bend": curvature(x, t).p_value,
    }
    assert found.keys() == expected.keys()
    for name, p in expected.items():
        assert_allclose(found[name], p, rtol=1e-8, err_msg=name)


def test_the_sign_of_a_bend_and_of_a_relation() -> None:
    x = np.linspace(0, 1, 9)
    wiggle = 0.01 * (-1.0) ** np.arange(9)
    assert curvature(x, (x - 0.5) ** 2 + wiggle).statistic > 0
    assert curvature(x, -((x - 0.5) ** 2) + wiggle).statistic < 0
    assert rank_correlation(x, -x) == (-1.0, 0.0)
    assert correlation(x, 2 - 3 * x).statistic == -1
