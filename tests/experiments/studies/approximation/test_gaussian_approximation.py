"""Gaussian approximations of drawn densities: invalid settings, and the axes."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.approximation.gaussian_approximation import GaussianApproximation

Run = Callable[..., Outcome]


def test_densities_have_the_same_variables() -> None:
    with pytest.raises(InputError, match="one number of variables"):
        GaussianApproximation(["skewed", "mixture"])


def test_searched_gaussians_and_moments(run: Run) -> None:
    found = run(GaussianApproximation(["labels"], draws=1, starts=2))
    ways = {name: found["centre"].sel(way=name).values for name in ("exact", "inclusive")}
    assert_allclose(ways["inclusive"], ways["exact"], atol=1e-4)
    divergence = found["divergence"]
    least = divergence.sel(direction="p||q").values.argmin(1)
    assert np.isin(least, [0, 3]).all()
    assert (found["optima"].sel(direction="p||q").values == 1).all()
    assert found["predictive_loss"].values.min() > 0
    assert found["log_likelihood"].dims == ("parameters", "draw")
    assert found["covariance"].dims == ("density", "way", "draw", "variable", "other")


def test_one_variable(run: Run) -> None:
    found = run(GaussianApproximation(["skewed"], draws=1, starts=2))
    z, log_p = found["place"].values[0, :, 0], found["log_density"].values[0]
    assert_allclose(np.trapezoid(np.exp(log_p), z), 1, rtol=1e-6)
    assert found["rare_mass"].values.max() < 0.5
    assert "predictive_loss" not in found
