"""Study `factorised_gaussian`: settings and results."""

from collections.abc import Callable

import numpy as np
from numpy.testing import assert_allclose

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.approximation.factorised_gaussian import FactorisedGaussian

Run = Callable[..., Outcome]


def test_a_single_gaussian(run: Run) -> None:
    found = run(FactorisedGaussian(draws=1, starts=2, correlation=0.5))
    assert_allclose(found["true_covariance"].values[0], [[1, 0.5], [0.5, 1]])
    along = found["variance_along"]
    assert_allclose(along.sel(of="p").values[:, 0], [1.5, 0.5])
    assert_allclose(along.sel(of="q||p").values[:, 0], [0.75, 0.75], rtol=1e-3)
    assert_allclose(found["entropy"].values[0], 1 + np.log(2 * np.pi) + np.log(0.75) / 2)
    less, more = found["rare_mass"].values[:, 0]
    assert 0 < less < more < 0.1
    wrong, right = np.abs(found["constant_gap"].values[:, 0])
    assert right < 1e-4 < 1 < wrong
    assert (found["bound_above_chord"].values > 0).all()
