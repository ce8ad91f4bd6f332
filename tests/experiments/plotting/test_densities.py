"""Densities: comparison with SciPy, and areas of 1."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from scipy.stats import norm

from bythebook.experiments.plotting.densities import gaussian_curve, particle_histogram


@given(st.floats(-5, 5), st.floats(0.05, 10))
def test_a_gaussian_equals_scipy(mean: float, sd: float) -> None:
    x = np.linspace(-20, 20, 101)
    expected = norm.pdf(x, mean, sd)
    np.testing.assert_allclose(gaussian_curve(x, mean, sd), expected, rtol=1e-9, atol=1e-300)


def test_a_particle_histogram_is_a_density() -> None:
    rng = np.random.default_rng(5)
    z, w = rng.normal(size=200), rng.dirichlet(np.ones(200))
    ax, edges = Figure().subplots(), np.linspace(-6, 6, 25)
    particle_histogram(ax, z, w, edges)
    heights = np.array([bar.get_height() for bar in ax.patches])
    np.testing.assert_allclose(heights @ np.diff(edges), 1, rtol=1e-12)
    tallest = int(heights.argmax())
    inside = (z >= edges[tallest]) & (z < edges[tallest + 1])
    np.testing.assert_allclose(heights[tallest] * 0.5, w[inside].sum(), rtol=1e-12)
