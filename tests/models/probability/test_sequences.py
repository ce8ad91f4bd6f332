"""Sequences against counting by hand."""

import numpy as np
import pytest

from bythebook.models.probability import sequences


def test_all_sequences_are_there_once() -> None:
    x = sequences.all_sequences(4)
    assert len({tuple(row) for row in x.tolist()}) == 16
    assert x[6].tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize("order", [0, 1, 3])
def test_evidence_adds_up_to_one(order: int) -> None:
    p = sequences.chain_evidence(sequences.all_sequences(6), order)
    assert p.sum() == pytest.approx(1)
    assert p.min() > 0


def test_by_hand() -> None:
    x = np.array([[1, 1, 0, 1]])
    assert sequences.known_coin(x, 0.9) == pytest.approx([0.9**3 * 0.1])
    assert sequences.chain_evidence(x, 0) == pytest.approx([1 / 20])  # 3! 1! / 5!
    assert sequences.contexts(x, 2).tolist() == [[3, 2]]
    # Of order one: after 1 come 1 and 0, after 0 comes 1.
    assert sequences.chain_evidence(x, 1) == pytest.approx([1 / 2 * 1 / 6 * 1 / 2])
