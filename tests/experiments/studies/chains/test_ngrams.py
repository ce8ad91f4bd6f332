"""Study `ngrams`: settings and results."""

from collections.abc import Callable

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.chains.ngrams import Ngrams

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("knobs", "words"),
    [
        ({"unit": "words", "coded": 5}, "only letters"),
        ({"generated": 5}, "only words"),
        ({"vocabularies": [10]}, "all are kept"),
    ],
)
def test_what_goes_with_what(knobs: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Ngrams(**knobs)


def test_letters_are_counted_and_coded(run: Run) -> None:
    found = run(Ngrams(orders=[1, 2], train=2000, held=200, blocks=2, coded=40))
    assert found["decoded"].values.all()
    assert found["pair_count"].values.sum() == found["symbol_count"].values.sum() - 1
    assert np.isfinite(found["held_bits"].values).all()


def test_words_outside_a_closed_vocabulary_are_impossible(run: Run) -> None:
    knobs = {"unit": "words", "orders": [1, 2], "vocabularies": [0, 20], "generated": 30}
    found = run(Ngrams(**knobs, train=500, held=100, blocks=1))
    closed = found["impossible"].sel(block=0, vocabulary=0, method="add-one", order=1).item
    assert closed == found["outside"].values[0] > 0
    assert found["impossible"].sel(block=0, vocabulary=20, method="add-one").values.max() == 0
    assert len(str(found["written"].sel(order=2).item).split()) == 30
