"""Tests of errors against scipy.stats and the F test of nested models."""

import numpy as np
from numpy.testing import assert_allclose
from scipy import stats

from bythebook.models.datasets import load
from bythebook.models.regression.error_checks import (
    correlation,
    curvature,
    p_values,
    rank_correlation,
)


def test_spearman_against_scipy() -> None:
    rng = np.random.default_rng(1)
    a = rng.normal(size=25)
    b = 0.4 * a + rng.normal(size=25)
    assert_allclose(rank_correlation(a, b), stats.spearmanr(a, b).pvalue, rtol=1e-10)
    assert_allclose(correlation(a, b), stats.pearsonr(a, b).pvalue, rtol=1e-10)
    assert rank_correlation(a, np.exp(a)) == rank_correlation(a, -a) == 0
    assert correlation(a, 2 - 3 * a) < 1e-100


def test_the_bend_is_the_f_test_of_a_quadratic() -> None:
    x, t = load("olympics-100m-men").xt
    losses = [np.polyfit((x - 1950) / 50, t, k, full=True)[1][0] for k in (1, 2)]
    F = (losses[0] - losses[1]) / (losses[1] / 24)
    assert_allclose(curvature(x, t), stats.f.sf(F, 1, 24), rtol=1e-8)


def test_every_question_has_its_own_test() -> None:
    rng = np.random.default_rng(3)
    x = rng.uniform(0, 4, 30)
    t = 1 + x + 0.3 * x**2 + rng.normal(size=30) * (0.2 + x)
    errors = t - np.polyval(np.polyfit(x, t, 1), x)
    size = np.abs(errors)
    found = p_values(x, t, errors)
    losses = [np.polyfit(x, t, k, full=True)[1][0] for k in (1, 2)]
    F = (losses[0] - losses[1]) / (losses[1] / 27)
    expected = {
        "direction by ranks": stats.spearmanr(x, errors).pvalue,
        "size by ranks": stats.spearmanr(x, size).pvalue,
        "size by values": stats.pearsonr(x, size).pvalue,
        "bend": stats.f.sf(F, 1, 27),
    }
    assert found.keys() == expected.keys()
    for name, p in expected.items():
        assert_allclose(found[name], p, rtol=1e-8, err_msg=name)
