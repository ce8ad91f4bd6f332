"""Study `bigram_priors`: settings and results."""

from collections.abc import Callable

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.chains.bigram_priors import BigramPriors
from bythebook.models.chains import ngrams
from bythebook.models.datasets import load

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("knobs", "words"),
    [
        ({"data": None}, "one of the two"),
        ({"unit": "words", "train": 6000}, "at most 5000"),
        ({"data": None, "text": ["a b a"], "unit": "words", "watched": ["c"]}, "'c' is not"),
    ],
)
def test_what_is_refused(knobs: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        BigramPriors(**knobs)


def test_a_passage_counts_contexts(run: Run) -> None:
    text = "x b y b x b z b a b a b"
    found = run(BigramPriors(data=None, text=[text], unit="words", watched=["a", "b"]))
    assert found["occurrences"].values.tolist() == [2, 6]
    assert found["contexts"].values.tolist() == [1, 4]
    assert found["novel_interpolated"].sel(weight=1.0).values.tolist() == [2 / 11, 6 / 11]


def test_parts_of_a_text(run: Run) -> None:
    found = run(BigramPriors(train=300, held=500, blocks=2))
    bits, held = found["weight_bits"].values, found["held_bits"].sel(method="interpolated").values
    assert bits.shape == (2, 21)
    assert all(np.isclose(row, b).any() for row, b in zip(bits, held, strict=True))  # at a weight


def test_words_of_a_text(run: Run) -> None:
    found = run(BigramPriors(unit="words", train=200, held=200, blocks=2))
    own = ngrams.words(load("mlapp-darwin").text)[-400:-200]
    word = found["context_count"].coord("context")[0]
    assert found["context_count"].values[0] == own[:-1].count(word)
    assert own.count(word) == max(own.count(other) for other in own)
