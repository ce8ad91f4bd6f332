"""n-gram models of a text: counts, zero counts, smoothing, codes and new text (MLAPP 17.2.2)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.chains import ngrams
from bythebook.models.datasets import load
from bythebook.models.probability.information import ArithmeticCode, ContextRule, whole_parts
from bythebook.models.types import Bools, Ints

ADDED = {"counts": 0.0, "add-one": 1.0}
UNITS = ("letters", "words")
LENGTHS = [1, 2, 3, 4]  # of n-grams that are looked for in generated text
MODEL, CODE = "block vocabulary method order", "block order"


@dataclass
class Ngrams(Study):
    """n-gram models of several orders, trained on parts of a text and tested on what follows.

    A vocabulary contains the most frequent words of the training part, and a symbol for all others.
    0 means all words of the training part and no such symbol: any other word is impossible.
    """

    headline = {"held_bits": "min(held_bits)"}
    quantities = {
        "train_bits": quantity("bits per symbol of the training part", MODEL, unit="bits"),
        "held_bits": quantity("bits per symbol of the text that follows", MODEL, unit="bits"),
        "impossible": quantity("share of held-out symbols of probability zero", MODEL),
        "unseen_share": quantity(
            "share of all n-grams that the training part does not have", "block vocabulary order"
        ),
        "outside": quantity("share of held-out words that the training part lacks", "block"),
        "letter_triples": quantity("different triples of letters within words"),
        "symbol_count": quantity("occurrences of a letter in the text", "symbol"),
        "pair_count": quantity("occurrences of a pair of letters in the text", "symbol next"),
        "coded_bits": quantity("length of an arithmetic code per letter", CODE, unit="bits"),
        "ideal_bits": quantity("minus the log probability per letter", CODE, unit="bits"),
        "decoded": quantity("whether the letters are read back from the code", CODE),
        "known_share": quantity(
            "share of the generated n-grams that the training part has", "order length"
        ),
        "written": quantity("generated words", "order"),
    }
    axes = {
        "block": axis_of("part of the text"),
        "vocabulary": axis_of("vocabulary size (0 for all words)"),
        "method": axis_of("smoothing"),
        "order": axis_of("order n of the model"),
        "symbol": axis_of("letter"),
        "next": axis_of("next letter"),
        "length": axis_of("symbols of an n-gram"),
    }

    data: str = knob("mlapp-darwin", "the text", dataset="text")
    unit: str = knob("letters", "what an n-gram is made of", choices=UNITS)
    orders: list[int] = knob([1, 2, 3], "n of the n-grams", at_least=1, at_most=5, distinct=True)
    vocabularies: list[int] = knob([0], "words kept; 0: all", at_least=0, distinct=True)
    methods: list[str] = knob(["add-one"], "of smoothing", choices=list(ADDED), distinct=True)
    train: int = knob(40_000, "symbols of a training part", at_least=10)
    held: int = knob(4000, "symbols after it, held out", at_least=10)
    blocks: int = knob(4, "such parts, spread over the text", at_least=1, at_most=100)
    coded: int = knob(0, "letters that are coded and read back; 0: none", at_least=0, at_most=5000)
    generated: int = knob(0, "words that each order writes; 0: none", at_least=0, at_most=100_000)

    def problems(self) -> Iterator[str]:
        if self.coded and self.unit != "letters":
            yield f"study.coded={self.coded}: only letters are coded"
        if self.generated and self.unit != "words":
            yield f"study.generated={self.generated}: only words are written"
        if self.unit == "letters" and self.vocabularies != [0]:
            yield "study.vocabularies: of letters all are kept; allowed: [0]"

    def run(self, rng: Generator) -> Outcome:
        text = load(self.data).text
        tokens = [*ngrams.LETTERS] if self.unit == "letters" else ngrams.words(text)
        codes = ngrams.letters(text) if self.unit == "letters" else np.arange(len(tokens))
        size = self.train + self.held + self.coded
        starts = np.linspace(0, max(len(codes) - size, 0), self.blocks).astype(int)
        parts = [codes[start : start + size] for start in starts]
        coords: dict[str, Any] = {
            "block": self.blocks,
            "vocabulary": self.vocabularies,
            "method": self.methods,
            "order": sorted(self.orders),
        }
        found = self._models(parts, tokens) | {"letter_triples": ngrams.letter_triples(text)}
        if self.unit == "letters":
            coords |= {"symbol": [*ngrams.LETTERS], "next": [*ngrams.LETTERS]}
            found["symbol_count"] = "symbol", np.bincount(codes, minlength=27)
            found["pair_count"] = "symbol next", ngrams.count(codes, 2, 27).table.astype(int)
        if self.coded:
            found |= self._code(parts)
        if self.generated:
            coords["length"] = LENGTHS
            found |= self._written(parts[0], tokens, rng)
        return outcome(coords, **found)

    def _known(self, part: Ints, tokens: list[str], size: int) -> tuple[Ints, int]:
        """A training part as indices into its vocabulary, and the size of that vocabulary."""
        if self.unit == "letters":
            return part, len(ngrams.LETTERS)
        own = [tokens[k] for k in part]
        known = ngrams.vocabulary(own, size)
        return ngrams.coded(own, known), len(known) + (size > 0)

    def _models(self, parts: list[Ints], tokens: list[str]) -> dict[str, Any]:
        """Bits of the training and held-out parts, and n-grams that were not seen."""
        orders = sorted(self.orders)
        shape = (self.blocks, len(self.vocabularies), len(self.methods), len(orders))
        train_bits, held_bits, impossible = np.empty((3, *shape))
        unseen, outside = np.empty((*shape[:2], shape[3])), np.empty(self.blocks)
        for b, part in enumerate(parts):
            own, rest = part[: self.train], part[self.train : self.train + self.held]
            for v, size in enumerate(self.vocabularies):
                seen, K = self._known(own, tokens, size)
                new = self._new(own, rest, tokens, size)
                outside[b] = (new >= K).mean() if size == 0 else outside[b]
                for o, n in enumerate(orders):
                    for m, name in enumerate(self.methods):
                        model = ngrams.fit(seen, n, K, ADDED[name])
                        p = model.probabilities(np.minimum(new, K - 1))
                        p[_touches(new >= K, n)] = 0.0
                        train_bits[b, v, m, o] = model.bits(seen)
                        with np.errstate(divide="ignore"):
                            held_bits[b, v, m, o] = -np.log2(p).mean()
                        impossible[b, v, m, o] = (p == 0).mean()
                    unseen[b, v, o] = 1 - model.whole.distinct / float(K) ** n
        return {
            "train_bits": (MODEL, train_bits),
            "held_bits": (MODEL, held_bits),
            "impossible": (MODEL, impossible),
            "unseen_share": ("block vocabulary order", unseen),
            **({"outside": ("block", outside)} if 0 in self.vocabularies else {}),
        }

    def _new(self, own: Ints, rest: Ints, tokens: list[str], size: int) -> Ints:
        """A held-out part in the vocabulary of the training part, with one index for all others."""
        if self.unit == "letters":
            return rest
        known = ngrams.vocabulary([tokens[k] for k in own], size)
        return ngrams.coded([tokens[k] for k in rest], known)

    def _code(self, parts: list[Ints]) -> dict[str, Any]:
        """An arithmetic code of the end of each part, by models of its beginning."""
        orders = sorted(self.orders)
        coded, ideal = np.empty((2, self.blocks, len(orders)))
        decoded = np.zeros((self.blocks, len(orders)), dtype=bool)
        for b, part in enumerate(parts):
            sent = part[self.train + self.held :]
            before = part[: self.train + self.held]
            for o, n in enumerate(orders):
                table = ngrams.fit(part[: self.train], n, 27, 1.0).table
                last = before[len(before) - n + 1 :]
                contexts = ngrams.keys(np.concatenate([last, sent]), n, 27) // 27
                code = ArithmeticCode(whole_parts(table))
                word, bits = code.encode(contexts.tolist(), sent.tolist())
                rule = ContextRule(last.tolist(), n, 27)
                coded[b, o] = bits / self.coded
                ideal[b, o] = -np.log2(table[contexts, sent]).mean()
                decoded[b, o] = code.decode(word, bits, len(sent), rule) == sent.tolist()
        return {
            "coded_bits": (CODE, coded),
            "ideal_bits": (CODE, ideal),
            "decoded": (CODE, decoded),
        }

    def _written(self, part: Ints, tokens: list[str], rng: Generator) -> dict[str, Any]:
        """Words generated by models of each order, and the share found in the training part."""
        own = [tokens[k] for k in part[: self.train]]
        known = ngrams.vocabulary(own)
        symbols, K = ngrams.coded(own, known), len(known)
        share, shown = np.empty((len(self.orders), len(LENGTHS))), []
        for o, n in enumerate(sorted(self.orders)):
            text = ngrams.generate(symbols, n, self.generated, rng)
            shown.append(" ".join(known[k] for k in text[:30]))
            for k, m in enumerate(LENGTHS):
                seen = ngrams.count(symbols, m, K)
                share[o, k] = (seen.of(ngrams.keys(text, m, K)) > 0).mean()
        return {"known_share": ("order length", share), "written": ("order", shown)}


def _touches(strange: Bools, n: int) -> Bools:
    """Mask of the n-grams, by their last symbol, with a symbol outside the vocabulary."""
    return np.convolve(strange, np.ones(n), "valid") > 0
