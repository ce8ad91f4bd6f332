"""Probabilities of regions: adaptive quadrature, limits and known points."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import dblquad
from scipy.stats import ncx2, norm

from bythebook.models.sampling.region import double_twenty, hits, quarter_circle


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
