"""Points to be clustered: knob rules, scales, and the data study against plain formulas."""

import numpy as np
import pytest

from experiments.contract.errors import BadInput
from experiments.contract.study import generator
from experiments.studies.clustering.cluster_data import ClusterData
from models.datasets import load


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


def test_old_faithful_is_rescaled() -> None:
    study = ClusterData()
    outcome = study.run(generator(study.name, 0))
    raw = load("old-faithful").matrix
    expected = np.column_stack(
        [(c - sum(c) / 272) / np.sqrt(np.mean((c - c.mean()) ** 2)) for c in raw.T]
    )
    np.testing.assert_allclose(outcome.arrays["X"], expected, rtol=1e-12, atol=1e-12)
    found = outcome.metrics
    assert found["n_points"] == 272
    assert found["centred"] is True
    assert found["unit_sd"] is True
    residual = raw[:, 1] - np.polyval(np.polyfit(*raw.T, 1), raw[:, 0])
    assert found["second_sd_given_first"] == pytest.approx(residual.std(), rel=1e-9)
    assert found["second_sd"] == pytest.approx(raw[:, 1].std(), rel=1e-12)
    assert found["first_helps_predict_second"] is True
    assert list(study.draw(outcome)) == ["data"]


def test_data_as_observed_are_not_called_rescaled() -> None:
    found = ClusterData(standardise=False).run(generator("cluster_data", 0)).metrics
    assert found["centred"] is False
    assert found["unit_sd"] is False


def test_drawn_clusters_have_their_centres_and_spread() -> None:
    study = ClusterData(
        data=None, centres=[[0.0, 5.0], [-3.0, 0.0]], spread=0.5, n_each=4000, standardise=False
    )
    X = study.points(np.random.default_rng(0))
    assert X.shape == study.size == (8000, 2)
    first, second = X[:4000], X[4000:]
    np.testing.assert_allclose(first.mean(0), [0, 5], atol=0.05)
    np.testing.assert_allclose(second.mean(0), [-3, 0], atol=0.05)
    np.testing.assert_allclose(first.std(0), 0.5, rtol=0.05)
    assert study.labels() == ("$x_1$", "$x_2$")
    assert study.data_sets() == []
