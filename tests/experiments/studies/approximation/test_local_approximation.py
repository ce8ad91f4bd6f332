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
        ({"target": "logistic", "parameters": [[1.0]], "data": "pen-digits"}, "and a class"),
        ({"target": "sine"}, "study.target"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        LocalApproximation(**knobs)  # type: ignore[arg-type]


def test_figure_4_5(run: Callable[..., Any]) -> None:
    outcome = run(LocalApproximation())
    assert outcome["mode"].sel(case="20, 0.5").item == 38
    outside = outcome["mass_outside"].sel(case="2, 100").item
    assert_allclose(outside, stats.norm.cdf(-1), rtol=1e-9)
    law = stats.gamma(20, scale=2)
    x = outcome["place"].sel(case="20, 0.5", variable=1).values
    log_p = outcome["log_density"].sel(case="20, 0.5")
    assert_allclose(log_p.sel(method="exact"), law.logpdf(x), rtol=1e-9)
    assert_allclose(log_p.sel(method="laplace"), stats.norm(38, 76**0.5).logpdf(x), rtol=1e-9)


def test_a_coin(run: Callable[..., Any]) -> None:
    outcome = run(LocalApproximation(target="coin", parameters=[[1, 1, 9, 20], [5, 5, 9, 20]]))
    mode, variance = 0.45, 0.45 * 0.55 / 20  # by hand: r (1 - r) / N under a uniform prior
    assert_allclose(outcome["mode"].sel(case="1, 1, 9, 20").item, mode, rtol=1e-12)
    r = outcome["place"].sel(case="1, 1, 9, 20").values[0]
    log = outcome["log_density"].sel(case="1, 1, 9, 20").values
    assert_allclose(log[1], stats.norm(mode, variance**0.5).logpdf(r), rtol=1e-9)
    inside = (r > 0) & (r < 1)
    assert_allclose(log[0, inside], stats.beta(10, 12).logpdf(r[inside]), rtol=1e-9)


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
    w1, w2 = outcome["place"].sel(case="10").values
    near, peak = (
        outcome["log_density"].sel(case="10", method="exact").values,
        np.array([w1[40], w2[30]]),
    )
    a = matrix[:, :2] @ peak
    log_g = (matrix[:, 2] * a - np.log1p(np.exp(a))).sum() - peak @ peak / 20 - np.log(20 * np.pi)
    assert_allclose(near[30, 40], log_g - evidence, rtol=1e-3)


def test_a_density_is_looked_at_where_it_is() -> None:
    """From 4.5 standard deviations below the mode to 6 above it, and never off the support."""
    found = LocalApproximation(target="gamma", parameters=[[20.0, 0.5], [2.0, 100.0]])
    places = found.run(np.random.default_rng(0))["place"].values[:, 0]
    sd = math.sqrt(19) / 0.5
    assert_allclose(places[0], np.linspace(max(0.0, 38 - 4.5 * sd), 38 + 6 * sd, 301))
    assert_allclose(places[1], np.linspace(0.0, 0.07, 301))
