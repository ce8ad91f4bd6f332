"""Truncated Gaussians against scipy.stats.truncnorm."""

import numpy as np
import pytest
from scipy.stats import norm, truncnorm

from bythebook.models.probability.truncated_gaussian import (
    density,
    hazard,
    mass_above,
    mean,
    mean_as_printed,
    normal_integral,
)


@pytest.mark.parametrize("mu", [-3.0, 0.0, 0.5, 2.0])
@pytest.mark.parametrize("s", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("side", [1, -1])
def test_density_and_mean(mu, s, side):
    low, high = ((0 - mu) / s, np.inf) if side > 0 else (-np.inf, (0 - mu) / s)
    law = truncnorm(low, high, loc=mu, scale=s)
    x = side * np.array([0.01, 0.7, 2.0])
    np.testing.assert_allclose(density(x, mu, s, side), law.pdf(x), rtol=1e-8)
    assert (density(-x, mu, s, side) == 0).all()
    np.testing.assert_allclose(density(x, mu, s, 0), norm(mu, s).pdf(x), rtol=1e-12)
    assert mean(mu, s, side) == pytest.approx(law.mean(), rel=1e-7)
    if s == 1:
        assert mean_as_printed(mu, s, side) == mean(mu, s, side)
    elif abs(mu) < 1:  # far from the cut the second term is negligible
        assert mean_as_printed(mu, s, side) != pytest.approx(law.mean(), rel=1e-3)


def test_the_ratio_far_out():
    t = np.array([-50.0, -5.0, 0.0, 5.0, 60.0])
    with np.errstate(all="ignore"):
        expected = np.exp(norm.logpdf(t) - norm.logcdf(t))
    np.testing.assert_allclose(hazard(t), expected, rtol=1e-9, atol=1e-300)
    assert hazard(np.array(-1e5)) == pytest.approx(1e5, rel=1e-6)  # phi/Phi tends to -t


@pytest.mark.parametrize(("mu", "s"), [(0.5, 1.0), (-1.0, 2.0), (3.0, 0.5)])
def test_the_probit_function_and_the_mass_above_zero(mu, s):
    printed, corrected = normal_integral(mu / s)
    assert corrected == pytest.approx(norm.cdf(mu / s), rel=1e-12)
    assert printed == pytest.approx(norm.cdf(mu / s) * np.sqrt(2 * np.pi), rel=1e-12)
    assert mass_above(mu, s) == pytest.approx(norm(mu, s).sf(0), rel=1e-12)
