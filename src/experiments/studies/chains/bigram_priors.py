"""Pairs of symbols: deleted interpolation and a prior that all rows share (MLAPP 17.2.2.2)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.chains import bigram_priors as priors
from bythebook.models.chains import ngrams
from bythebook.models.datasets import load
from bythebook.models.types import Floats, Ints

METHODS = ("counts", "add-one", "interpolated", "fitted")
MEANS = ("fitted", "contexts", "frequencies")
WEIGHTS = np.linspace(0, 1, 21)
CONTEXTS = 27  # all letters, or the most frequent words
MOST_WORDS = 5000


@dataclass
class BigramPriors(Study):
    """Predictions of the next symbol from the previous one, on parts of a text or a passage.

    Held-out symbols that do not occur in the training part are left out.
    """

    headline = {"prior_mean": "max(prior_mean)"}
    quantities = {
        "prior_mean": quantity(
            "predicted probability of a symbol after a new context", "mean_of symbol"
        ),
        "occurrences": quantity("occurrences of a word in the passage", "symbol"),
        "contexts": quantity("different words that precede a word", "symbol"),
        "novel_interpolated": quantity(
            "probability after a new context by deleted interpolation", "weight symbol"
        ),
        "evidence": quantity("log marginal likelihood", "mean_of block", unit="nats"),
        "mean_likeness": quantity(
            "correlation of an approximation with the fitted prior mean", "approximation block"
        ),
        "distance": quantity(
            "mean distance to the Bayesian predictions of held-out pairs", "prediction block"
        ),
        "held_bits": quantity("bits per held-out symbol", "method block", unit="bits"),
        "weight_bits": quantity(
            "bits per held-out symbol by deleted interpolation", "block weight", unit="bits"
        ),
        "context_weight": quantity("weight of the prior mean after a context", "context"),
        "context_count": quantity("times that a context occurs", "context"),
    }
    axes = {
        "mean_of": axis_of("prior mean"),
        "symbol": axis_of("word"),
        "weight": axis_of("weight of single symbols"),
        "block": axis_of("part of the text"),
        "approximation": axis_of("approximation of the prior mean"),
        "prediction": axis_of("prediction"),
        "method": axis_of("smoothing"),
        "context": axis_of("context"),
    }

    data: str | None = knob("mlapp-darwin", "the text", dataset="text")
    text: list[str] = knob(
        [], "or the lines of a passage: then nothing is held out", may_be_empty=True
    )
    unit: str = knob("letters", "symbols", choices=("letters", "words"))
    train: int = knob(1500, "symbols of a training part", at_least=10)
    held: int = knob(10_000, "symbols after it, held out", at_least=10)
    blocks: int = knob(8, "such parts, spread over the text", at_least=1, at_most=100)
    watched: list[str] = knob([], "words of a passage to report", may_be_empty=True, distinct=True)

    def problems(self) -> Iterator[str]:
        if (self.data is None) == (not self.text):
            yield "study.data and study.text: one of the two is needed, and only one"
        if self.data is not None and self.unit == "words" and self.train > MOST_WORDS:
            yield f"study.train={self.train}: of words at most {MOST_WORDS}; all pairs have a place"
        missing = [w for w in self.watched if w not in ngrams.words(" ".join(self.text))]
        if self.text and missing:
            yield f"study.watched: '{missing[0]}' is not in study.text"

    def run(self, rng: Generator) -> Outcome:
        return self._passage() if self.text else self._parts()

    def _passage(self) -> Outcome:
        """Counts, contexts and prior means of some words of the passage."""
        if self.unit == "words":
            tokens = ngrams.words(" ".join(self.text))
            names = ngrams.vocabulary(tokens)
            symbols = ngrams.coded(tokens, names)
        else:
            symbols, names = ngrams.letters(" ".join(self.text)), [*ngrams.LETTERS]
        N = ngrams.count(symbols, 2, len(names)).table
        chosen = self.watched or names[:10]
        place = [names.index(name) for name in chosen]
        new = np.vstack([N, np.zeros(len(names))])  # one more row: a context never seen
        bayes = [
            priors.predictive(np.pad(N, ((0, 1), (0, 0))), priors.fit_strength(N, m) * m)[-1, place]
            for m in _means(N).values()
        ]
        return outcome(
            {"symbol": chosen, "mean_of": MEANS, "weight": WEIGHTS},
            occurrences=("symbol", np.bincount(symbols, minlength=len(names))[place]),
            contexts=("symbol", priors.contexts(N)[place].astype(int)),
            prior_mean=("mean_of symbol", bayes),
            novel_interpolated=(
                "weight symbol",
                [priors.interpolated(new, w)[-1, place] for w in WEIGHTS],
            ),
        )

    def _parts(self) -> Outcome:
        """Evidence, predictions and held-out bits of each part of the text."""
        text = load(self.data or "").text
        tokens = ngrams.words(text) if self.unit == "words" else []
        codes = ngrams.letters(text) if self.unit == "letters" else np.arange(len(tokens))
        size = self.train + self.held
        starts = np.linspace(0, max(len(codes) - size, 0), self.blocks).astype(int)
        parts = [self._named(codes[start : start + size], tokens) for start in starts]
        rows = [self._part(part, len(names)) for part, names in parts]

        def stacked(name: str, at: int = -1) -> Floats:
            return np.stack([np.asarray(row[name]) for row in rows], at)

        return outcome(
            {
                "block": self.blocks,
                "mean_of": MEANS,
                "approximation": MEANS[1:],
                "prediction": ["counts", "interpolated"],
                "method": METHODS,
                "weight": WEIGHTS,
                "context": parts[-1][1][:CONTEXTS],
            },
            evidence=("mean_of block", stacked("evidence")),
            mean_likeness=("approximation block", stacked("mean_likeness")),
            distance=("prediction block", stacked("distance")),
            held_bits=("method block", stacked("held_bits")),
            weight_bits=("block weight", stacked("weight_bits", 0)),
            context_weight=("context", rows[-1]["context_weight"]),
            context_count=("context", rows[-1]["context_count"]),
        )

    def _named(self, part: Ints, tokens: list[str]) -> tuple[Ints, list[str]]:
        """A part as indices, and its vocabulary: letters, or the words of its training part."""
        if self.unit == "letters":
            return part, [*ngrams.LETTERS]
        own = [tokens[k] for k in part]
        known = ngrams.vocabulary(own[: self.train])
        return ngrams.coded(own, known), known

    def _part(self, part: Ints, K: int) -> dict[str, Floats | float | int]:
        """All quantities of one part of the text, which has K symbols."""
        own, rest = part[: self.train], part[self.train - 1 :]
        N = ngrams.count(own, 2, K).table
        means = _means(N)
        fitted = priors.fit_alpha(N)
        alphas = {
            name: fitted if name == "fitted" else priors.fit_strength(N, m) * m
            for name, m in means.items()
        }
        evidence = [priors.log_evidence(N[:, a > 0], a[a > 0]) for a in alphas.values()]
        alpha = np.maximum(fitted, 1e-6)  # absent letters keep some mass
        bayes = priors.predictive(N, alpha)
        weight = priors.cross_validated_weight(own, K, WEIGHTS)
        predictions = {
            "counts": priors.interpolated(N, 0.0),
            "add-one": (N + 1) / (N.sum(1, keepdims=True) + K),
            "interpolated": priors.interpolated(N, weight),
            "fitted": bayes,
        }
        pairs = priors.pairs_within(rest, N)
        at = pairs[0], pairs[1]
        apart = [
            np.abs(predictions[name][at] - bayes[at]).mean() for name in ("counts", "interpolated")
        ]
        total = N.sum(1)
        return {
            "evidence": np.array(evidence),
            "mean_likeness": np.array(
                [np.corrcoef(means["fitted"], means[name])[0, 1] for name in MEANS[1:]]
            ),
            "held_bits": np.array([priors.pair_bits(predictions[k], pairs) for k in METHODS]),
            "distance": np.array(apart),
            "weight_bits": priors.interpolated_bits(N, pairs, WEIGHTS),
            "context_weight": alpha.sum() / (total[:CONTEXTS] + alpha.sum()),
            "context_count": total[:CONTEXTS].astype(int),
        }


def _means(N: Floats) -> dict[str, Floats]:
    """Prior means m: of highest evidence, by contexts (17.18), by frequency."""
    rows = {
        "fitted": priors.fit_alpha(N),
        "contexts": priors.contexts(N),
        "frequencies": N.sum(0),
    }
    return {name: row / row.sum() for name, row in rows.items()}
