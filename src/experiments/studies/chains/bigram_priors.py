"""Pairs of symbols: deleted interpolation and a prior that all rows share (MLAPP 17.2.2.2)."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.chains import bigram_priors as priors
from bythebook.models.chains import ngrams
from bythebook.models.datasets import load
from bythebook.models.types import Floats, Ints

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
    more_quantities = True
    quantities = {
        "prior_mean": quantity(
            "predicted probability of a symbol after a new context", "mean_of symbol"
        ),
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
        return Outcome(**(self._passage() if self.text else self._parts()))

    def _passage(self) -> dict[str, Quantity]:
        if self.unit == "words":
            tokens = ngrams.words(" ".join(self.text))
            names = ngrams.vocabulary(tokens)
            symbols = ngrams.coded(tokens, names)
        else:
            symbols, names = ngrams.letters(" ".join(self.text)), [*ngrams.LETTERS]
        N = ngrams.count(symbols, 2, len(names)).table
        means = _means(N)
        chosen = self.watched or names[:10]
        place = [names.index(name) for name in chosen]
        symbol, mean, weight = (
            axis("symbol", chosen),
            axis("mean_of", MEANS),
            axis("weight", WEIGHTS),
        )
        new = np.vstack([N, np.zeros(len(names))])  # one more row: a context never seen
        plain = [priors.interpolated(new, w)[-1, place] for w in WEIGHTS]
        strengths = {name: priors.fit_strength(N, m) for name, m in means.items()}
        bayes = [
            priors.predictive(np.pad(N, ((0, 1), (0, 0))), strengths[k] * m)[-1, place]
            for k, m in means.items()
        ]
        return {
            "occurrences": symbol.of(np.bincount(symbols, minlength=len(names))[place]),
            "contexts": symbol.of(priors.contexts(N)[place].astype(int)),
            "prior_strength": mean.of(list(strengths.values())),
            "prior_mean": over(bayes, mean, symbol),
            "novel_interpolated": over(plain, weight, symbol),
        }

    def _parts(self) -> dict[str, Quantity]:
        text = load(self.data or "").text
        tokens = ngrams.words(text) if self.unit == "words" else []
        codes = ngrams.letters(text) if self.unit == "letters" else np.arange(len(tokens))
        size = self.train + self.held
        starts = np.linspace(0, max(len(codes) - size, 0), self.blocks).astype(int)
        parts = [self._named(codes[start : start + size], tokens) for start in starts]
        rows = [self._part(part, len(names)) for part, names in parts]
        block, mean = axis("block", self.blocks), axis("mean_of", MEANS)
        method = axis("method", METHODS)
        axes = {
            "evidence": (mean, block),
            "mean_likeness": (axis("approximation", MEANS[1:]), block),
            "held_bits": (method, block),
            "distance": (axis("prediction", ["counts", "interpolated"]), block),
        }
        found: dict[str, Quantity] = {
            name: over(np.stack([np.asarray(row[name]) for row in rows], -1), *along)
            for name, along in axes.items()
        }
        names = "predictive_gap", "evidence_gap", "distinct_weights", "chosen_weight"
        for name in (*names, "even_bits_by_hand", "best_shaken_gain"):
            found[name] = block.of([row[name] for row in rows])
        found["weight_bits"] = over(
            np.stack([np.asarray(row["weight_bits"]) for row in rows]),
            *(block, axis("weight", WEIGHTS)),
        )
        last = rows[-1]
        context = axis("context", parts[-1][1][:CONTEXTS])
        found["context_weight"] = context.of(last["context_weight"])
        found["context_count"] = context.of(last["context_count"])
        return found

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
        odd = np.arange(K) % 2
        shaken = [
            priors.log_evidence(N[:, a > 0], (a * s)[a > 0]) - right
            for a, right in zip(alphas.values(), evidence, strict=True)
            for s in (np.full(K, 0.9), np.full(K, 1.1))
        ]
        shaken += [
            priors.log_evidence(N[:, fitted > 0], (fitted * s)[fitted > 0]) - evidence[0]
            for s in (1 + 0.2 * odd, 1 - 0.2 * odd, 1.1 - 0.2 * odd)
        ]
        sequential = priors.sequential_log_evidence(own, alpha)
        total = N.sum(1)
        return {
            "predictive_gap": _evidence_gap(bayes, N, alpha),
            "evidence_gap": abs(priors.log_evidence(N, alpha) / sequential - 1),
            "evidence": np.array(evidence),
            "mean_likeness": np.array(
                [np.corrcoef(means["fitted"], means[name])[0, 1] for name in MEANS[1:]]
            ),
            "distinct_weights": len(np.unique(total)),
            "chosen_weight": weight,
            "held_bits": np.array([priors.pair_bits(predictions[k], pairs) for k in METHODS]),
            "distance": np.array(apart),
            "even_bits_by_hand": _even_bits(own, pairs),
            "best_shaken_gain": max(shaken),
            "weight_bits": priors.interpolated_bits(N, pairs, WEIGHTS),
            "context_weight": alpha.sum() / (total[:CONTEXTS] + alpha.sum()),
            "context_count": total[:CONTEXTS].astype(int),
        }


METHODS = ("counts", "add-one", "interpolated", "fitted")


def _means(N: Floats) -> dict[str, Floats]:
    """Prior means m: of highest evidence, by contexts (17.18), by frequency."""
    rows = {
        "fitted": priors.fit_alpha(N),
        "contexts": priors.contexts(N),
        "frequencies": N.sum(0),
    }
    return {name: row / row.sum() for name, row in rows.items()}


def _even_bits(own: Ints, pairs: Ints) -> float:
    """Bits per pair by (17.13) with a weight of one half, from dictionaries of counts."""
    text = own.tolist()
    both, first, second = (
        Counter(pairwise(text)),
        Counter(text[:-1]),
        Counter(text[1:]),
    )
    p = [
        0.5 * both[j, k] / max(first[j], 1) + 0.5 * second[k] / (len(text) - 1)
        for j, k in pairs.T.tolist()
    ]
    return float(-np.mean(np.log2(p)))


def _evidence_gap(A: Floats, N: Floats, alpha: Floats) -> float:
    """Predictions against the evidence with one more pair over that without it; rows are factors.

    The pairs are all pairs of letters, or of the most frequent words.
    """
    gap = 0.0
    for j, k in np.ndindex(N[:CONTEXTS, :CONTEXTS].shape):
        more = N[j] + (np.arange(len(alpha)) == k)
        gain = priors.log_evidence(more[None], alpha) - priors.log_evidence(N[j : j + 1], alpha)
        gap = max(gap, abs(A[j, k] - np.exp(gain)))
    return gap
