"""Rejection sampling against SciPy's distributions and closed forms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from bythebook.models.sampling.rejection import (
    area,
    best_cauchy,
    cauchy,
    distribution,
    excess,
    gamma_under_cauchy,
    growth,
    log_smallest_k,
    maxima,
    named,
    tangent_of_unit,
    tries,
)

PAIRS = ["bumps 2", "cauchy 1.5", "gamma 1.2", "gamma 7", "wider 1.3"]


@pytest.mark.parametrize("name", PAIRS)
def test_the_comparison_function_touches_the_target_from_above(name: str) -> None:
    pair = named(name)
    k = log_smallest_k(pair)
    assert -1e-6 < excess(pair, k) < 1e-9
    assert excess(pair, k - 0.1) > 0.09


def test_areas_and_constants_in_closed_form() -> None:
    assert_allclose(area(named("bumps 2")), 2 * np.sqrt(2 * np.pi), rtol=1e-9)
    assert_allclose(area(named("cauchy 5")), 5 * np.sqrt(2 * np.pi), rtol=1e-9)
    assert_allclose(area(named("gamma 7")), 1, rtol=1e-9)
    assert_allclose(np.exp(log_smallest_k(named("wider 1.3"))), 1.3, rtol=1e-9)
    # at z = +-s, where exp(-z^2 / 2 s^2) (1 + z^2 / s^2) is largest
    assert_allclose(np.exp(log_smallest_k(named("cauchy 2"))), 4 * np.pi * np.exp(-0.5), rtol=1e-9)


@pytest.mark.parametrize(
    ("name", "cdf"),
    [
        ("gamma 1.2", stats.gamma(1.2).cdf),
        ("gamma 7", stats.gamma(7).cdf),
        ("wider 1.3", stats.norm.cdf),
        ("bumps 2", lambda z: (stats.norm.cdf(z - 2) + stats.norm.cdf(z + 2)) / 2),
    ],
)
def test_what_is_kept_follows_the_target(name: str, cdf: object) -> None:
    pair, rng = named(name), np.random.default_rng(0)
    k = log_smallest_k(pair)
    z, kept, height = tries(pair, k, (8000, 1), rng)
    assert stats.kstest(z[kept, 0], cdf).pvalue > 0.001
    assert stats.kstest(height[kept], "uniform").pvalue > 0.001
    assert_allclose(kept.mean(), area(pair) / np.exp(k), atol=0.025)
    at = np.linspace(*np.quantile(z, [0.1, 0.9]), 9)
    assert_allclose(distribution(pair)(at), cdf(at), atol=1e-4)  # type: ignore[operator]
    assert_allclose(pair.proposal_cdf(pair.quantile(np.array([0.2, 0.7]))), [0.2, 0.7])


def test_products_are_kept_more_rarely() -> None:
    pair, rng = named("wider 1.3"), np.random.default_rng(0)
    z, kept, _ = tries(pair, 3 * np.log(1.3), (20_000, 3), rng)
    assert_allclose(kept.mean(), 1.3**-3, atol=0.015)
    assert stats.kstest(z[kept].ravel(), "norm").pvalue > 0.001


def test_cauchy_densities_by_scipy() -> None:
    log_q, quantile, cdf = cauchy(2.0, 3.0)
    law, z = stats.cauchy(2, 3), np.array([-4.0, 2.5, 9.0])
    assert_allclose(log_q(z), law.logpdf(z))
    assert_allclose(cdf(z), law.cdf(z))
    assert_allclose(quantile(law.cdf(z)), z)


def test_no_cauchy_density_of_a_coarse_search_does_better() -> None:
    found, c, b = best_cauchy(5.0, at_mode=False)
    target = gamma_under_cauchy(5.0)
    for place in np.linspace(3.5, 5, 7):
        for width in np.linspace(1.5, 3.5, 9):
            pair = target._replace(log_proposal=cauchy(place, width)[0])
            assert np.exp(-log_smallest_k(pair)) <= found + 1e-9
    assert 4 < c < 5
    assert b < 3
    assert np.exp(-log_smallest_k(target)) < best_cauchy(5.0, at_mode=True)[0] < found


def test_a_tangent_of_the_unit_interval_stays_on_one_side() -> None:
    y = tangent_of_unit(named("gamma 5"), np.array([0.0, 0.5, 1.0]))
    assert_allclose(y, 4 + 3 * np.tan([0, 0.5, 1]))


def test_shapes() -> None:
    assert [maxima(named(n)) for n in ("gamma 1.05", "gamma 50", "bumps 3")] == [1, 1, 2]
    assert growth(1.0) == growth(1.5) == 0
    assert_allclose(growth(0.5), (40**2 - 20**2) * (4 - 1) / 2)


@pytest.mark.parametrize("name", ["gamma", "gamma 1", "beta 2", "wider 0.9", "cauchy x"])
def test_names_that_are_none(name: str) -> None:
    with pytest.raises(ValueError, match="allowed"):
        named(name)
