"""Variational PCA: the noise found again, and the misprint that misses it."""

import numpy as np
import pytest

from bythebook.experiments.studies.latent.variational_pca import VariationalPca


def test_the_noise_is_found_again_and_the_printed_f_misses_it(run):
    outcome = run(VariationalPca(repetitions=8))
    corrected, printed = outcome["precision"].values
    assert corrected.mean() == pytest.approx(1, abs=0.1)
    assert printed.mean() < 0.5
    ends = outcome["bound"].values.max(axis=2)
    assert (ends[1] < ends[0] - 10).all()
    assert (np.diff(outcome["bound"].sel(f="corrected").values) >= -1e-6).all()
    closed, integral = outcome["expected_log_precision"].values
    assert closed == pytest.approx(integral, abs=1e-5)


def test_the_bound_stays_where_a_data_set_has_converged(run):
    outcome = run(VariationalPca(repetitions=4))
    for path, taken in zip(
        outcome["bound"].sel(f="corrected").values, outcome["iterations"].values, strict=True
    ):
        assert (path[taken - 1 :] == path[taken - 1]).all()
        assert path[taken - 1] - path[taken - 2] <= 1e-3


def test_exercises(run):
    outcome = run(VariationalPca(repetitions=1, missing=0.1, tol=1e-9, samples=2000))
    evidence = outcome["log_evidence"].item
    about = outcome["regression_bound"]
    assert about.values.max() == pytest.approx(evidence)
    assert about.sel(scale=1, shift=0).item == about.values.max()
    assert outcome["regression_bound_elsewhere"].values.max() < evidence
    value = outcome["bound"].sel(f="corrected", repetition=0).values[-1]
    error = outcome["sampling_error"].item
    assert outcome["sampled_bound"].item == pytest.approx(value, abs=4 * error)
    assert outcome["bound_beside"].values.max() < value
    assert outcome["treatments_apart"].item < 1e-10
