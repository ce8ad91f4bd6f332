"""Local approximations: knob rules, closed forms, plain sums, and the remainder of Taylor."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.studies.approximation.local_approximation import LocalApproximation
from bythebook.models.datasets import load


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"parameters": [[2.0]]}, "needs α, β"),
        ({"parameters": [[1.0, 2.0]]}, "no mode"),
        ({"target": "coin", "parameters": [[1.0, 1.0, 3.0, 2.0]]}, "0 to N = 2"),
        ({"target": "coin", "parameters": [[1.0, 1.0, 0.0, 4.0]]}, "no mode"),
        ({"target": "coin", "parameters": [[2.0, 0.5, 0.0, 0.0]]}, "no mode"),
        ({"target": "logistic", "parameters": [[1.0]]}, "belongs to study.target=logistic"),
        ({"data": "fcml-logistic"}, "belongs to study.target=logistic"),
        ({"target": "logistic", "parameters": [[0.0]], "data": "fcml-logistic"}, "σ² > 0"),
        ({"target": "linear", "parameters": [[1.0, 1.0, 0.5, 0.8]]}, "N >= 2"),
        ({"target": "logistic", "parameters": [[1.0]], "data": "pen-digits"}, "and a class"),
        ({"target": "exp", "parameters": [[2.0, 1.0]]}, "low < high"),
        ({"target": "exp", "parameters": [[-1.0, 2.0]] * 2}, "one row"),
        ({"target": "exp", "parameters": [[-1.0, 900.0]]}, "to 500"),
        ({"target": "sigmoid", "parameters": [[-1.0, 1.0]], "orders": [1]}, "target=exp"),
        ({"orders": [-1]}, "study.orders"),
        ({"target": "sine"}, "study.target"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        LocalApproximation(**knobs)  # type: ignore[arg-type]


def test_figure_4_5(run: Callable[..., Any]) -> None:
    outcome = run(LocalApproximation())
    laplace = outcome["centre"].sel(case="20, 0.5", way="laplace", variable=1).item
    assert laplace == 38
    variance = outcome["covariance"].sel(case="20, 0.5").values[:, 0, 0]
    assert_allclose(variance, [80, 76], rtol=1e-12)  # exact, laplace
    outside = outcome["mass_outside"].sel(case="2, 100").item
    assert_allclose(outside, stats.norm.cdf(-1), rtol=1e-9)
    law = stats.gamma(20, scale=2)
    x = outcome["place"].sel(case="20, 0.5", variable=1).values
    log_p = outcome["log_density"].sel(case="20, 0.5")
    assert_allclose(log_p.sel(way="exact"), law.logpdf(x), rtol=1e-9)
    assert_allclose(log_p.sel(way="laplace"), stats.norm(38, 76**0.5).logpdf(x), rtol=1e-9)
    assert outcome["search_gap"].values.max() < 1e-3
    assert outcome["curvature_gap"].values.max() < 1e-4


def test_a_coin(run: Callable[..., Any]) -> None:
    outcome = run(LocalApproximation(target="coin", parameters=[[1, 1, 9, 20], [5, 5, 9, 20]]))
    # by hand: r (1 - r) / N under a uniform prior
    case = {"case": "1, 1, 9, 20", "way": "laplace", "variable": 1}
    assert_allclose(outcome["centre"].sel(**case).item, 0.45, rtol=1e-12)
    assert_allclose(outcome["covariance"].sel(**case), [0.45 * 0.55 / 20], rtol=1e-12)
    exact = outcome["covariance"].sel(case="5, 5, 9, 20", way="exact", variable=1)
    assert_allclose(exact, [stats.beta(14, 16).var()], rtol=1e-12)
    totals = outcome["likelihood_total"].sel(case="1, 1, 9, 20").values
    assert_allclose(totals, [0.45**20, 1], rtol=1e-12)


def test_a_logistic_posterior_by_plain_sums(run: Callable[..., Any]) -> None:
    outcome = run(LocalApproximation(target="logistic", parameters=[[10.0]], data="fcml-logistic"))
    matrix = load("fcml-logistic").matrix
    axis = np.arange(-8.0, 22.0, 0.1)  # the posterior on a plain grid
    g = -(axis[:, None] ** 2 + axis**2) / 20 - np.log(20 * np.pi)
    for *x, target in matrix:
        P = 1 / (1 + np.exp(-(x[0] * axis[:, None] + x[1] * axis)))
        g += np.log(P if target == 1 else 1 - P + 1e-300)
    p = np.exp(g - g.max())
    evidence = g.max() + np.log(p.sum() * 0.1**2)
    p /= p.sum()
    mean = p.sum(1) @ axis
    exact = {"case": "10", "way": "exact"}
    assert_allclose(outcome["centre"].sel(**exact).values[0], mean, rtol=1e-3)
    variance = p.sum(1) @ (axis - mean) ** 2
    assert_allclose(outcome["covariance"].sel(**exact).values[0, 0], variance, rtol=2e-3)
    w1, w2 = outcome["place"].sel(case="10").values
    near, peak = outcome["log_density"].sel(**exact).values, np.array([w1[40], w2[40]])
    a = matrix[:, :2] @ peak
    log_g = (matrix[:, 2] * a - np.log1p(np.exp(a))).sum() - peak @ peak / 20 - np.log(20 * np.pi)
    assert_allclose(near[40, 40], log_g - evidence, rtol=1e-3)


def test_a_linear_regression_is_gaussian_already(run: Callable[..., Any]) -> None:
    outcome = run(LocalApproximation(target="linear", parameters=[[10.0, 30.0, 0.5, 0.8]]))
    for name in ("centre", "covariance"):
        exact, laplace = (outcome[name].sel(way=way) for way in ("exact", "laplace"))
        assert_allclose(laplace.values, exact.values, rtol=1e-8)
    assert outcome["log_error"].values.max() < 1e-9
    assert outcome["total_variation"].values.max() < 1e-6


def expanded(function: str, low: float, high: float, orders: list[int]) -> LocalApproximation:
    return LocalApproximation(target=function, parameters=[[low, high]], orders=orders)


def largest_errors(outcome: Any) -> Any:
    return np.abs(outcome["expansion"].values - outcome["function"].values).max(1)


def test_the_exponential(run: Callable[..., Any]) -> None:
    error = largest_errors(run(expanded("exp", -2, 2, [0, 1, 2, 3])))
    assert_allclose(error[0], np.exp(2) - 1, rtol=1e-12)
    assert_allclose(error[3], np.exp(2) - (1 + 2 + 2 + 8 / 6), rtol=1e-12)


def test_the_sigmoid(run: Callable[..., Any]) -> None:
    outcome = run(expanded("sigmoid", -5, 5, []))
    assert outcome["function"].sel(w=0).item == 0.5
    assert_allclose(outcome["function"].sel(w=5).item, 1 / (1 + np.exp(-5)), rtol=1e-12)
    assert_allclose(outcome["far_function"], [0, 1], atol=1e-200)
    assert "expansion" not in outcome


def test_the_integral_of_a_gamma_density_is_off_by_stirlings_formula(
    run: Callable[..., Any],
) -> None:
    """19! by Stirling's formula, over 19! itself."""
    outcome = run(LocalApproximation(parameters=[[20.0, 0.5]]))
    exact, laplace = outcome["log_evidence"].values[0]
    assert exact == 0
    assert_allclose(laplace, np.log(np.sqrt(38 * np.pi) * (19 / np.e) ** 19 / math.factorial(19)))


def test_a_density_is_looked_at_where_it_is() -> None:
    """From 4.5 standard deviations below the mode to 6 above it, and never off the support."""
    found = LocalApproximation(target="gamma", parameters=[[20.0, 0.5], [2.0, 100.0]])
    places = found.run(np.random.default_rng(0))["place"].values[:, 0]
    sd = math.sqrt(19) / 0.5
    assert_allclose(places[0], np.linspace(max(0.0, 38 - 4.5 * sd), 38 + 6 * sd, 301))
    assert_allclose(places[1], np.linspace(0.0, 0.07, 301))
    linear = LocalApproximation(target="linear", parameters=[[10.0, 30.0, 0.5, 0.8]])
    outcome = linear.run(np.random.default_rng(1))
    centre, covariance = (
        outcome[name].sel(way="laplace").values[0] for name in ("centre", "covariance")
    )
    for x, middle, width in zip(
        outcome["place"].values[0], centre, np.sqrt(np.diag(covariance)), strict=True
    ):
        assert_allclose(x, np.linspace(middle - 4 * width, middle + 6 * width, 101))
