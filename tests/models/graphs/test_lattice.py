"""Energies pixel by pixel; least cuts against all images; modes against single flips."""

from itertools import pairwise

import numpy as np
from numpy.testing import assert_array_equal

from bythebook.models.graphs.lattice import conditional_modes, energy, neighbours, shapes


def images(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.choice([-1, 1], shape)


def test_neighbours_are_four_and_fewer_at_the_border() -> None:
    assert_array_equal(neighbours(np.ones((3, 3), int)), [[2, 3, 2], [3, 4, 3], [2, 3, 2]])


def test_modes_climb_to_where_no_single_pixel_helps() -> None:
    rng = np.random.default_rng(3)
    y = images(rng, 8, 9)
    *path, last = conditional_modes(y, 1.0, 1.1, 0.1)
    levels = [energy(x, y, 1.0, 1.1, 0.1) for x in [*path, last]]
    assert_array_equal(path[0], y)
    assert np.diff(levels).max() <= 1e-12
    for at in np.ndindex(y.shape):
        flipped = last.copy()
        flipped[at] *= -1
        assert energy(flipped, y, 1.0, 1.1, 0.1) >= levels[-1] - 1e-12


def test_pixels_that_change_at_once_have_no_links() -> None:
    y = images(np.random.default_rng(5), 40, 41)
    path = [x.copy() for x in conditional_modes(y, 2.0, 0.1)]
    changes = [a != b for a, b in pairwise(path)]
    assert any(changed.sum() > 100 for changed in changes)
    for changed in changes:
        assert not (changed[1:] & changed[:-1]).any()
        assert not (changed[:, 1:] & changed[:, :-1]).any()


def test_shapes_are_binary_and_of_both_kinds() -> None:
    image = shapes(60, np.random.default_rng(4))
    assert set(np.unique(image)) == {-1, 1}
    assert not np.array_equal(image, shapes(60, np.random.default_rng(5)))
