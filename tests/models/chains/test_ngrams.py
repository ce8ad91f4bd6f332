"""Counts by a dictionary, and probabilities by hand."""

from collections import Counter

import numpy as np
import pytest

from bythebook.models.chains import ngrams


def test_letters_and_words_of_a_text() -> None:
    codes = ngrams.letters("To be, or--NOT!\n")
    assert "".join(ngrams.LETTERS[k] for k in codes) == "to_be_or_not_"
    assert ngrams.words("Don't stop: 2 Words") == ["don't", "stop", "2", "words"]
    tokens = ["b", "a", "b", "c"]
    assert ngrams.vocabulary(tokens, 2) == ["b", "a"]
    assert ngrams.coded(tokens, ["b", "a"]).tolist() == [0, 1, 0, 2]


@pytest.mark.parametrize(("K", "n"), [(3, 1), (3, 3), (5000, 2)])
def test_counts_are_those_of_a_dictionary(K: int, n: int) -> None:
    symbols = np.random.default_rng(0).integers(3, size=200) * (K // 3)
    counted = Counter(tuple(symbols[t : t + n].tolist()) for t in range(200 - n + 1))
    found = ngrams.count(symbols, n, K)
    assert found.distinct == len(counted)
    wanted = np.array([sum(s * K**k for k, s in enumerate(reversed(g))) for g in counted])
    assert found.of(wanted).tolist() == list(counted.values())
    if K > 3:
        assert found.of(np.array([K**n - 1])).tolist() == [0]


def test_too_many_n_grams_are_refused() -> None:
    with pytest.raises(ValueError, match="62 bits"):
        ngrams.count(np.zeros(5, dtype=np.int64), 5, 50_000)


def test_probabilities_of_a_small_text() -> None:
    text = np.array([0, 1, 0, 1, 0, 2])
    plain = ngrams.fit(text, 2, 3)
    assert plain.probabilities(np.array([0, 1, 0, 2, 0])) == pytest.approx([2 / 3, 1, 1 / 3, 0])
    assert plain.bits(np.array([0, 0])) == np.inf
    smooth = ngrams.fit(text, 2, 3, 1.0)
    assert smooth.probabilities(np.array([0, 1, 2, 0])) == pytest.approx([3 / 6, 1 / 5, 1 / 3])
    assert np.allclose(smooth.table.sum(1), 1)
    assert smooth.table[0] == pytest.approx([1 / 6, 3 / 6, 2 / 6])
    single = ngrams.fit(text, 1, 3)
    assert single.bits(text) == pytest.approx(
        -(np.log2(1 / 2) * 3 + np.log2(1 / 3) * 2 + np.log2(1 / 6)) / 6
    )


def test_generated_text_follows_what_was_seen() -> None:
    text = np.array([0, 1, 2, 0, 1, 2, 0, 1, 2, 0])
    found = ngrams.generate(text, 3, 12, np.random.default_rng(0))
    assert ((np.diff(found) % 3) == 1).all()
    single = ngrams.generate(text, 1, 300, np.random.default_rng(0))
    assert (single == 0).mean() == pytest.approx(0.4, abs=0.1)


def test_it_backs_off_where_a_context_has_no_successor() -> None:
    found = ngrams.generate(np.array([0, 1, 2]), 2, 30, np.random.default_rng(1))
    assert len(found) == 30


def test_triples_within_words() -> None:
    assert ngrams.letter_triples("abcd bcd, x yz") == 2
