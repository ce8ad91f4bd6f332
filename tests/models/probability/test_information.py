"""Codes against their definitions, entropies against closed forms."""

from itertools import product

import numpy as np
import pytest

from bythebook.models.probability import information as info


def test_entropy_and_divergence_of_powers_of_two() -> None:
    p, q = np.array([1 / 2, 1 / 4, 1 / 8, 1 / 8]), np.full(4, 1 / 4)
    assert info.entropy(p) / np.log(2) == pytest.approx(1.75)
    assert info.divergence(p, q) / np.log(2) == pytest.approx(0.25)
    assert info.huffman_lengths(p.tolist()).tolist() == [1, 2, 3, 3]
    assert info.block_bits(p, 3) == pytest.approx(1.75)
    assert info.best_code_bits(p) == pytest.approx(1.75)


def test_entropies_of_a_batch_stand_where_its_distributions_do() -> None:
    p = np.array([[1 / 2, 1 / 4, 1 / 4], [1.0, 0.0, 0.0]])
    assert info.entropy(p) / np.log(2) == pytest.approx([1.5, 0.0])
    uniform = info.entropy(np.full((2, 3, 4), 1 / 4))
    assert uniform.shape == (2, 3)
    assert uniform == pytest.approx(np.log(4))


def test_huffman_is_the_best_code_of_whole_bits() -> None:
    p = np.random.default_rng(0).dirichlet(np.ones(4), 20)
    for row in p:
        bits = row @ info.huffman_lengths(row.tolist())
        assert bits == pytest.approx(float(info.best_code_bits(row)))
        assert info.block_bits(row, 1) == pytest.approx(bits)


def test_exchanges_are_differences_of_mean_lengths() -> None:
    p, lengths = np.array([0.5, 0.3, 0.2]), np.array([1, 2, 2])
    swapped = [p @ [2, 1, 2] - p @ lengths, p @ [2, 2, 1] - p @ lengths]
    assert info.exchanges(p, lengths) == pytest.approx(swapped)


def test_whole_parts_sum_up_and_none_is_zero() -> None:
    parts = info.whole_parts(np.array([[1.0, 0.0, 0.0], [0.2, 0.3, 0.5]]))
    unused = (1 << info.PRECISION) - parts.sum(1)
    assert ((unused >= 0) & (unused <= 6)).all()
    assert parts.min() == 1
    assert parts[1] / (1 << info.PRECISION) == pytest.approx([0.2, 0.3, 0.5], abs=1e-8)


def test_every_text_is_read_back_and_no_codeword_begins_another() -> None:
    table = np.array([[0.7, 0.3], [0.1, 0.9]])
    code = info.ArithmeticCode(info.whole_parts(table))
    rule = info.ContextRule([0], 2, 2)
    words = []
    for text in product([0, 1], repeat=5):
        contexts = [0, *text[:-1]]
        word, bits = code.encode(contexts, text)
        chance = np.prod([table[c, s] for c, s in zip(contexts, text, strict=True)])
        assert bits <= -np.log2(chance) + 2
        assert code.decode(word, bits, 5, rule) == list(text)
        words.append(format(word, f"0{bits}b"))
    assert not any(a != b and b.startswith(a) for a in words for b in words)


def test_contexts_are_the_last_symbols_in_base_k() -> None:
    rule = info.ContextRule([2, 1], 3, 3)
    assert rule([]) == 2 * 3 + 1
    assert rule([0]) == 1 * 3 + 0
    assert info.ContextRule([], 1, 3)([1, 2]) == 0
