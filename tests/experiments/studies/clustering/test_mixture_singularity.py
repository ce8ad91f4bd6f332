"""Collapse of a component against scipy's densities; remedies against their guarantees."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from experiments.contract.errors import BadInput
from experiments.contract.study import generator
from experiments.studies.clustering.mixture_singularity import (
    MixtureSingularity,
    SingularityRemedies,
)


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"point": 272}, "there are 272 points"),
        ({"weight": 1.0}, "study.weight"),
        ({"decades": 3}, "study.decades"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        MixtureSingularity(**knobs)  # type: ignore[arg-type]


def test_log_likelihood_against_scipy() -> None:
    study = MixtureSingularity(decades=6, weight=0.3, point=7)
    outcome = study.run(generator(study.name, 0))
    X = study.points(np.random.default_rng(0))
    whole = multivariate_normal(X.mean(0), np.cov(X.T, bias=True)).pdf(X)
    for exponent in (0, 1, 2, 3):
        small = multivariate_normal(X[7], 10.0 ** (-2 * exponent) * np.eye(2))
        expected = np.log(0.7 * whole + 0.3 * small.pdf(X)).sum()
        assert outcome.metrics[f"mixture_1e-{exponent}"] == pytest.approx(expected, rel=1e-9)
        alone = small.logpdf(X).sum()
        assert outcome.metrics[f"single_1e-{exponent}"] == pytest.approx(alone, rel=1e-9)
    assert outcome.metrics["rise_per_decade"] == pytest.approx(2 * np.log(10), rel=1e-9)
    assert outcome.metrics["log_likelihood_unbounded"] is True
    assert outcome.metrics["height_as_printed"] is False
    assert outcome.metrics["height_corrected"] is True
    assert list(study.draw(outcome)) == ["collapse"]


def test_the_printed_height_is_right_in_one_dimension() -> None:
    study = MixtureSingularity(data=None, centres=[[0.0], [3.0]], standardise=False, n_each=10)
    found = study.run(generator(study.name, 0)).metrics
    assert found["height_as_printed"] is True
    assert found["rise_per_decade"] == pytest.approx(np.log(10), rel=1e-9)


def test_the_width_that_beats_the_regular_maximum() -> None:
    # Shrink that far indeed: the singular fit is below the maximum before, above it after.
    study = MixtureSingularity(decades=80)
    found = study.run(generator(study.name, 0)).metrics
    exponent = -found["log10_width_that_beats_it"]
    below, above = int(np.floor(exponent)), int(np.ceil(exponent))
    assert found[f"mixture_1e-{below}"] < found["regular_maximum"] < found[f"mixture_1e-{above}"]


def test_remedies() -> None:
    study = SingularityRemedies(
        data=None,
        standardise=False,
        centres=[[0.0, 0.0], [4.0, 4.0]],
        n_each=12,
        k=[2, 8],
        restarts=20,
    )
    outcome = study.run(generator(study.name, 0))
    found = outcome.metrics
    assert found["collapsed_ml_k8"] > 10
    assert found["ml_never_collapses"] is False
    assert found["map_never_collapses"] is True
    assert found["vb_never_collapses"] is True
    assert found["collapsed_ml"] == sum(outcome.tables["collapsed"]["collapsed_ml"])
    X = study.points(generator(study.name, 0))
    floor = X.var(axis=0).min() / np.sqrt(8) / (len(X) + 4 + 3)  # S0 / (N + nu0 + D + 1)
    assert found["map_smallest_variance"] >= floor
    assert found["map_objective_never_falls"] is True
    assert list(study.draw(outcome)) == ["collapsed"]


def test_remedies_refuse_more_components_than_points() -> None:
    with pytest.raises(BadInput, match="there are 272 points"):
        SingularityRemedies(k=[273])
