"""Rejection sampling against SciPy's distributions and closed forms."""

from typing import Any

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from numpy.testing import assert_allclose
from scipy import stats
from scipy.optimize import minimize

from bythebook.models.sampling.rejection import (
    Pair,
    area,
    cauchy,
    distribution,
    log_smallest_k,
    named,
    tries,
)
from bythebook.models.types import Floats

PAIRS = ["bumps 2", "bumps 3", "cauchy 1.5", "gamma 1.05", "gamma 7", "gamma 100", "wider 1.3"]


def excess(pair: Pair, log_k: float) -> float:
    """The largest excess of the log target over the log of k q, on a fine grid."""
    z = np.linspace(*pair.reach, 40_017)[1:-1]
    return float((pair.log_target(z) - pair.log_proposal(z)).max() - log_k)


@pytest.mark.parametrize("name", PAIRS)
def test_the_comparison_function_touches_the_target_from_above(name: str) -> None:
    pair = named(name)
    k = log_smallest_k(pair)
    assert -1e-5 < excess(pair, k) < 1e-9
    assert excess(pair, k - 0.1) > 0.09


# Targets by SciPy times their area, and the proposals.
BUMPS = (lambda z: stats.norm.pdf(z - 3) + stats.norm.pdf(z + 3), np.sqrt(2 * np.pi))


@pytest.mark.parametrize(
    ("name", "target", "scale", "proposal"),
    [
        ("bumps 3", *BUMPS, stats.norm(0, np.sqrt(10))),
        ("cauchy 1", stats.norm.pdf, np.sqrt(2 * np.pi), stats.cauchy(0, 1)),
        ("cauchy 5", stats.norm(0, 5).pdf, 5 * np.sqrt(2 * np.pi), stats.cauchy(0, 5)),
        ("gamma 2", stats.gamma(2).pdf, 1, stats.cauchy(1, np.sqrt(3))),
        ("gamma 5", stats.gamma(5).pdf, 1, stats.cauchy(4, 3)),
        ("gamma 10", stats.gamma(10).pdf, 1, stats.cauchy(9, np.sqrt(19))),
        ("wider 1.2", stats.norm.pdf, 1, stats.norm(0, 1.2)),
    ],
)
def test_targets_and_proposals_by_scipy(
    name: str, target: Any, scale: float, proposal: Any
) -> None:
    pair, u = named(name), np.linspace(0.1, 0.9, 9)
    z = pair.quantile(u)
    assert_allclose(z, proposal.ppf(u), atol=1e-12)
    assert_allclose(pair.proposal_cdf(z), u)
    assert_allclose(np.exp(pair.log_target(z)), scale * target(z), rtol=1e-12, atol=1e-14)
    assert_allclose(pair.log_proposal(z), proposal.logpdf(z), atol=1e-12)


# Ratio of target and proposal where it is largest: at 10/3 for the bumps, where tanh(10) is 1; at
# the width of the Gaussian under a Cauchy density; at the mode a - 1 of the gamma density.
@pytest.mark.parametrize(
    ("name", "expected_area", "smallest_k", "rtol"),
    [
        ("bumps 3", 2 * np.sqrt(2 * np.pi), np.exp(0.5) * np.sqrt(20 * np.pi), 1e-6),
        ("cauchy 1", np.sqrt(2 * np.pi), 2 * np.pi * np.exp(-0.5), 1e-9),
        ("cauchy 2", 2 * np.sqrt(2 * np.pi), 4 * np.pi * np.exp(-0.5), 1e-9),
        ("gamma 2", 1, np.exp(-1) * np.pi * np.sqrt(3), 1e-9),
        ("gamma 3", 1, 2 * np.exp(-2) * np.pi * np.sqrt(5), 1e-9),
        ("gamma 5", 1, 256 * np.exp(-4) / 24 * np.pi * 3, 1e-9),
        ("wider 1.01", 1, 1.01, 1e-9),
        ("wider 1.3", 1, 1.3, 1e-9),
    ],
)
def test_areas_and_constants_in_closed_form(
    name: str, expected_area: float, smallest_k: float, rtol: float
) -> None:
    assert_allclose(area(named(name)), expected_area, rtol=1e-9)
    assert_allclose(np.exp(log_smallest_k(named(name))), smallest_k, rtol=rtol)


@pytest.mark.parametrize(
    ("name", "cdf"),
    [
        ("gamma 1.2", stats.gamma(1.2).cdf),
        ("gamma 7", stats.gamma(7).cdf),
        ("wider 1.3", stats.norm.cdf),
        ("bumps 2", lambda z: (stats.norm.cdf(z - 2) + stats.norm.cdf(z + 2)) / 2),
    ],
)
def test_accepted_candidates_follow_the_target(name: str, cdf: Any) -> None:
    pair, rng = named(name), np.random.default_rng(0)
    k = log_smallest_k(pair)
    z, kept, height = tries(pair, k, (8000, 1), rng)
    assert stats.kstest(z[kept, 0], cdf).pvalue > 0.001
    assert stats.kstest(height[kept], "uniform").pvalue > 0.001
    assert (kept == (height <= 1)).all()
    assert_allclose(kept.mean(), area(pair) / np.exp(k), atol=0.025)
    low, high = np.quantile(z, [0.1, 0.9])
    at = np.linspace(low, high, 9)
    assert_allclose(distribution(pair)(at), cdf(at), atol=1e-4)


def test_products_are_accepted_less_often() -> None:
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


# The numbers of conf/errata/prml/least-rejection-cauchy.yaml, by Powell's search with SciPy's
# densities: the acceptance with the printed c and b, the best with c at the mode, and the best of
# all c and b with its c and b.
@pytest.mark.parametrize(
    ("a", "printed", "at_mode", "best"),
    [
        (2.0, 0.499555, None, (0.588002, 1.310497, 1.234752)),
        (10.0, 0.554, (0.594, 3.54), (0.646304, 9.329818, 3.089936)),
    ],
)
def test_other_cauchy_densities_reject_fewer_than_the_printed_one(
    a: float, printed: float, at_mode: tuple[float, float] | None, best: tuple[float, ...]
) -> None:
    def log_k(x: Floats) -> float:
        c, b = (x[1] if len(x) > 1 else a - 1), np.exp(x[0])
        # where the ratio is stationary: (a - 1 - z) (b^2 + (z - c)^2) + 2 z (z - c) = 0
        cubic = Polynomial([a - 1, -1]) * Polynomial([b**2 + c**2, -2 * c, 1])
        z = (cubic + Polynomial([0, -2 * c, 2])).roots().real
        return float((stats.gamma(a).logpdf(z) - stats.cauchy(c, b).logpdf(z)).max())

    start, options = [np.log(2 * a - 1) / 2, a - 1], {"xatol": 1e-7, "fatol": 1e-10}
    found = minimize(log_k, start, method="Nelder-Mead", options=options)
    assert_allclose(np.exp(-log_smallest_k(named(f"gamma {a:g}"))), printed, atol=5e-4)
    assert_allclose(np.exp(-found.fun), best[0], atol=2e-6)
    assert_allclose([found.x[1], np.exp(found.x[0])], best[1:], atol=1e-3)
    if at_mode is not None:
        found = minimize(log_k, start[:1], method="Nelder-Mead", options=options)
        assert_allclose(np.exp([-found.fun, found.x[0]]), at_mode, atol=5e-3)


@pytest.mark.parametrize("name", ["gamma", "gamma 1", "beta 2", "wider 0.9", "cauchy x"])
def test_unknown_names_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="allowed"):
        named(name)
