"""Variational PCA: the studies of the bound and of missing values."""

import numpy as np
import pytest

from experiments.contract.errors import BadInput
from experiments.contract.study import generator
from experiments.studies.latent.missing_values import MissingValues
from experiments.studies.latent.variational_pca import (
    VariationalBound,
    VariationalPca,
    confusion,
    path_never_falls,
)


def test_the_noise_is_found_again_and_the_printed_f_misses_it() -> None:
    study = VariationalPca(repetitions=8)
    outcome = study.run(generator(study.name, 0))
    assert outcome.metrics["mean_precision"] == pytest.approx(1, abs=0.1)
    assert outcome.metrics["mean_precision_printed_f"] < 0.5
    assert outcome.metrics["printed_f_reaches_the_bound"] is False
    assert outcome.metrics["bound_never_falls"] is True
    assert outcome.metrics["log_precision_must_be_sampled"] is False
    assert list(study.draw(outcome)) == ["ppca"]


def test_exercises() -> None:
    study = VariationalBound(repetitions=1)
    outcome = study.run(generator(study.name, 0))
    assert all(value for value in outcome.metrics.values() if isinstance(value, bool))
    assert outcome.arrays["bounds"].max() == pytest.approx(float(outcome.arrays["evidence"]))
    assert list(study.draw(outcome)) == ["bound"]


def test_statements_can_be_false() -> None:
    assert not path_never_falls(np.array([[1.0, 2.0, 1.5, np.nan]]))
    X = np.array([[[0.0], [0.1], [5.0], [5.1]]])
    np.testing.assert_array_equal(confusion(X, np.array([0, 0, 1, 1])), [0])
    np.testing.assert_array_equal(confusion(X, np.array([0, 1, 0, 1])), [1])


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"probabilities": [0.3, 0.1]}, "rising"),
        ({"probabilities": [1.0]}, "study.probabilities"),
        ({"n_each": 3}, "4 objects each"),
        ({"treatments": ["mean"]}, "study.treatments"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        MissingValues(**knobs)  # type: ignore[arg-type]


def test_missing_values() -> None:
    study = MissingValues(
        probabilities=[0.05, 0.5], treatments=["switches", "latent"], repetitions=10
    )
    outcome = study.run(generator(study.name, 0))
    assert outcome.arrays["seen"][:3, :2].tolist() == [[1, 1], [1, 0], [0, 0]]
    assert outcome.metrics["uncertainty_grows"] is True
    assert outcome.metrics["one_covariance_for_all_latent"] is True
    assert outcome.metrics["one_covariance_for_all_switches"] is False
    # Nearly independent of the draw: y_2 has variance 6.25 between the clusters, 1 within.
    assert outcome.arrays["predicted_variance"].mean() == pytest.approx(6.25, abs=1)
    assert list(study.draw(outcome)) == ["treatments", "missing"]
