"""Adaptive rejection sampling: areas by quadrature, draws by SciPy, envelopes by the theorem."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.stats import gamma, gumbel_r, kstest, logistic, norm

from bythebook.models.sampling.adaptive_rejection import (
    BUMPS,
    CONCAVE,
    adapt,
    metropolis,
    nearest,
    tangents,
)

SCIPY = {"gaussian": norm, "gamma": gamma(3), "logistic": logistic, "gumbel": gumbel_r}


@pytest.mark.parametrize("name", SCIPY)
def test_targets_by_scipy(name: str) -> None:
    target, law = CONCAVE[name], SCIPY[name]
    z = np.linspace(0.3, 5, 7)
    assert_allclose(target.log_p(z), law.logpdf(z), rtol=1e-9)
    assert_allclose(target.cdf(z), law.cdf(z), rtol=1e-9)
    slopes = (target.log_p(z + 1e-6) - target.log_p(z - 1e-6)) / 2e-6
    assert_allclose(target.slope(z), slopes, atol=1e-7)


@pytest.mark.parametrize("name", SCIPY)
def test_areas_and_draws_of_an_envelope(name: str) -> None:
    target = CONCAVE[name]
    grid = target.mode + target.width * np.array([[-0.9, 0.0, 0.4, 1.3]])  # level at the mode
    envelope = tangents(target, grid)
    ends = np.clip(envelope.ends[0], -60, 60)

    def height(z: float) -> float:
        return float(np.exp(envelope.log_q(np.array([[z]]))[0, 0]))

    areas = [quad(height, a, b)[0] for a, b in pairwise(ends)]
    assert_allclose(np.exp(envelope.log_areas()[0]), areas, rtol=1e-6)
    many = tangents(target, np.repeat(grid, 4000, axis=0))
    z = many.draw(np.random.default_rng(0))
    place = np.searchsorted(envelope.ends[0, 1:-1], z)
    assert_allclose(np.bincount(place) / 4000, np.array(areas) / sum(areas), atol=0.03)
    inner = z[place == 2]
    low, high = envelope.ends[0, 2:4]
    share = [quad(height, low, x)[0] / areas[2] for x in inner[:300]]
    assert kstest(share, "uniform").pvalue > 0.001
    assert high > low


def test_the_envelope_touches_at_its_points_and_is_above() -> None:
    target = CONCAVE["gumbel"]
    envelope = tangents(target, np.array([[-1.0, 0.5, 2.0]]))
    z = np.linspace(-2, 6, 400)[None]
    assert (envelope.log_q(z) - target.log_p(z)).min() >= 0
    assert_allclose(envelope.log_q(envelope.points), envelope.values)


def test_runs() -> None:
    target, rng = CONCAVE["gaussian"], np.random.default_rng(0)
    starts = np.stack([-rng.uniform(0.5, 2, 600), rng.uniform(0.5, 2, 600)], axis=1)
    run = adapt(target, starts, 6, 2, rng)
    assert run.envelope.points.shape == (600, 6)
    assert (np.diff(run.rejection, axis=1) < 0).all()
    assert_allclose(run.tried.mean(0), run.rejection.mean(0), atol=0.06)
    assert run.gap.min() > -1e-12
    for draws in run.draws.T:
        assert kstest(draws, "norm").pvalue > 0.001


def test_two_bumps_need_the_second_step() -> None:
    rng = np.random.default_rng(0)
    grid = np.array([-3.0, 0.0, 3.0])
    state, plain = metropolis(BUMPS, grid, rng.normal(0, 2, 2500), 20, rng)
    assert kstest(state, BUMPS.cdf).pvalue > 0.001
    assert kstest(plain, BUMPS.cdf).pvalue < 1e-6
    pieces = nearest(BUMPS, grid[None])
    assert (pieces.log_q(np.array([[1.4]])) < BUMPS.log_p(np.array([[1.4]]))).all()
