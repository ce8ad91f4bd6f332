r"""Entropies, divergences and codes (notes 1.1.7; Ghahramani 1.2).

    H[P] = -sum_x P(x) log P(x)        KL(P || Q) = sum_x P(x) log P(x) / Q(x)

Distributions are along the last axis; joint tables p(x, y) along the last two, x first. Logarithms
are natural (nats) except for codes, whose lengths are whole numbers of bits.
"""

import heapq
from collections.abc import Sequence
from itertools import product

import numpy as np
from scipy.special import entr, rel_entr

from bythebook.models.types import Floats, Ints

PRECISION = 30  # bits of a probability in an arithmetic code


def entropy(p: Floats) -> Floats:
    """H (...) of distributions (..., K), in nats."""
    return np.asarray(entr(p).sum(-1))


def divergence(p: Floats, q: Floats) -> Floats:
    """KL(p || q) (...), in nats (notes 1.14)."""
    return np.asarray(rel_entr(p, q).sum(-1))


# --- Codes --------------------------------------------------------------------------------------


def huffman_lengths(p: Sequence[float]) -> Ints:
    """The lengths (K,) of Huffman's codewords for one distribution."""
    heap: list[tuple[float, int, list[int]]] = [(w, k, [k]) for k, w in enumerate(p)]
    lengths = np.zeros(len(heap), dtype=np.int64)
    heapq.heapify(heap)
    while len(heap) > 1:
        (v, order, left), (w, _, right) = heapq.heappop(heap), heapq.heappop(heap)
        lengths[left + right] += 1
        heapq.heappush(heap, (v + w, order, left + right))
    return lengths


def block_bits(p: Floats, block: int) -> float:
    """Bits per symbol of Huffman's code for blocks of independent symbols."""
    joint = p
    for _ in range(block - 1):
        joint = np.multiply.outer(joint, p).ravel()
    heap = joint.tolist()
    heapq.heapify(heap)
    total = 0.0  # the sum of lengths times weights is that of all inner nodes
    while len(heap) > 1:
        both = heapq.heappop(heap) + heapq.heappop(heap)
        total += both
        heapq.heappush(heap, both)
    return total / block


def best_code_bits(p: Floats) -> Floats:
    """Minimum mean length (...) of any code of whole bits, over all lengths that Kraft allows."""
    K = p.shape[-1]  # no codeword of a best code has K bits
    lengths = np.array(list(product(range(K), repeat=K)), dtype=np.float64)
    lengths = lengths[(2.0**-lengths).sum(1) <= 1]
    return np.asarray((p @ lengths.T).min(-1))


def exchanges(p: Floats, lengths: Ints) -> Floats:
    """Cost of exchanging two codewords of unequal length, for all pairs of unequal weights."""
    i, j = np.triu_indices(len(p), 1)
    cost = (p[i] - p[j]) * (lengths[j] - lengths[i])
    return np.asarray(cost[(lengths[i] != lengths[j]) & (p[i] != p[j])])


def whole_parts(p: Floats) -> Ints:
    """Probabilities (..., K) as whole parts of 2^PRECISION at most, one or more each."""
    most = (1 << PRECISION) - p.shape[-1]
    return np.asarray(np.maximum(np.floor(p * most).astype(np.int64), 1))


class ArithmeticCode:
    """An arithmetic code in exact whole numbers; parts (contexts, K) of 2^PRECISION."""

    def __init__(self, parts: Ints) -> None:
        self.parts = parts.tolist()
        below = np.cumsum(parts, axis=-1) - parts
        self.below: list[list[int]] = below.tolist()
        self._sorted = below

    def encode(self, contexts: Sequence[int], symbols: Sequence[int]) -> tuple[int, int]:
        """The codeword as a whole number, and its number of bits."""
        low, width = 0, 1
        for c, s in zip(contexts, symbols, strict=True):
            low = (low << PRECISION) + width * self.below[c][s]
            width *= self.parts[c][s]
        scale = PRECISION * len(symbols)
        # The shortest binary fraction in [low, low + width), with all its continuations.
        bits = scale - width.bit_length()
        while True:
            unit = 1 << (scale - bits)
            word = -(-low // unit)
            if (word + 1) * unit <= low + width:  # at the latest when the unit is one
                return word, bits
            bits += 1

    def decode(self, word: int, bits: int, length: int, context: "ContextRule") -> list[int]:
        """The symbols, each context determined by those before it."""
        scale = PRECISION * length
        value = word << (scale - bits)
        low, width, found = 0, 1, list[int]()
        for k in range(1, length + 1):
            c = context(found)
            low <<= PRECISION
            part = ((value >> (scale - PRECISION * k)) - low) // width
            s = int(np.searchsorted(self._sorted[c], part, side="right")) - 1
            low += width * self.below[c][s]
            width *= self.parts[c][s]
            found.append(s)
        return found


class ContextRule:
    """The context of the next symbol: the last n - 1 of those before it, in base K."""

    def __init__(self, before: Sequence[int], order: int, K: int) -> None:
        self.before, self.order, self.K = list(before), order, K

    def __call__(self, found: Sequence[int]) -> int:
        last = (self.before + list(found))[len(self.before) + len(found) - self.order + 1 :]
        context = 0
        for s in last:
            context = context * self.K + s
        return context
