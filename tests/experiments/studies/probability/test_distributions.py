"""The study of popular distributions against scipy.stats, and its rules."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.probability.distributions import Distributions

Run = Callable[..., Outcome]


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
        ({"family": "truncated", "parameters": [[0.5, 0.0, 1.0]]}, "allowed: > 0"),
        ({"family": "truncated", "parameters": [[0.5, 1.0, 2.0]]}, "a side of 1 or -1"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        Distributions(**knobs)  # type: ignore[arg-type]


def test_counts_against_scipy(run: Run) -> None:
    found = run(Distributions(family="poisson", parameters=[[5.0], [40.0]]))
    y = found["probability"].coord("y")
    for curve, rate in ((1, 5), (2, 40)):
        p = found["probability"].sel(curve=curve).values
        assert_allclose(p, stats.poisson(rate).pmf(y), rtol=1e-9, atol=1e-14)
        assert_allclose(found["expected_square"].sel(curve=curve).item, rate + rate**2, rtol=1e-12)


def test_a_fair_die_by_hand(run: Run) -> None:
    found = run(Distributions(family="categorical", parameters=[[1 / 6] * 6]))
    assert found["probability"].coord("y").tolist() == [1, 2, 3, 4, 5, 6]
    assert 6 * found["expected_value"].values == pytest.approx([21])
    assert 6 * found["expected_square"].values == pytest.approx([91])
    assert found["total"].values == pytest.approx([1])


def test_shapes_of_densities(run: Run) -> None:
    gauss = run(Distributions(family="gaussian", parameters=[[5.0, 4.0], [-2.0, 0.3]]))
    x, p = gauss["place"].values, np.exp(gauss["log_density"].values)
    assert_allclose(p[1], stats.norm(-2, 0.3**0.5).pdf(x[1]), rtol=1e-10)
    widths = gauss["width_at_half_height"].values
    assert_allclose(widths, 2 * np.sqrt(2 * np.log(2)) * np.sqrt([4, 0.3]), rtol=0.03)
    assert gauss["asymmetry"].values.max() < 1e-8
    assert_allclose(gauss["total"].values, 1, rtol=1e-12)
    beta = run(Distributions(family="beta", parameters=[[5.0, 1.0]]))
    assert beta["asymmetry"].values[0] > 1
    assert_allclose(beta["expected_value"].values, [5 / 6], rtol=1e-12)


def test_truncated_gaussians_against_scipy(run: Run) -> None:
    rows = [[0.5, 1.0, 0.0], [0.5, 1.0, 1.0], [0.5, 1.0, -1.0], [0.5, 2.0, 1.0]]
    found = run(Distributions(family="truncated", parameters=rows))
    laws = [
        stats.norm(0.5),
        stats.truncnorm(-0.5, np.inf, loc=0.5),
        stats.truncnorm(-np.inf, -0.5, loc=0.5),
        stats.truncnorm(-0.25, np.inf, loc=0.5, scale=2),
    ]
    means = [law.mean() for law in laws]
    assert_allclose(found["expected_value"].values, means, rtol=1e-9)
    assert_allclose(found["formula"].values, means, rtol=1e-9)
    assert_allclose(found["total"].values, 1, rtol=1e-9)
    printed = np.abs(found["formula_as_printed"].values / means - 1)
    assert printed[:3].max() < 1e-9 < 0.1 < printed[3]
    probit = stats.norm.cdf([0.5, 0.5, 0.5, 0.25])
    assert_allclose(found["normal_integral"].sel(form="corrected"), probit, rtol=1e-12)
    assert_allclose(found["mass_above"], probit, rtol=1e-12)
    x = found["density"].coord("x")
    away = np.abs(x) > 1e-9
    for values, law in zip(found["density"].values, laws, strict=True):
        assert_allclose(values[away], law.pdf(x[away]), rtol=1e-9)
