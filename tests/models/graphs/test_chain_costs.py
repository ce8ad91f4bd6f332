"""Operations of a chain of three, counted by hand."""

import numpy as np
import pytest

from bythebook.models.graphs.chain_costs import as_factors, operations, shared_messages

K = 5
CHAIN = as_factors(np.random.default_rng(1).uniform(0.1, 1, (2, K, K)))  # x1 - x2 - x3
LEAF = K**2 + K * (K - 1)  # a factor times ones, summed over the leaf
INNER = K + LEAF  # a variable's message first: ones times the message it received


@pytest.mark.parametrize(
    ("way", "count"),
    [
        ("all configurations", K**2 + K**3 + (K**3 - K)),  # the first product is one times a table
        ("one node", 2 * LEAF + 2 * K),  # both leaves send to x2
        ("every node apart", (2 * LEAF + 2 * K) + 2 * (LEAF + INNER + K)),
        ("every node, messages kept", 2 * LEAF + 2 * INNER + (K + 2 * K + K)),
    ],
)
def test_every_operation_is_counted(way: str, count: int) -> None:
    assert operations(CHAIN, way) == count


def test_what_is_sent_for_both_ends_is_counted() -> None:
    assert shared_messages(CHAIN) == 0.5  # from x3 to x2 for both, then to x1 for one
