"""Walks against all their paths, one by one."""

from itertools import product

import numpy as np
import pytest

from bythebook.models.chains.integer_walk import draw_walks, moments, return_probability


def test_moments_and_returns_are_sums_over_all_paths() -> None:
    up, stay, n = 0.6, 0.3, 6
    found = moments(np.array([up]), stay, n + 1)
    chances = {1: 0.7 * up, 0: stay, -1: 0.7 * (1 - up)}
    place = square = returned = waited = 0.0
    for moves in product(chances, repeat=n):
        chance = float(np.prod([chances[m] for m in moves]))
        places = np.cumsum(moves)
        place += chance * places[-1]
        square += chance * places[-1] ** 2
        back = np.flatnonzero(places == 0)
        returned += chance * (len(back) > 0)
        waited += chance * (back[0] + 1 if len(back) else n)
    last = [getattr(found, k)[0, -1] for k in ("place", "square")]
    assert last == pytest.approx([place, square])
    assert [found.returned[0, -1], found.waited[0, -1]] == pytest.approx([returned, waited])


def test_neighbours_and_the_most_probable_place() -> None:
    found = moments(np.array([0.5]), 0.0, 3)
    assert found.reached[0].tolist() == [0.5, 0.5, 0.5]
    assert found.largest[0].tolist() == [1.0, 0.5, 0.5]


def test_chance_of_return_is_known() -> None:
    assert return_probability(np.array([0.3, 0.7]), 0.0) == pytest.approx([0.6, 0.6])
    assert return_probability(np.array([0.3]), 0.5) == pytest.approx([0.8])


def test_drawn_walks_have_their_drift() -> None:
    walks = draw_walks(np.array([0.7]), 0.5, 101, 2000, np.random.default_rng(0))
    assert walks.shape == (1, 2000, 101)
    assert walks[0, :, -1].mean() == pytest.approx(100 * 0.5 * 0.4, abs=1.0)
    assert (np.diff(walks) == 0).mean() == pytest.approx(0.5, abs=0.01)
