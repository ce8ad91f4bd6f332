"""Variational PCA: the noise is found again, and the bound is kept after convergence."""

import numpy as np
import pytest

from bythebook.experiments.studies.latent.variational_pca import VariationalPca
from bythebook.models.convergence import NotConverged


def test_the_noise_is_found_again_and_the_bound_rises(run):
    outcome = run(VariationalPca(repetitions=8))
    assert outcome["precision"].values.mean() == pytest.approx(1, abs=0.1)
    assert (np.diff(outcome["bound"].values) >= -1e-6).all()


def test_the_bound_stays_where_a_data_set_has_converged(run):
    outcome = run(VariationalPca(repetitions=4))
    taken = outcome["iterations_made"].values
    for path, last in zip(outcome["bound"].values, taken, strict=True):
        assert (path[last - 1 :] == path[last - 1]).all()
        assert path[last - 1] - path[last - 2] <= 1e-3


def test_a_limit_that_is_reached_is_a_warning(run):
    with pytest.warns(NotConverged, match="variational PCA"):
        run(VariationalPca(repetitions=2, iterations=3))
