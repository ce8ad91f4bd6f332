"""The study of popular distributions against scipy.stats, and its rules."""

import pytest
from scipy import stats

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import generator
from experiments.studies.probability.distributions import Distributions


def run(study: Distributions) -> Outcome:
    return study.run(generator(study.name, 0))


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"family": "cauchy"}, "study.family=cauchy"),
        ({"parameters": [[50.0]]}, "allowed: N, q"),
        ({"parameters": [[50.0, 1.2]]}, "0 <= q <= 1"),
        ({"family": "poisson", "parameters": [[0.0]]}, "allowed: > 0"),
        ({"family": "gaussian", "parameters": [[0.0, 0.0]]}, "allowed: > 0"),
        ({"family": "beta", "parameters": [[0.1, 1.0]]}, ">= 0.5"),
        ({"family": "uniform", "parameters": [[8.0, 3.0]]}, "a < b"),
        ({"family": "categorical", "parameters": [[0.5, 0.4]]}, "sum to one"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        Distributions(**knobs)  # type: ignore[arg-type]


def test_counts_against_scipy() -> None:
    found = run(Distributions(family="poisson", parameters=[[5.0]], up_to=[4])).metrics
    law = stats.poisson(5)
    assert found["probability_at_most_4"] == pytest.approx(law.cdf(4), rel=1e-12)
    assert found["probability_above_4"] == pytest.approx(law.sf(4), rel=1e-12)
    positive = law.cdf(4) - law.pmf(0)
    assert found["probability_of_positive_at_most_4"] == pytest.approx(positive, rel=1e-12)
    assert found["positive_outcomes_total_one"] is False
    assert found["second_moment"] == pytest.approx(30, rel=1e-12)


def test_a_fair_die_by_hand() -> None:
    found = run(Distributions(family="categorical", parameters=[[1 / 6] * 6])).metrics
    assert found["mean_times_outcomes"] == pytest.approx(21)
    assert found["second_moment_times_outcomes"] == pytest.approx(91)
    assert found["variance"] == pytest.approx(35 / 12)
    assert found["mean_is_no_outcome"] is True
    loaded = run(Distributions(family="categorical", parameters=[[0.5, 0.0, 0.5]])).metrics
    assert loaded["mean_is_no_outcome"] is False
    assert loaded["all_equally_probable"] is False


def test_shapes_of_densities() -> None:
    gauss = run(Distributions(family="gaussian", parameters=[[5.0, 4.0], [-2.0, 0.3]])).metrics
    assert gauss["width_grows_with_variance"] is True
    assert gauss["highest_in_the_middle_2"] is True
    assert gauss["peak_2"] == pytest.approx(stats.norm(0, 0.3**0.5).pdf(0), rel=1e-3)
    beta = run(Distributions(family="beta", parameters=[[5.0, 1.0]])).metrics
    assert beta["symmetric"] is False
    assert beta["highest_in_the_middle"] is False


@pytest.mark.parametrize(
    ("family", "parameters"),
    [("binomial", [[50.0, 0.7]]), ("uniform", [[3.0, 8.0]]), ("categorical", [[0.5, 0.5]])],
)
def test_every_kind_is_drawn(family: str, parameters: list[list[float]]) -> None:
    study = Distributions(family=family, parameters=parameters)
    (ax,) = study.draw(run(study))["distributions"].axes
    assert ax.get_ylabel() == ("p(y)" if family == "uniform" else "P(y)")
