"""Points to be clustered: knob rules, scales, and the data study against plain formulas."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments.contract.errors import BadInput
from experiments.contract.outcome import Outcome
from experiments.studies.clustering.cluster_data import ClusterData
from models.datasets import load

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"data": None}, "exactly one"),
        ({"centres": [[0.0, 0.0]]}, "exactly one"),
        ({"data": None, "centres": [[0.0, 0.0], [1.0]]}, "needs 2 numbers"),
        ({"data": None, "centres": [[0.0, float("nan")]]}, "nan is not allowed"),
        ({"data": None, "centres": [[0.0]]}, "have 1 variables"),
        ({"spread": 0.0}, "study.spread"),
        ({"n_each": 0}, "study.n_each"),
        ({"data": "geyser"}, "study.data"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
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
    residual = raw[:, 1] - np.polyval(np.polyfit(*raw.T, 1), raw[:, 0])
    assert_allclose(outcome["residual"].values, residual, rtol=1e-7, atol=1e-9)


def test_data_as_observed_are_not_rescaled(run: Run) -> None:
    outcome = run(ClusterData(standardise=False))
    assert_allclose(outcome["points"].values, load("old-faithful").matrix)


def test_drawn_clusters_have_their_centres_and_spread() -> None:
    study = ClusterData(
        data=None, centres=[[0.0, 5.0], [-3.0, 0.0]], spread=0.5, n_each=4000, standardise=False
    )
    X = study.points(np.random.default_rng(0))
    assert X.shape == study.size == (8000, 2)
    first, second = X[:4000], X[4000:]
    assert_allclose(first.mean(0), [0, 5], atol=0.05)
    assert_allclose(second.mean(0), [-3, 0], atol=0.05)
    assert_allclose(first.std(0), 0.5, rtol=0.05)
    assert study.data_sets() == []
