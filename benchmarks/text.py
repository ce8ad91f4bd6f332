"""Bigram models of words with add-one smoothing: counts and perplexity, compared with nltk.

Both start from the words of the texts. nltk is timed on a tenth of the text; its time is scaled.
"""

from typing import Any

import numpy as np

from benchmarks import page
from benchmarks.case import Case, Contest
from bythebook.models.chains import ngrams

WORDS = 50_000  # of the vocabulary, with Zipf's frequencies
LENGTH = 5.5  # approximate letters per word, with the blank


def _words(size: int, seed: int) -> list[str]:
    """A text of random words; words of low rank are frequent."""
    rng = np.random.default_rng(0)
    letters = np.array(list("etaoinshrdlcumwfgypbvk"))
    lengths = rng.integers(2, 9, WORDS)
    known = ["".join(rng.choice(letters, n)) + str(k % 10) for k, n in enumerate(lengths)]
    rng = np.random.default_rng(seed)
    weight = 1 / (np.arange(WORDS) + 2.7)
    drawn = rng.choice(WORDS, int(size / LENGTH), p=weight / weight.sum())
    return [known[k] for k in drawn]


def bigrams(size: int) -> Contest:
    """Train on 90 % of the bytes and predict 10 %."""
    train, held = _words(9 * size // 10, 1), _words(size // 10, 2)

    def ours() -> dict[str, Any]:
        known = ngrams.vocabulary(train)
        K = len(known) + 1
        model = ngrams.fit(ngrams.coded(train, known), 2, K, 1.0)
        bits = model.bits(ngrams.coded(held, known))
        return {"perplexity": 2**bits, "distinct": model.whole.distinct}

    def peer() -> dict[str, Any]:
        from nltk.lm import Laplace
        from nltk.util import bigrams as pairs

        model = Laplace(2)
        model.fit([pairs(train)], train)
        distinct = sum(len(after) for after in model.counts[2].values())
        return {"perplexity": model.perplexity(list(pairs(held))), "distinct": distinct}

    return Contest(ours, peer)


CASES = [
    Case(
        "bigrams counted, perplexity of a tenth",
        "nltk",
        20,
        bigrams,
        size=10_000_000,
        unit="bytes of text",
        package="nltk",
        sizes=(1_250_000, 2_500_000, 5_000_000, 10_000_000),
        peer_size=2_000_000,
        rounds=3,
    ),
]


if __name__ == "__main__":
    results = [case.run() for case in CASES]
    print(page.comparison(results), page.growth(results), sep="\n\n")
