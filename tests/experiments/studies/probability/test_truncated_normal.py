"""Truncated Gaussians by quadrature against scipy."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import truncnorm

from experiments.contract.errors import BadInput
from experiments.contract.outcome import Outcome
from experiments.studies.probability.truncated_normal import TruncatedNormal


def test_means_and_densities_against_scipy(run: Callable[..., Outcome]) -> None:
    found = run(TruncatedNormal(mu=0.5, sd=1.0))
    laws = [
        truncnorm(-0.5, np.inf, loc=0.5),
        truncnorm(-np.inf, -0.5, loc=0.5),
        truncnorm(-0.25, np.inf, loc=0.5, scale=2),
    ]
    means = [law.mean() for law in laws]
    assert_allclose(found["expected_value"].values, means, rtol=1e-9)
    assert_allclose(found["formula"].values, means, rtol=1e-9)
    assert_allclose(found["total"].values, 1, rtol=1e-9)
    printed = np.abs(found["formula_as_printed"].values / means - 1)
    assert printed[:2].max() < 1e-9 < 0.1 < printed[2]
    x = found["density"].along("x")
    away = np.abs(x) > 1e-9
    for side, law in zip(("positive", "negative"), laws, strict=False):
        values = found["density"].at(curve=side).values
        assert_allclose(values[away], law.pdf(x[away]), rtol=1e-9)


def test_a_spread_of_nothing_is_refused() -> None:
    with pytest.raises(BadInput, match=r"study\.sd"):
        TruncatedNormal(sd=0.0)
