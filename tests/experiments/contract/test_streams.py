"""The random stream of a run: its own, and the same wherever it runs."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from experiments.contract.streams import generator

seeds = st.integers(0, 2**63)


@given(seeds, seeds)
@example(0, 2**32)
@example(1, 2**64 + 1)
def test_equal_seeds_and_only_they_have_equal_streams(one: int, other: int) -> None:
    first, second = (generator(seed).random(4) for seed in (one, other))
    assert (first == second).all() == (one == other)


def test_nothing_else_in_the_process_moves_it() -> None:
    before = generator(3).random(10)
    np.random.seed(0)  # noqa: NPY002
    generator(3).normal(size=100)
    np.testing.assert_array_equal(generator(3).random(10), before)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_neighbouring_seeds_are_independent(seed: int) -> None:
    """Correlations of uniform numbers are N(0, 1/n), and five standard deviations are enough."""
    n = 10_000
    drawn = [generator(s).random(n) for s in (seed, seed + 1)]
    assert abs(np.corrcoef(drawn)[0, 1]) < 5 / np.sqrt(n)
