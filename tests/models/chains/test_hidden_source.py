"""Entropies of a source whose answers are known."""

import numpy as np
import pytest

from bythebook.models.chains import hidden_source as source


def _h(p: float) -> float:
    return float(-p * np.log2(p) - (1 - p) * np.log2(1 - p))


def test_without_noise_it_is_a_chain_of_first_order() -> None:
    bits = source.conditional_bits(*source.tables(0.9, 0.0), 5)
    assert bits == pytest.approx([1, *[_h(0.9)] * 4])


def test_with_noise_two_observations_differ_now_and_then() -> None:
    pi, A, B = source.tables(0.9, 0.2)
    same = 0.9 * (0.64 + 0.04) + 0.1 * 0.32
    assert source.conditional_bits(pi, A, B, 2) == pytest.approx([1, _h(same)])


def test_drawn_sequences_turn_as_often_as_they_should() -> None:
    pi, A, B = source.tables(0.9, 0.2)
    states, y = source.draw(pi, A, B, 2000, 20, np.random.default_rng(0))
    assert (states[:, 1:] != states[:, :-1]).mean() == pytest.approx(0.1, abs=0.01)
    assert (y != states).mean() == pytest.approx(0.2, abs=0.01)
    assert set(np.unique(y)) == {0, 1}
    same = 0.9 * (0.64 + 0.04) + 0.1 * 0.32
    assert (y[:, 1:] == y[:, :-1]).mean() == pytest.approx(same, abs=0.01)
    assert y.mean() == pytest.approx(0.5, abs=0.05)
