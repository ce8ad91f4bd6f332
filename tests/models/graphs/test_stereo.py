"""Pairs without noise: the right disparity costs nothing, and patches find it."""

import numpy as np
import pytest

from models.graphs import stereo

PAIR = stereo.drawn_pair(24, 40, 12, 1e-9, np.random.default_rng(1))


def test_a_pixel_that_is_not_hidden_costs_nothing_at_its_disparity() -> None:
    u = stereo.matching_cost(PAIR, 12, 1.0)
    own = np.take_along_axis(u, PAIR.disparity[None], 0)[0]
    hidden = (24 - 2 * 6) * (8 - 2)  # of the plane, behind the rectangle's shifted side
    assert (own > 1e-12).sum() == pytest.approx(hidden, abs=1)


def test_disparities_are_two_and_the_texture_is_weak_in_a_stretch() -> None:
    assert set(np.unique(PAIR.disparity)) == {2, 8}
    assert PAIR.left[PAIR.flat].std() < 0.2 < PAIR.left[~PAIR.flat].std()


def test_patches_are_found() -> None:
    right = stereo.matched_patches(PAIR, 12) == PAIR.disparity
    assert right[:4, 4:-4].all()  # far from the rectangle


def test_the_border_step() -> None:
    truth = np.array([[0, 0, 6, 6]])
    assert stereo.border_step(truth, truth) == 6
    assert stereo.border_step(np.array([[0, 2, 4, 6]]), truth) == 2
