"""Lengths of codes, entropies, and models that are learnt from symbols (Ghahramani 1.2)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.probability import information as info
from bythebook.models.types import Floats

SMOOTHED = 0.5  # added to the counts of a model that is learnt


@dataclass
class Information(Study):
    """Codes for random distributions, and for models that are learnt from them (Ghahramani 1.2).

    A model is learnt from some symbols by their counts, and codes new ones arithmetically.
    """

    headline = {"entropy_bits": "mean(entropy_bits)"}
    quantities = {
        "entropy_bits": quantity("entropy of a random distribution", "repetition", unit="bits"),
        "huffman_bits": quantity(
            "length of a Huffman code per symbol", "block repetition", unit="bits"
        ),
        "best_code_bits": quantity(
            "smallest mean length of a code of whole bits", "repetition", unit="bits"
        ),
        "swapped_cost": quantity("cost of exchanging two codewords", "exchange", unit="bits"),
        "model_divergence": quantity(
            "divergence of the learnt model from the source", "training repetition", unit="bits"
        ),
        "sent_bits": quantity(
            "length of an arithmetic code of new symbols", "training repetition", unit="bits"
        ),
    }
    axes = {
        "repetition": axis_of("random distribution"),
        "block": axis_of("symbols per codeword"),
        "exchange": axis_of("pair of codewords"),
        "training": axis_of("symbols seen"),
    }

    symbols: int = knob(4, "symbols of a distribution", at_least=2, at_most=5)
    repetitions: int = knob(100, "random distributions", at_least=1, at_most=10_000)
    block_lengths: list[int] = knob(
        [1, 2, 4], "symbols per codeword of Huffman's code", at_least=1, at_most=6, distinct=True
    )
    training: list[int] = knob([10, 100, 1000], "symbols seen", at_least=1, distinct=True)
    new: int = knob(500, "new symbols that are coded", at_least=1, at_most=10_000)

    def run(self, rng: Generator) -> Outcome:
        p = rng.dirichlet(np.ones(self.symbols), self.repetitions)
        blocks, training = sorted(self.block_lengths), sorted(self.training)
        lengths = [info.huffman_lengths(row) for row in p]
        lost = np.concatenate([info.exchanges(*both) for both in zip(p, lengths, strict=True)])
        divergence, sent = np.empty((2, len(training), self.repetitions))
        for d in range(self.repetitions):
            new = rng.choice(self.symbols, self.new, p=p[d])
            for k, size in enumerate(training):
                divergence[k, d], sent[k, d] = self._learnt(p[d], size, new.tolist(), rng)
        return outcome(
            {
                "repetition": self.repetitions,
                "block": blocks,
                "exchange": len(lost),
                "training": training,
            },
            entropy_bits=("repetition", info.entropy(p) / np.log(2)),
            huffman_bits=(
                "block repetition",
                [[info.block_bits(row, n) for row in p] for n in blocks],
            ),
            best_code_bits=("repetition", info.best_code_bits(p)),
            swapped_cost=("exchange", lost),
            model_divergence=("training repetition", divergence),
            sent_bits=("training repetition", sent),
        )

    def _learnt(self, p: Floats, size: int, new: list[int], rng: Generator) -> tuple[float, float]:
        """The divergence of a model learnt from some symbols, and the bits of new ones."""
        counts = rng.multinomial(size, p)
        model = np.asarray((counts + SMOOTHED) / (size + SMOOTHED * self.symbols), np.float64)
        parts = info.whole_parts(model[None])
        bits = info.ArithmeticCode(parts).encode([0] * len(new), new)[1]
        return float(info.divergence(p, model) / np.log(2)), bits
