"""Expectations under a uniform density against numerical integration."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import dblquad, quad
from scipy.stats import ncx2, norm

from bythebook.models.sampling import monte_carlo
from bythebook.models.sampling.monte_carlo import (
    INTEGRANDS,
    double_twenty,
    evidences,
    hits,
    projection,
    quarter_circle,
    running_mean,
    tails,
    under_uniform,
)


@pytest.mark.parametrize("name", INTEGRANDS)
@pytest.mark.parametrize(("a", "b"), [(0.0, 1.0), (-2.0, 3.5)])
def test_moments_by_quadrature(name: str, a: float, b: float) -> None:
    f, mean, square = INTEGRANDS[name]
    assert_allclose(mean(a, b), quad(f, a, b)[0] / (b - a), rtol=1e-10)
    assert_allclose(square(a, b), quad(lambda y: f(y) ** 2, a, b)[0] / (b - a), rtol=1e-10)


def test_running_means_by_a_loop() -> None:
    values = np.random.default_rng(1).normal(size=(3, 20))
    expected = [[row[: s + 1].mean() for s in range(20)] for row in values]
    assert_allclose(running_mean(values), expected, rtol=1e-12)


@pytest.mark.parametrize("name", INTEGRANDS)
def test_draws_have_the_moments_stated(name: str) -> None:
    found = under_uniform(INTEGRANDS[name], -1.0, 2.0)
    values = found.f((4, 50_000), np.random.default_rng(0))
    assert_allclose(values.mean(), found.mean, atol=4.5 * np.sqrt(found.variance / values.size))
    assert_allclose(values.var(), found.variance, rtol=0.02)


@pytest.mark.parametrize(("dimension", "correlation"), [(1, 0.0), (20, 0.0), (3, 0.8)])
def test_projections(dimension: int, correlation: float) -> None:
    what = projection(dimension, correlation)
    f = what.f((3000, 5), np.random.default_rng(0))
    assert_allclose([f.mean(), f.var()], [what.mean, what.variance], atol=0.25)
    # squares of Gaussian numbers with correlation r have the correlation r^2
    assert_allclose(np.corrcoef(f[:, 0], f[:, 2])[0, 1], correlation**4, atol=0.1)


def test_tails_and_a_coin_by_quadrature() -> None:
    (low, high), coin = tails().values(), evidences()["coin"]
    assert_allclose([low.mean, high.mean], [norm.cdf(1), norm.sf(3)])
    f = high.f((100, 3000), np.random.default_rng(0))
    assert_allclose([f.mean(), f.var()], [high.mean, high.variance], rtol=0.25)
    f = low.f((100, 3000), np.random.default_rng(0))
    assert_allclose([f.mean(), f.var()], [low.mean, low.variance], rtol=0.01)
    mean, square = (quad(lambda r, k=k: (r**7 * (1 - r) ** 3) ** k, 0, 1)[0] for k in (1, 2))
    assert_allclose([coin.mean, coin.variance], [mean, square - mean**2], rtol=1e-9)


def test_the_evidence_of_a_line_on_a_grid_of_weights() -> None:
    line, step = evidences()["line"], 0.02
    w = np.arange(-6, 6, step)
    density = norm.pdf(w)[:, None] * norm.pdf(w) * step**2
    like = np.ones_like(density)
    for x, t in zip(monte_carlo.X[:, 1], monte_carlo.T, strict=True):
        like *= norm.pdf(t - w[:, None] - x * w, 0, np.sqrt(monte_carlo.NOISE))
    mean = (density * like).sum()
    assert_allclose(line.mean, mean, rtol=1e-6)
    assert_allclose(line.variance, (density * like**2).sum() - mean**2, rtol=1e-6)
    f = line.f((50, 2000), np.random.default_rng(0))
    assert_allclose([f.mean(), f.var()], [line.mean, line.variance], rtol=0.05)


@pytest.mark.parametrize("sd", [5.0, 30.0, 120.0])
def test_double_twenty_in_cartesian_coordinates(sd: float) -> None:
    """x between the sides of the segment, y between the arcs: the ring cut by two lines."""
    slope = np.tan(np.pi / 20)
    reach = 170 * np.sin(np.pi / 20)

    def density(y: float, x: float) -> float:
        return float(norm.pdf(x, 0, sd) * norm.pdf(y, 166, sd))

    def low(x: float) -> float:
        return max(abs(x) / slope, np.sqrt(max(162**2 - x**2, 0)))

    def high(x: float) -> float:
        return max(low(x), np.sqrt(170**2 - x**2))

    # the corners are where the inner arc meets the sides
    corner = 162 * np.sin(np.pi / 20)
    pieces = [(-reach, -corner), (-corner, corner), (corner, reach)]
    expected = sum(dblquad(density, a, b, low, high)[0] for a, b in pieces)
    assert_allclose(double_twenty(sd).probability, expected, rtol=1e-6)


def test_the_ring_is_hit_with_the_probability_of_its_radius() -> None:
    """Without the sides, the squared radius is non-central chi-squared; a share of it is the 20."""
    rng = np.random.default_rng(0)
    game = double_twenty(60.0)
    y = game.throw((400, 500), rng)
    assert_allclose(game.hit(y).mean(), game.probability, atol=0.001)
    squared = (y**2).sum(-1) / 60**2
    ring = ncx2.cdf(np.array([162, 170]) ** 2 / 60**2, 2, (166 / 60) ** 2)
    edges = np.array([162, 170]) ** 2 / 60**2
    share = ((squared > edges[0]) & (squared < edges[1])).mean()
    assert_allclose(share, ring[1] - ring[0], atol=0.002)


def test_a_perfect_thrower_never_misses() -> None:
    assert_allclose(double_twenty(0.3).probability, 1.0, atol=1e-9)


def test_what_counts_as_a_hit() -> None:
    places = np.array([[0, 166], [0, 161], [0, 171], [25, 164], [30, 163], [166, 0], [0, -166]])
    hits = double_twenty(10.0).hit(places.astype(float))
    assert hits.tolist() == [True, False, False, True, False, False, False]


def test_the_quarter_circle() -> None:
    game = quarter_circle()
    assert game.hit(np.array([[0.6, 0.8], [0.8, 0.8], [1.0, 0.0]])).tolist() == [True, False, True]
    y = game.throw((100, 1000), np.random.default_rng(0))
    assert y.min() >= 0
    assert y.max() < 1
    assert_allclose(4 * game.hit(y).mean(), np.pi, atol=0.02)


def test_hits_are_ones() -> None:
    found = hits(quarter_circle())
    values = found.f((3, 50_000), np.random.default_rng(0))
    assert set(np.unique(values)) == {0.0, 1.0}
    assert_allclose(values.mean(), found.mean, atol=4.5 * np.sqrt(found.variance / values.size))
    assert found.variance == np.pi / 4 * (1 - np.pi / 4)
