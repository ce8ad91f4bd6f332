"""The curve of MLAPP Figure 16.18 against the sum written out, and the size of its noise."""

import math

import numpy as np
from numpy.testing import assert_allclose

from bythebook.models.regression.random_curves import kernel_average, random_curves


def test_the_average_written_out() -> None:
    rng = np.random.default_rng(0)
    x, centres, targets = rng.uniform(-5, 5, (2, 4)), *rng.uniform(-5, 5, (2, 2, 3))
    found = kernel_average(x, centres, targets)
    assert found.shape == (2, 4)
    for r in range(2):
        for n in range(4):
            weights = [math.exp(-abs(x[r, n] - c) / 0.2) for c in centres[r]]
            expected = sum(w * a for w, a in zip(weights, targets[r], strict=True)) / sum(weights)
            assert_allclose(found[r, n], expected, rtol=1e-12)


def test_far_from_all_centres_the_nearest_decides() -> None:
    """The kernel underflows there; the average must not become 0 / 0."""
    found = kernel_average(np.array([1000.0]), np.array([-5.0, 5.0]), np.array([1.0, 2.0]))
    assert_allclose(found, 2.0, rtol=1e-12)


def test_data_lie_about_the_curve() -> None:
    data = random_curves(300, 200, np.random.default_rng(1))
    assert data.x.shape == data.t.shape == (300, 200)
    assert data.h.shape == (300, 401)
    assert np.all(np.abs(data.x) <= 5)
    # Every tenth of the range has an equal share of 60,000 draws, within four standard errors.
    counts = np.histogram(data.x, bins=10, range=(-5, 5))[0]
    assert np.abs(counts - 6000).max() < 4 * np.sqrt(60_000 * 0.09)
    nearest = np.abs(data.x[..., np.newaxis] - data.grid).argmin(-1)
    residual = data.t - np.take_along_axis(data.h, nearest, axis=-1)
    # The curve moves between x and the grid: the middle half is least disturbed by its jumps.
    spread = np.subtract(*np.quantile(residual, [0.75, 0.25])) / 1.349
    assert_allclose(spread, 1 / 15, rtol=0.15)


def test_centres_targets_and_noise_are_as_many_and_as_wide_as_the_text_says() -> None:
    """Drawn again from the same stream; 20 centres and targets in -5 to 5, a width of 0.1."""
    data = random_curves(3, 7, np.random.default_rng(4), 11)
    rng = np.random.default_rng(4)
    x = rng.uniform(-5, 5, (3, 7))
    centres, targets = rng.uniform(-5, 5, (2, 3, 20))
    noise = rng.standard_normal((3, 7)) / 15
    assert_allclose(data.grid, np.arange(-5, 6))
    for r in range(3):
        for inputs, found, off in ((x[r], data.t[r], noise[r]), (data.grid, data.h[r], 0.0)):
            weights = np.exp(-np.abs(inputs[:, None] - centres[r]) / (2 * 0.1))
            assert_allclose(found, weights @ targets[r] / weights.sum(1) + off, rtol=1e-10)
    assert_allclose(data.x, x)


def test_a_centre_however_far_leaves_the_nearest_its_place() -> None:
    """The kernel of the nearest is one; that of the other must not make it infinite."""
    found = kernel_average(np.array([0.0, 290.0]), np.array([0.0, 300.0]), np.array([1.0, 2.0]))
    assert_allclose(found, [1.0, 2.0], rtol=1e-12)
