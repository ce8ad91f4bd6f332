"""n-gram models of a text: counts, zero counts, smoothing, codes and new text (MLAPP 17.2.2)."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.chains import ngrams
from bythebook.models.datasets import load
from bythebook.models.probability.information import ArithmeticCode, ContextRule, whole_parts
from bythebook.models.types import Bools, Ints

ADDED = {"counts": 0.0, "add-one": 1.0}
TRIES = 1000  # other transition matrices, of the letters or of the most frequent words
FREQUENT = 30
UNITS = ("letters", "words")


@dataclass
class Ngrams(Study):
    """n-gram models of several orders, trained on parts of a text and tested on what follows.

    A vocabulary contains the most frequent words of the training part, and a symbol for all others.
    0 means all words of the training part and no such symbol: any other word is impossible.
    """

    headline = {"held_bits": "min(held_bits)"}
    more_quantities = True
    quantities = {
        "held_bits": quantity(
            "bits per symbol of the text that follows", "block vocabulary method order", unit="bits"
        ),
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
        found = self._models(parts, tokens)
        first, K = self._known(parts[0][: self.train], tokens, FREQUENT)
        table = ngrams.count(first, 2, K).table
        if 0 in self.vocabularies:
            found |= self._by_hand(parts[0], tokens)
        return Outcome(
            **found,
            triples_by_words=len(_triples(text)),
            perturbed_gain=axis("attempt", TRIES).of(ngrams.perturbed_gains(table, TRIES, rng)),
            letter_triples=ngrams.letter_triples(text),
            **(self._letters(codes, parts, text) if self.unit == "letters" else {}),
            **(self._written(parts[0], tokens, rng) if self.generated else {}),
        )

    def _known(self, part: Ints, tokens: list[str], size: int) -> tuple[Ints, int]:
        """A training part as indices into its vocabulary, and the size of that vocabulary."""
        if self.unit == "letters":
            return part, len(ngrams.LETTERS)
        own = [tokens[k] for k in part]
        known = ngrams.vocabulary(own, size)
        return ngrams.coded(own, known), len(known) + (size > 0)

    def _models(self, parts: list[Ints], tokens: list[str]) -> dict[str, Quantity]:
        block, order = axis("block", self.blocks), axis("order", sorted(self.orders))
        vocabulary, method = axis("vocabulary", self.vocabularies), axis("method", self.methods)
        shape = (len(block), len(vocabulary), len(method), len(order))
        train_bits, held_bits, impossible = np.empty((3, *shape))
        unseen, outside = np.empty((*shape[:2], shape[3])), np.empty(len(block))
        for b, part in enumerate(parts):
            own, rest = part[: self.train], part[self.train : self.train + self.held]
            for v, size in enumerate(self.vocabularies):
                seen, K = self._known(own, tokens, size)
                new = self._new(own, rest, tokens, size)
                outside[b] = (new >= K).mean() if size == 0 else outside[b]
                for o, n in enumerate(order.values):
                    for m, name in enumerate(self.methods):
                        model = ngrams.fit(seen, int(n), K, ADDED[name])
                        p = model.probabilities(np.minimum(new, K - 1))
                        p[_touches(new >= K, int(n))] = 0.0
                        train_bits[b, v, m, o] = model.bits(seen)
                        with np.errstate(divide="ignore"):
                            held_bits[b, v, m, o] = -np.log2(p).mean()
                        impossible[b, v, m, o] = (p == 0).mean()
                    unseen[b, v, o] = 1 - model.whole.distinct / float(K) ** int(n)
        names = {"train_bits": train_bits, "held_bits": held_bits, "impossible": impossible}
        axes = (block, vocabulary, method, order)
        kept = {"outside": block.of(outside)} if 0 in self.vocabularies else {}
        return {
            **{name: over(values, *axes) for name, values in names.items()},
            "unseen_share": over(unseen, block, vocabulary, order),
            **kept,
        }

    def _by_hand(self, part: Ints, tokens: list[str]) -> dict[str, Quantity]:
        """Bits of the first training part, and n-grams that it lacks, from dictionaries."""
        symbols, K = self._known(part[: self.train], tokens, 0)
        own = symbols.tolist()
        order, method = axis("order", sorted(self.orders)), axis("method", self.methods)
        bits, unseen = np.empty((len(method), len(order))), np.empty(len(order))
        for o, n in enumerate(order.values):
            grams = Counter(zip(*(own[k:] for k in range(n)), strict=False))
            before: Counter[tuple[int, ...]] = Counter()
            for gram, count in grams.items():
                before[gram[:-1]] += count
            unseen[o] = 1 - len(grams) / float(K) ** int(n)
            for m, name in enumerate(self.methods):
                more = ADDED[name]
                bits[m, o] = (
                    -sum(  # (17.10) with (17.12)
                        count * np.log2((count + more) / (before[gram[:-1]] + more * K))
                        for gram, count in grams.items()
                    )
                    / sum(grams.values())
                )
        rest = part[self.train : self.train + self.held]
        known = set(own) if self.unit == "letters" else {tokens[k] for k in part[: self.train]}
        new = [k if self.unit == "letters" else tokens[k] for k in rest.tolist()]
        return {
            "bits_by_hand": over(bits, method, order),
            "unseen_by_hand": order.of(unseen),
            "outside_by_hand": Quantity(np.mean([symbol not in known for symbol in new])),
        }

    def _new(self, own: Ints, rest: Ints, tokens: list[str], size: int) -> Ints:
        """A held-out part in the vocabulary of the training part, with one index for all others."""
        if self.unit == "letters":
            return rest
        known = ngrams.vocabulary([tokens[k] for k in own], size)
        return ngrams.coded([tokens[k] for k in rest], known)

    def _letters(self, codes: Ints, parts: list[Ints], text: str) -> dict[str, Quantity]:
        """Counts of the whole text, and an arithmetic code of a part of each block."""
        symbol, following = axis("symbol", [*ngrams.LETTERS]), axis("next", [*ngrams.LETTERS])
        plain = text.lower()
        blanks = len(re.findall("[^a-z]+", plain))
        found = {
            "count_by_hand": symbol.of([blanks, *(plain.count(c) for c in ngrams.LETTERS[1:])]),
            "symbol_count": symbol.of(np.bincount(codes, minlength=27)),
            "pair_count": over(ngrams.count(codes, 2, 27).table.astype(int), symbol, following),
        }
        if not self.coded:
            return found
        block, order = axis("block", self.blocks), axis("order", sorted(self.orders))
        coded, ideal = np.empty((2, len(block), len(order)))
        decoded = np.zeros((len(block), len(order)), dtype=bool)
        for b, part in enumerate(parts):
            sent = part[self.train + self.held :]
            before = part[: self.train + self.held]
            for o, n in enumerate(order.values):
                table = ngrams.fit(part[: self.train], int(n), 27, 1.0).table
                last = before[len(before) - int(n) + 1 :]
                contexts = ngrams.keys(np.concatenate([last, sent]), int(n), 27) // 27
                code = ArithmeticCode(whole_parts(table))
                word, bits = code.encode(contexts.tolist(), sent.tolist())
                rule = ContextRule(last.tolist(), int(n), 27)
                coded[b, o] = bits / self.coded
                ideal[b, o] = -np.log2(table[contexts, sent]).mean()
                decoded[b, o] = code.decode(word, bits, len(sent), rule) == sent.tolist()
        return {
            **found,
            "coded_bits": over(coded, block, order),
            "ideal_bits": over(ideal, block, order),
            "decoded": over(decoded, block, order),
        }

    def _written(self, part: Ints, tokens: list[str], rng: Generator) -> dict[str, Quantity]:
        """Words generated by models of each order, and the share found in the training part."""
        own = [tokens[k] for k in part[: self.train]]
        known = ngrams.vocabulary(own)
        symbols, K = ngrams.coded(own, known), len(known)
        order, length = axis("order", sorted(self.orders)), axis("length", [1, 2, 3, 4])
        share, shown = np.empty((len(order), len(length))), []
        for o, n in enumerate(order.values):
            text = ngrams.generate(symbols, int(n), self.generated, rng)
            shown.append(" ".join(known[k] for k in text[:30]))
            for k, m in enumerate(length.values):
                seen = ngrams.count(symbols, int(m), K)
                share[o, k] = (seen.of(ngrams.keys(text, int(m), K)) > 0).mean()
        return {"known_share": over(share, order, length), "written": order.of(shown)}


def _triples(text: str) -> set[str]:
    """The triples of letters within the words of a text."""
    words = re.findall("[a-z]{3,}", text.lower())
    return {word[k : k + 3] for word in words for k in range(len(word) - 2)}


def _touches(strange: Bools, n: int) -> Bools:
    """Mask of the n-grams, by their last symbol, with a symbol outside the vocabulary."""
    return np.convolve(strange, np.ones(n), "valid") > 0
