"""EM with small fixed variances against a plain loop and against K-means."""

import numpy as np
import pytest
from sklearn.cluster import KMeans

from experiments.contract.errors import BadInput
from experiments.contract.study import generator
from experiments.studies.clustering.em_limits import EmLimits

START = [[-1.5, 1.0], [1.5, -1.0]]


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"start": [[0.0, 0.0]]}, "study.start has 1 centres"),
        ({"start": [[0.0], [1.0]]}, "needs 2 numbers"),
        ({"weights": [[0.5, 0.6]]}, "sum to one"),
        ({"weights": [[1.0, 0.0]]}, "numbers > 0"),
        ({"variances": [0.0]}, "study.variances"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        EmLimits(**knobs)  # type: ignore[arg-type]


def test_differences_against_a_plain_loop() -> None:
    study = EmLimits(start=START, variances=[0.5, 0.05], weights=[[0.7, 0.3]], fixed_weights=True)
    found = study.run(generator(study.name, 0)).metrics
    X = study.points(np.random.default_rng(0))
    centres = KMeans(2, init=np.array(START), n_init=1, tol=0).fit(X).cluster_centers_
    for epsilon in study.variances:
        mu = np.array(START)
        for _ in range(200):
            weight = np.array([0.7, 0.3]) * np.exp(-((X[:, None] - mu) ** 2).sum(2) / (2 * epsilon))
            gamma = weight / weight.sum(1, keepdims=True)
            mu = gamma.T @ X / gamma.sum(0)[:, None]
        expected = np.abs(mu - centres).max()
        assert found[f"difference_at_{epsilon:g}"] == pytest.approx(expected, rel=1e-5)
        assert found[f"softness_at_{epsilon:g}"] == pytest.approx(1 - gamma.max(1).min(), rel=1e-4)
    assert found["becomes_kmeans"] is False
    assert found["responsibilities_become_hard"] is False
    assert found["limit_whatever_the_weights"] is False
    assert found["weights_become_fractions"] is False  # they are held


def test_the_limit_and_the_misprints() -> None:
    study = EmLimits(start=START, variances=[0.1, 1e-5], weights=[[0.5, 0.5], [0.99, 0.01]])
    outcome = study.run(generator(study.name, 0))
    found = outcome.metrics
    for name in (
        "becomes_kmeans",
        "responsibilities_become_hard",
        "limit_whatever_the_weights",
        "weights_become_fractions",
        "scaled_complete_tends_to_minus_half_distortion",
        "density_integrates_to_one_corrected",
    ):
        assert found[name] is True, name
    assert found["complete_tends_to_minus_half_distortion"] is False
    assert found["density_integrates_to_one_as_printed"] is False
    assert list(study.draw(outcome)) == ["limit"]


def test_in_one_dimension_the_printed_density_is_right() -> None:
    study = EmLimits(data=None, standardise=False, centres=[[0.0], [5.0]])
    assert (
        study.run(generator(study.name, 0)).metrics["density_integrates_to_one_as_printed"] is True
    )
