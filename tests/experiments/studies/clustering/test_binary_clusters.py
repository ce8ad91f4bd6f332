"""Binary clusters: the limits of the update by hand; the fixed point of Exercise 9.13."""

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.studies.clustering.binary_clusters import BinaryClusters
from bythebook.models.clustering.bernoulli_mixture import constant_variables


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"priors": [2.0, 2.0]}, "study.priors"),
        ({"priors": [0.5]}, "study.priors"),
        ({"k": 1}, "study.k"),
        ({"k": 2, "equal": [[0.5, 0.6]]}, "sum to one"),
        ({"k": 2, "equal": [[0.5, 0.5], [1.0]]}, "sum to one"),
        ({"k": 2, "equal": [[1.5, -0.5]]}, "sum to one"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs, complaint):
    with pytest.raises(InputError, match=complaint):
        BinaryClusters(**knobs)


def test_the_limits_of_the_map_update(run):
    outcome = run(BinaryClusters(priors=[1.0, 2.0], draws=3, restarts=2))
    zeros, ones = outcome["extreme_by_search"].values
    assert zeros == pytest.approx(1 / 102, abs=1e-7)  # not 1/2, as printed
    assert ones == pytest.approx(101 / 102, abs=1e-7)
    update, search = outcome["update"].values, outcome["update_by_search"].values
    assert update.shape == (5, 10)
    assert np.ptp(update, axis=0).min() > 0.01  # components differ: nothing was averaged
    np.testing.assert_allclose(search, update, atol=1e-6)
    assert outcome["flat_prior_change"].item == 0
    begins = outcome["start_mean"].values  # FCML 6.3.7: anywhere between 0 and 1
    assert begins.min() < 0.25
    assert begins.max() > 0.75
    assert outcome["pinned"].sel(prior=1.0).values.mean() > 0
    assert (outcome["pinned"].sel(prior=2.0).values == 0).all()
    labels, X = outcome["labels"].values, outcome["points"].values
    assert X.shape == (100, 10)
    expected = constant_variables(X, labels, 5)
    np.testing.assert_array_equal(outcome["constant_variables"].sel(draw=0).values, expected)


def test_equal_components_stop_at_the_average(run):
    weights = [[1 / 3, 1 / 3, 1 / 3], [0.2, 0.3, 0.5]]
    outcome = run(BinaryClusters(n=100, dimensions=6, k=3, equal=weights))
    average, away = outcome["average"].values, outcome["distance_to_average"]
    assert away.sel(iteration=0).values.min() > 0.01
    assert away.sel(iteration=1).values.max() < 1e-12
    assert away.sel(iteration=2).values.max() < 1e-12
    assert outcome["change_of_weights"].sel(iteration=2).values.max() < 1e-12
    assert outcome["model_mean_error"].values.max() < 1e-8
    # All components equal: independent coins with the average as their bias.
    expected = 100 * (average * np.log(average) + (1 - average) * np.log1p(-average)).sum()
    assert outcome["log_likelihood"].sel(run=1, iteration=1).item == pytest.approx(expected)
    assert outcome["random_final_log_likelihood"].values.min() > expected
