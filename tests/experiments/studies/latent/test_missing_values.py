"""Missing values: removed values, their predictions, and both treatments."""

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.studies.latent.missing_values import MissingValues


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"probabilities": [0.1, 0.1]}, "study.probabilities"),
        ({"probabilities": [1.0]}, "study.probabilities"),
        ({"n_each": 3}, "4 objects each"),
        ({"treatments": ["mean"]}, "study.treatments"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs, complaint):
    with pytest.raises(InputError, match=complaint):
        MissingValues(**knobs)


def test_missing_values(run):
    study = MissingValues(
        probabilities=[0.05, 0.5], treatments=["switches", "latent"], repetitions=10
    )
    outcome = run(study)
    assert (np.diff(outcome["log_det_covariance"].values) > 0).all()
    means, away = outcome["latent_means"].values, outcome["group_distance"].values[0]
    middles = means.reshape(4, 20, 2).mean(1)  # of the first draw
    expected = [[np.hypot(*(means[i] - middle)) for middle in middles] for i in range(3)]
    np.testing.assert_allclose(away, expected)
    assert outcome["covariances_apart"].sel(treatment="latent").values.max() < 1e-12
    assert outcome["covariances_apart"].sel(treatment="switches").values.min() > 1e-3
    assert outcome["smallest_gain"].values.min() > -1e-9
    # Nearly independent of the draw: y_2 has variance 6.25 between the clusters, 1 within.
    assert outcome["predicted_variance"].values.mean() == pytest.approx(6.25, abs=1)


def test_the_other_group_has_the_first_variable_of_the_first():
    assert MissingValues()._other_group() == 3
    assert MissingValues(centres=[[0.0, 0.0], [4.0, 0.0], [1.0, 9.0]])._other_group() == 2
