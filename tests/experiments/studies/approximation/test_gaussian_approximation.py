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
    found = run(GaussianApproximation(["mixture", "labels"], repetitions=2, restarts=2))
    means = {name: found["fit_mean"].sel(method=name).values for name in ("exact", "inclusive")}
    assert_allclose(means["inclusive"], means["exact"], atol=1e-4)
    divergence = found["divergence"]
    assert np.isin(divergence.sel(direction="p||q").values.argmin(1), [0, 3]).all()
    assert np.isin(divergence.sel(direction="q||p").values.argmin(1), [2]).all()
    assert (found["optima"].sel(direction="p||q").values == 1).all()
    assert found["predictive_loss"].values.min() > 0
    ends = found["start_mean"].values
    best = found["fit_mean"].sel(method="variational").values[:, 0]
    assert_allclose(np.abs(ends - best[:, None]).max(-1).min(-1), 0)
    ep = found["ep_mean"].values
    assert_allclose(ep[:, 0], ep[:, 1])


def test_one_variable(run: Run) -> None:
    found = run(GaussianApproximation(["skewed"], repetitions=1, restarts=2))
    z, log_p = found["place"].values[0, :, 0], found["log_density"].values[0]
    assert_allclose(np.trapezoid(np.exp(log_p), z), 1, rtol=1e-6)
    assert found["rare_mass"].values.max() < 0.5
    assert "predictive_loss" not in found
