"""Cutsets against every setting visited."""

import numpy as np
import pytest
from graph_tables import drawn, visited
from numpy.testing import assert_allclose

from bythebook.models.graphs.cutset import averaged, cases, cut

LOOPY = ("ab", "bc", "cd", "da", "ce", "ef")


@pytest.mark.parametrize("cutset", ["a", "c", "bd"])
def test_cases_and_their_average(cutset: str) -> None:
    factors = drawn(np.random.default_rng(1), *LOOPY)
    assert cut(factors, cutset).loops == 0
    found = cases(factors, cutset)
    weights = visited(factors, cutset)
    assert_allclose([case.weight for case in found], weights.ravel())
    for name in set("abcdef") - set(cutset):
        right = visited(factors, name)
        assert_allclose(averaged(found, name), right / right.sum())


def test_loops_are_counted() -> None:
    factors = drawn(np.random.default_rng(2), *LOOPY)
    assert cut(factors, "e").loops == 1
    assert cut(factors, "").loops == 1
