"""Study `factorised_gaussian`: a Gaussian in closed form."""

from collections.abc import Callable

import numpy as np
from numpy.testing import assert_allclose

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.approximation.factorised_gaussian import FactorisedGaussian

Run = Callable[..., Outcome]


def test_a_single_gaussian(run: Run) -> None:
    found = run(FactorisedGaussian(repetitions=1, restarts=2, correlation=0.5))
    covariance = found["covariance"].values[:, 0]
    assert_allclose(covariance[0], [[1, 0.5], [0.5, 1]])
    assert_allclose(covariance[1:], [0.75 * np.eye(2), np.eye(2)], atol=1e-2)
    along = found["variance_along"]
    assert_allclose(along.sel(density="p").values[:, 0], [1.5, 0.5])
    assert_allclose(along.sel(density="q||p").values[:, 0], [0.75, 0.75], rtol=1e-3)
    assert_allclose(found["entropy"].values[0], 1 + np.log(2 * np.pi) + np.log(0.75) / 2)
    less, more = found["rare_mass"].values[:, 0]
    assert 0 < less < more < 0.1
