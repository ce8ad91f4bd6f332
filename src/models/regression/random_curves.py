r"""Random curves in one dimension, as drawn by Mark Schmidt's makeData for MLAPP Figure 16.18.

    h(x) = sum_k a_k exp(-|x - c_k| / 2v) / sum_k exp(-|x - c_k| / 2v),   v = 0.1

with 20 centres c and 20 targets a, all uniform between -5 and 5: between plateaus about the centres
the curve jumps quickly. Data are seen with Gaussian noise of standard deviation 1/15 at x uniform
between -5 and 5.
"""

from typing import NamedTuple

import numpy as np

from bythebook.models.types import Floats

REACH = 5.0  # inputs, centres and targets are between -5 and 5
_CENTRES, _WIDTH, _NOISE = 20, 0.1, 1 / 15


class RandomCurves(NamedTuple):
    """Data sets about R random curves, and the curves on a grid."""

    x: Floats  # (R, N)
    t: Floats  # (R, N)
    grid: Floats  # (G,)
    h: Floats  # (R, G) the curves without noise


def random_curves(
    n_curves: int, n: int, rng: np.random.Generator, n_grid: int = 401
) -> RandomCurves:
    """Draw R curves, and N noisy points of each."""
    x = rng.uniform(-REACH, REACH, (n_curves, n))
    centres, targets = rng.uniform(-REACH, REACH, (2, n_curves, _CENTRES))
    noise = _NOISE * rng.standard_normal((n_curves, n))
    grid = np.linspace(-REACH, REACH, n_grid)
    t = kernel_average(x, centres, targets) + noise
    return RandomCurves(x, t, grid, kernel_average(grid, centres, targets))


def kernel_average(x: Floats, centres: Floats, targets: Floats) -> Floats:
    """The curve h at x (..., N), for centres and targets (..., K)."""
    log_kernel = -np.abs(x[..., np.newaxis] - centres[..., np.newaxis, :]) / (2 * _WIDTH)
    kernel = np.exp(log_kernel - log_kernel.max(-1, keepdims=True))
    return np.asarray(np.vecdot(kernel, targets[..., np.newaxis, :]) / kernel.sum(-1))
