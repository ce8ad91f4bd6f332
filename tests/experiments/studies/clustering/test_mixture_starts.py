"""EM from many starts: closed forms, scikit-learn, and the counting of optima."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.mixture import GaussianMixture as Theirs

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import generator
from experiments.studies import mixture_starts
from experiments.studies.clustering.mixture_starts import STARTS, MixtureStarts


def run(study: MixtureStarts) -> Outcome:
    return study.run(generator(study.name, 0))


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"k": [21]}, "study.k"),
        ({"data": None, "centres": [[0.0, 0.0]], "n_each": 5, "k": [6]}, "there are 5 points"),
        ({"starts": ["hope"]}, "study.starts"),
        ({"resolution": 0.0}, "study.resolution"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        MixtureStarts(**knobs)  # type: ignore[arg-type]


def test_largest_values_against_a_closed_form_and_scikit_learn() -> None:
    study = MixtureStarts(k=[1, 2], starts=["points", "kmeans"], restarts=15)
    outcome = run(study)
    X = mixture_starts.Clusters().points(np.random.default_rng(0))
    one = multivariate_normal(X.mean(0), np.cov(X.T, bias=True)).logpdf(X).sum()
    assert outcome.metrics["largest_k1"] == pytest.approx(one, abs=1e-6)
    two = Theirs(2, n_init=5, reg_covar=0, tol=1e-10, max_iter=500, random_state=0).fit(X)
    assert outcome.metrics["largest_k2"] == pytest.approx(two.score(X) * len(X), abs=1e-3)
    assert outcome.metrics["largest_rises_with_k"] is True
    assert outcome.metrics["permuting_changes_nothing"] is True
    assert outcome.metrics["stationary_at_end"] is True
    assert outcome.metrics["mean_derivative_as_printed"] is False
    assert outcome.metrics["kmeans_fewer_iterations_than_points_k2"] is True
    table = outcome.tables["starts"]
    row = [*zip(table["start"], table["k"], strict=True)].index(("points", 2))
    finals = outcome.arrays["final_points_k2"]
    assert table["worst"][row] == finals.min()
    ratio = table["mean_iterations"][row] / table["kmeans_cycles"][row]
    assert outcome.metrics["iterations_per_kmeans_cycle_points_k2"] == pytest.approx(ratio)
    assert list(study.draw(outcome)) == ["optima", "iterations"]


def test_every_kind_of_start_runs_and_equal_components_stay_at_one_gaussian() -> None:
    centres = [[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]]
    study = MixtureStarts(
        data=None, centres=centres, standardise=False, k=[3], starts=list(STARTS), restarts=8
    )
    outcome = run(study)
    X = study.points(generator(study.name, 0))
    one = multivariate_normal(X.mean(0), np.cov(X.T, bias=True)).logpdf(X).sum()
    np.testing.assert_allclose(outcome.arrays["final_identical_k3"], one, rtol=1e-9)
    assert outcome.metrics["share_best_identical_k3"] == 0.0
    assert outcome.metrics["may_miss_the_largest"] is True
    assert outcome.metrics["kmeans_finds_best_more_often_than_identical_k3"] is True
    assert list(study.draw(outcome)) == ["optima"]


def test_all_starts_may_collapse() -> None:
    study = MixtureStarts(k=[2, 3], starts=["points"], restarts=4, collapsed_below=10.0)
    outcome = run(study)
    assert outcome.metrics["collapsed_points_k3"] == 4
    assert outcome.metrics["several_maxima"] is False
    assert np.isnan(outcome.metrics["best_points_k3"])
    study.draw(outcome)


def test_counting() -> None:
    assert mixture_starts._count_optima(np.array([-1.0, -1.05, -3.0, -3.02]), 0.1) == 2
    assert mixture_starts._count_optima(np.array([]), 0.1) == 0
    assert mixture_starts._restarts_needed(0.5) == 5  # 0.5^4 > 0.05 > 0.5^5
    assert mixture_starts._restarts_needed(1.0) == 1
    assert mixture_starts._restarts_needed(0.0) == 0
