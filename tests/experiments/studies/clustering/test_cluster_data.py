"""The points before any clustering against plain formulas, and draws from a mixture."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binom

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.clustering.cluster_data import ClusterData
from bythebook.models.datasets import load

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"data": "fcml-votes"}, "fcml-votes is not allowed"),
        ({"weights": [0.7, 0.4]}, "sum to 1.1"),
        ({"means": [[1.0, 2.0]]}, "study.means"),
        ({"variances": [[1.0, 0.0], [1.0, 1.0]]}, "study.variances"),
        ({"n": 0}, "study.n"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        ClusterData(**knobs)  # type: ignore[arg-type]


def test_old_faithful_is_rescaled(run: Run) -> None:
    outcome = run(ClusterData())
    raw = load("old-faithful").matrix
    expected = np.column_stack(
        [(c - sum(c) / 272) / np.sqrt(np.mean((c - c.mean()) ** 2)) for c in raw.T]
    )
    assert_allclose(outcome["points"].values, expected, rtol=1e-12, atol=1e-12)
    assert outcome["points"].values.shape == (272, 2)
    assert_allclose(outcome["observed"].values, raw)
    others = [np.delete(raw, n, axis=0) for n in range(272)]
    for order, loss in enumerate(outcome["left_out_loss"].values):
        predicted = [
            np.polyval(np.polyfit(*rest.T, order), raw[n, 0]) for n, rest in enumerate(others)
        ]
        assert loss == pytest.approx(np.mean((raw[:, 1] - predicted) ** 2), rel=1e-9)


def test_data_as_observed_are_not_rescaled(run: Run) -> None:
    outcome = run(ClusterData(standardise=False))
    assert_allclose(outcome["points"].values, load("old-faithful").matrix)


def test_counts_are_binomial_and_moments_those_of_the_knobs(run: Run) -> None:
    outcome = run(ClusterData(data=None, repetitions=4000))
    z = outcome["chosen"].values
    counts = np.bincount((z[:, :5] == 1).sum(axis=1), minlength=6) / 4000
    assert_allclose(counts, binom.pmf(range(6), 5, 0.7), atol=0.03)
    X = run(ClusterData(data=None, repetitions=1, n=20_000))
    second = X["objects"].values[X["chosen"].values[0] == 2]
    error = 4.5 * np.sqrt(2 / len(second))  # this many standard errors: 1 in 150,000
    assert_allclose(second.mean(axis=0), [1, -3], atol=error)
    assert_allclose(second.var(axis=0), [2, 1], rtol=error)


def test_without_means_only_components_are_drawn(run: Run) -> None:
    outcome = run(ClusterData(data=None, weights=[0.1, 0.2, 0.7], means=[], n=3))
    assert "objects" not in outcome
    assert_allclose(outcome["probability"].values, [0.1, 0.2, 0.7])
