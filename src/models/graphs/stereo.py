r"""Random-dot stereo pairs, and matching costs of disparities (MLAPP 19.6.2.7).

    psi_s(y_s) ~ exp(-(x_L(i, j) - x_R(i, j + y_s))^2 / (2 sigma^2))                   MLAPP 19.68

A rectangle is in front of a plane. In some of the rows the texture is weak. Disparities run along
the columns; the region hidden in the left image is filled with new dots.
"""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.ndimage import uniform_filter

from bythebook.models.types import Bools, Floats, Ints


class Pair(NamedTuple):
    """Two images, the disparity of each pixel of the left, and the rows with little texture."""

    left: Floats
    right: Floats
    disparity: Ints
    flat: Bools


def drawn_pair(rows: int, columns: int, labels: int, noise: float, rng: Generator) -> Pair:
    """The plane is a sixth of the disparities off, the rectangle two thirds."""
    disparity = np.full((rows, columns), labels // 6)
    top, side = rows // 4, columns // 4
    disparity[top : rows - top, side : columns - side] = 2 * labels // 3
    flat = np.zeros((rows, columns), dtype=bool)
    flat[rows - rows // 3 : rows - rows // 8] = True
    left = rng.standard_normal((rows, columns)) * np.where(flat, 0.1, 1.0)
    right = rng.standard_normal((rows, columns + labels)) * np.where(flat[:, :1], 0.1, 1.0)
    for near in np.unique(disparity):  # nearer parts are painted over farther ones
        i, j = np.nonzero(disparity == near)
        right[i, j + near] = left[i, j]
    noisy = noise * rng.standard_normal((2, rows, columns + labels))
    return Pair(left + noisy[0, :, :columns], right + noisy[1], disparity, flat)


def matching_cost(pair: Pair, labels: int, sigma: float) -> Floats:
    """-ln psi_s for each disparity, (label, row, column) (19.68)."""
    columns = pair.left.shape[1]
    shifted = [pair.right[:, y : y + columns] for y in range(labels)]
    return np.asarray((pair.left - np.array(shifted)) ** 2 / (2 * sigma**2))


def matched_patches(pair: Pair, labels: int, window: int = 5) -> Ints:
    """The disparity whose patch correlates best with that around each pixel."""
    columns = pair.left.shape[1]

    def smooth(x: Floats) -> Floats:
        return np.asarray(uniform_filter(x, window, mode="nearest"))

    def centred(x: Floats) -> tuple[Floats, Floats]:
        mean = smooth(x)
        return mean, np.sqrt(smooth(x * x) - mean**2)

    mean, sd = centred(pair.left)
    scores = []
    for y in range(labels):
        other = pair.right[:, y : y + columns]
        other_mean, other_sd = centred(other)
        scores.append((smooth(pair.left * other) - mean * other_mean) / (sd * other_sd))
    return np.asarray(np.argmax(scores, axis=0))


def border_step(disparity: Ints, truth: Ints) -> float:
    """The mean step between neighbours that differ in truth."""
    steps = [
        np.abs(np.diff(disparity, axis=along))[np.diff(truth, axis=along) != 0] for along in (0, 1)
    ]
    return float(np.concatenate(steps).mean())
