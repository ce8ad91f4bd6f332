"""A class mean averaged out, against the density of a sum."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.studies.classification.bayesian_class_mean import BayesianClassMean
from bythebook.models.datasets import load


def test_class_mean_against_the_density_of_a_sum(run: Callable[..., Any]) -> None:
    study = BayesianClassMean(sizes=[2, 5], draws=2000)
    outcome = run(study)
    X = load(study.data).matrix[:5, :2]  # the first rows are the first class
    v = 1 / (5 + 1 / 10)
    exact = multivariate_normal(v * X.sum(0), (1 + v) * np.eye(2)).pdf([2, 0])
    expected = outcome["expected_likelihood"].sel(seen=5).item
    assert expected == pytest.approx(exact, rel=1e-9)
    off = abs(outcome["monte_carlo"].sel(seen=5).item - exact)
    assert off < 4 * outcome["standard_error"].sel(seen=5).item
    moments = outcome["posterior_moments"].sel(seen=5)
    assert_allclose(moments.sel(way="grid"), moments.sel(way="formula"), rtol=1e-9)
    curve = outcome["likelihood"].sel(seen=5, mean="estimated")
    plain = multivariate_normal(X.mean(0), np.eye(2))
    assert_allclose(curve, [plain.pdf([x, 0]) for x in curve.coord("x1")], rtol=1e-9)


@pytest.mark.parametrize("knobs", [{"sizes": [31]}, {"sizes": [3, 1]}, {"at": [1.0]}])
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        BayesianClassMean(**knobs)
