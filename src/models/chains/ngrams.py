r"""n-gram models: counts of n symbols in a row, and predictive distributions (MLAPP 17.2.2).

    p(x_t | x_{t-n+1} .. x_{t-1}) = N(x_{t-n+1} .. x_t) / N(x_{t-n+1} .. x_{t-1})           17.12

Symbols are whole numbers 0 .. K-1; an n-gram is a number in base K. Counts are stored for those
that occur: a table if there are few n-grams, sorted keys if there are many.
"""

import re
from collections import Counter, defaultdict
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bythebook.models.types import Floats, Ints

LETTERS = "_abcdefghijklmnopqrstuvwxyz"  # a blank, and the letters
_TABLE = 1 << 24  # n-grams that are counted in a table
_CODE = np.zeros(256, dtype=np.int64)
for _place, _letter in enumerate(LETTERS[1:], start=1):
    _CODE[ord(_letter)] = _CODE[ord(_letter.upper())] = _place


def letters(text: str) -> Ints:
    """A text as places in LETTERS: other characters become blanks, and runs of blanks one blank."""
    codes = _CODE[np.frombuffer(text.encode("latin-1", "replace"), dtype=np.uint8)]
    return codes[(codes > 0) | (np.roll(codes, 1) > 0)]


def words(text: str) -> list[str]:
    """The words of a text in small letters."""
    return re.findall(r"[a-z0-9]+(?:'[a-z]+)?", text.lower())


def vocabulary(tokens: list[str], size: int = 0) -> list[str]:
    """The most frequent words, the first met first among equals; 0: all of them."""
    return [word for word, _ in Counter(tokens).most_common(size or None)]


def coded(tokens: list[str], known: list[str]) -> Ints:
    """Places in a vocabulary; what is not in it has the place after the last."""
    place = defaultdict(lambda: len(known), zip(known, range(len(known)), strict=True))
    return np.fromiter(map(place.__getitem__, tokens), np.int64, len(tokens))


def keys(symbols: Ints, n: int, K: int) -> Ints:
    """All n-grams in their order, (T - n + 1,); n = 0: zeros, for the empty context."""
    found = np.zeros(len(symbols) - max(n, 1) + 1, dtype=np.int64)
    for k in range(n):
        found = found * K + symbols[k : k + len(found)]
    return found


class Counts(NamedTuple):
    """The count of each n-gram."""

    n: int
    K: int
    keys: Ints  # those that occur, in order
    counts: Ints

    @property
    def distinct(self) -> int:
        return len(self.keys)

    def of(self, wanted: Ints) -> Ints:
        """The counts of some n-grams."""
        if len(self.keys) == 0:
            return np.zeros(len(wanted), dtype=np.int64)
        place = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return np.where(self.keys[place] == wanted, self.counts[place], 0)

    @property
    def table(self) -> Floats:
        """All of them, (K, ..., K)."""
        whole = np.zeros(self.K**self.n)
        whole[self.keys] = self.counts
        return whole.reshape((self.K,) * self.n)


def count(symbols: Ints, n: int, K: int) -> Counts:
    """Count the n-grams of a text."""
    if K**n >= 2**62:
        raise ValueError(f"{n}-grams of {K} symbols have no number of 62 bits")
    found = keys(symbols, n, K)
    if K**n <= _TABLE:
        table = np.bincount(found, minlength=1)
        occur = np.flatnonzero(table)
        return Counts(n, K, occur, table[occur])
    return Counts(n, K, *np.unique(found, return_counts=True))


class NGramModel(NamedTuple):
    """Counts of n-grams, and of the n - 1 symbols before each last one."""

    whole: Counts
    context: Counts
    added: float  # to each count: 0 is maximum likelihood, 1 add-one smoothing

    def probabilities(self, symbols: Ints) -> Floats:
        """Chance of each symbol from the n-th on, given those before it; 0 after what is unseen."""
        n, K = self.whole.n, self.whole.K
        full = keys(symbols, n, K)
        N = self.whole.of(full) + self.added
        total = self.context.of(full // K) + self.added * K
        return np.asarray(np.divide(N, total, out=np.zeros(len(full)), where=total > 0))

    def bits(self, symbols: Ints) -> float:
        """Bits per symbol; infinite if a symbol is impossible."""
        with np.errstate(divide="ignore"):
            return float(-np.log2(self.probabilities(symbols)).mean())

    @property
    def table(self) -> Floats:
        """p(symbol | context), (K^(n-1), K), of a model with positive smoothing."""
        N = self.whole.table.reshape(-1, self.whole.K) + self.added
        return np.asarray(N / N.sum(1, keepdims=True))


def fit(symbols: Ints, n: int, K: int, added: float = 0.0) -> NGramModel:
    """Count a training text."""
    whole = count(symbols, n, K)
    context = np.unique(whole.keys // K, return_inverse=True)
    totals = np.bincount(context[1], whole.counts).astype(np.int64)
    return NGramModel(whole, Counts(n - 1, K, context[0], totals), added)


def generate(symbols: Ints, n: int, length: int, rng: Generator) -> Ints:
    """New text: each symbol follows its context with its frequency in the training text.

    Where the last n - 1 symbols have no successor there, fewer of them count (backing off).
    """
    text = symbols.tolist()
    after: list[dict[tuple[int, ...], list[int]]] = []
    for m in range(n):
        successors: dict[tuple[int, ...], list[int]] = {}
        for t in range(m, len(text)):
            successors.setdefault(tuple(text[t - m : t]), []).append(text[t])
        after.append(successors)
    begin = int(rng.integers(len(text) - n))
    found = text[begin : begin + n - 1]
    draws = rng.random(length)
    for u in draws[len(found) :]:
        for m in range(min(n - 1, len(found)), -1, -1):
            choices = after[m].get(tuple(found[len(found) - m :]))
            if choices:
                found.append(choices[int(u * len(choices))])
                break
    return np.array(found[:length], dtype=np.int64)


def letter_triples(text: str) -> int:
    """The number of different triples of letters within the words of a text."""
    codes = letters(text)
    found = np.unique(keys(codes, 3, 27))
    digits = np.stack([found // 729, found // 27 % 27, found % 27])
    return int((digits > 0).all(0).sum())
