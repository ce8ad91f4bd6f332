"""Pairs without noise: the right disparity costs nothing, and patches find it."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from bythebook.models.graphs import stereo
from bythebook.models.types import Floats

PAIR = stereo.drawn_pair(24, 40, 12, 1e-9, np.random.default_rng(1))


def test_a_pixel_that_is_not_hidden_costs_nothing_at_its_disparity() -> None:
    u = stereo.matching_cost(PAIR, 12, 1.0)
    own = np.take_along_axis(u, PAIR.disparity[None], 0)[0]
    hidden = (24 - 2 * 6) * (8 - 2)  # of the plane, behind the rectangle's shifted side
    assert (own > 1e-12).sum() == pytest.approx(hidden, abs=1)


def test_disparities_are_two_and_the_texture_is_weak_in_a_stretch() -> None:
    assert set(np.unique(PAIR.disparity)) == {2, 8}
    assert PAIR.left[PAIR.flat].std() < 0.2 < PAIR.left[~PAIR.flat].std()
    weak = PAIR.flat[:, 0]  # of the right image whole rows: its new dots are as weak
    assert PAIR.right[weak].std() < 0.2 < PAIR.right[~weak].std()


def test_patches_are_found() -> None:
    right = stereo.matched_patches(PAIR, 12) == PAIR.disparity
    assert right[:4, 4:-4].all()  # far from the rectangle


@pytest.mark.parametrize("window", [3, 5])
def test_patches_are_those_of_the_largest_correlation(window: int) -> None:
    """Pixel by pixel, with edges repeated, of images whose brightness and contrast vary."""
    rng = np.random.default_rng(4)
    left, right = rng.random((7, 9)) ** 2, rng.random((7, 12)) ** 2
    pair = stereo.Pair(left, right, np.zeros((7, 9), dtype=int), np.zeros((7, 9), dtype=bool))

    def patches(image: Floats) -> Floats:
        return sliding_window_view(np.pad(image, window // 2, mode="edge"), (window, window))

    others = [patches(right[:, y : y + 9]) for y in range(4)]
    expected = np.empty((7, 9), dtype=int)
    for at in np.ndindex(7, 9):
        own = patches(left)[at].ravel()
        expected[at] = np.argmax([np.corrcoef(own, other[at].ravel())[0, 1] for other in others])
    np.testing.assert_array_equal(stereo.matched_patches(pair, 4, window), expected)
    if window == 5:
        np.testing.assert_array_equal(stereo.matched_patches(pair, 4), expected)


def test_the_border_step() -> None:
    truth = np.array([[0, 0, 6, 6]])
    assert stereo.border_step(truth, truth) == 6
    assert stereo.border_step(np.array([[0, 2, 4, 6]]), truth) == 2


def test_the_border_step_is_a_mean_over_neighbours_in_rows_and_columns() -> None:
    truth = np.array([[0, 0, 6], [6, 6, 6]])
    found = stereo.border_step(np.array([[0, 1, 6], [4, 6, 1]]), truth)
    assert found == pytest.approx((5 + 4 + 5) / 3)  # across, and down twice
