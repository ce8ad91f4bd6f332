"""Laplace approximations of known densities: knob rules, closed forms, the misprint."""

import pytest
from numpy.testing import assert_allclose
from scipy import stats

from experiments.contract.errors import BadInput
from experiments.contract.study import generator
from experiments.drawing.canvas import style
from experiments.studies.approximation.laplace_density import LaplaceDensity


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"first": [2.0]}, "as many of each"),
        ({"first": [1.0], "second": [2.0]}, "without a mode"),
        ({"heads": [1], "tosses": [2]}, "family=beta"),
        ({"family": "beta", "heads": [1]}, "as many of each"),
        ({"family": "beta", "heads": [3], "tosses": [2]}, "study.heads"),
        (
            {"family": "beta", "first": [1.0], "second": [1.0], "heads": [0], "tosses": [4]},
            "without a mode",
        ),
        ({"family": "beta", "first": [2.0], "second": [0.5]}, "without a mode"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        LaplaceDensity(**knobs)  # type: ignore[arg-type]


def test_figure_4_5() -> None:
    study = LaplaceDensity()
    outcome = study.run(generator(study.name, 0))
    found = outcome.metrics
    assert found["mode_20_0.5"] == 38
    assert_allclose(found["laplace_variance_20_0.5"], 76, rtol=1e-12)
    assert_allclose(found["mass_outside_2_100"], stats.norm.cdf(-1), rtol=1e-9)
    for name in ("formulas_agree", "error_grows_away_from_mode", "first_is_best"):
        assert found[name] is True
    with style("screen"):
        assert list(study.draw(outcome)) == ["densities"]


def test_a_coin() -> None:
    study = LaplaceDensity(
        family="beta", first=[1.0, 5.0], second=[1.0, 5.0], heads=[2, 9, 90], tosses=[20, 20, 200]
    )
    outcome = study.run(generator(study.name, 0))
    found = outcome.metrics
    # by hand: r (1 - r) / N under a uniform prior
    assert_allclose(found["mode_1_1_y_9_n_20"], 0.45, rtol=1e-12)
    assert_allclose(found["laplace_variance_1_1_y_9_n_20"], 0.45 * 0.55 / 20, rtol=1e-12)
    assert_allclose(found["variance_5_5_y_9_n_20"], stats.beta(14, 16).var(), rtol=1e-12)
    assert found["likelihood_sums_to_one"] is True
    assert found["likelihood_as_printed_sums_to_one"] is False
    assert found["improves_with_tosses"] is True
    assert found["worse_when_skewed"] is True
    with style("screen"):
        assert list(study.draw(outcome)) == ["densities"]
