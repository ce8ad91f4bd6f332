"""The random number generator of a run."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bythebook.experiments.core.random_streams import make_rng

seeds = st.integers(0, 2**63)


@given(seeds, seeds)
@example(0, 2**32)
@example(1, 2**64 + 1)
def test_streams_are_equal_for_equal_seeds_only(one: int, other: int) -> None:
    first, second = (make_rng(seed).random(4) for seed in (one, other))
    assert (first == second).all() == (one == other)


def test_other_generators_in_the_process_have_no_effect() -> None:
    before = make_rng(3).random(10)
    np.random.seed(0)  # noqa: NPY002
    make_rng(3).normal(size=100)
    np.testing.assert_array_equal(make_rng(3).random(10), before)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_neighbouring_seeds_are_independent(seed: int) -> None:
    """Correlations of independent numbers are N(0, 1/n); the bound is five standard deviations."""
    n = 10_000
    drawn = [make_rng(s).random(n) for s in (seed, seed + 1)]
    assert abs(np.corrcoef(drawn)[0, 1]) < 5 / np.sqrt(n)
