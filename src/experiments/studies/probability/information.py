"""Entropies, divergences, and the lengths of codes (notes 1.1.7; Ghahramani 1.2)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.stats import norm

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.probability import densities
from bythebook.models.probability import information as info
from bythebook.models.types import Floats

SMOOTHED = 0.5  # added to the counts of a model that is learnt


@dataclass
class Information(Study):
    """Entropies of random distributions and tables, lengths of codes, and densities (notes 1.1.7).

    A model is learnt from some symbols by their counts, and codes new ones arithmetically.
    """

    headline = {"entropy_bits": "mean(entropy_bits)"}
    more_quantities = True
    quantities = {
        "entropy_bits": quantity("entropy of a random distribution", "draw", unit="bits"),
        "huffman_bits": quantity("length of a Huffman code per symbol", "block draw", unit="bits"),
        "best_code_bits": quantity("length of the best code per symbol", "draw", unit="bits"),
        "codeword_length": quantity("length of a codeword", "draw symbol", unit="bits"),
        "probability": quantity("probability of a symbol", "draw symbol"),
        "swapped_cost": quantity("cost of swapping two codewords", "exchange", unit="bits"),
        "coding_cost": quantity(
            "mean length of an ideal code for the true or another distribution",
            "code draw",
            unit="bits",
        ),
        "divergence_bits": quantity(
            "divergence of the second distribution from the first", "draw", unit="bits"
        ),
        "self_divergence": quantity(
            "divergence of a distribution from itself", "draw", unit="nats"
        ),
        "model_divergence": quantity(
            "divergence of the learnt model from the source", "training draw", unit="bits"
        ),
        "sent_bits": quantity(
            "length of an arithmetic code of new symbols", "training draw", unit="bits"
        ),
        "divergence": quantity(
            "divergence of the second distribution from the first", "draw", unit="nats"
        ),
        "reverse_divergence": quantity(
            "divergence of the first distribution from the second", "draw", unit="nats"
        ),
        "climbed_entropy_gap": quantity(
            "largest entropy minus the entropy that a climb reaches", "draw", unit="nats"
        ),
        "joint_entropy": quantity("entropy of two variables", "draw", unit="nats"),
        "marginal_entropy": quantity("entropy of the first variable", "draw", unit="nats"),
        "conditional_as_printed": quantity(
            "sum of p(x, y) ln p(y | x), without the minus",
            "draw",
            unit="nats",
            equation="Notes 1.13",
        ),
        "reverse_conditional": quantity("entropy of x, given y", "draw", unit="nats"),
        "mutual_information": quantity("mutual information of two variables", "draw", unit="nats"),
        "jensen_gap": quantity("distance of Jensen's inequality from an equality", "function draw"),
        "density_area": quantity("area under a density", "density deviation"),
        "density_variance": quantity("variance of a density", "density deviation"),
        "density_entropy": quantity("entropy of a density", "density deviation", unit="nats"),
        "bumps_entropy": quantity("entropy of a density with two bumps", unit="nats"),
    }

    symbols: int = knob(4, "symbols of a distribution", at_least=2, at_most=5)
    draws: int = knob(100, "pairs of distributions", at_least=1, at_most=10_000)
    block_lengths: list[int] = knob(
        [1, 2, 4], "symbols per codeword of Huffman's code", at_least=1, at_most=6, distinct=True
    )
    training: list[int] = knob([10, 100, 1000], "symbols seen", at_least=1, distinct=True)
    new: int = knob(500, "new symbols that are coded", at_least=1, at_most=10_000)
    deviations: list[float] = knob([1.0], "of the densities", above=0, distinct=True)

    def run(self, rng: Generator) -> Outcome:
        K = self.symbols
        p, q = rng.dirichlet(np.ones(K), (2, self.draws))
        tables = rng.dirichlet(np.ones(K * K), self.draws).reshape(-1, K, K)
        return Outcome(
            **self._codes(p, q),
            **self._learnt(p, q, rng),
            **self._tables(p, q, tables),
            **self._densities(),
        )

    def _codes(self, p: Floats, q: Floats) -> dict[str, Quantity]:
        draw, block = axis("draw", self.draws), axis("block", sorted(self.block_lengths))
        lengths = [info.huffman_lengths(row) for row in p]
        lost = np.concatenate([info.exchanges(*both) for both in zip(p, lengths, strict=True)])
        costs = [-(p * np.log2(model)).sum(1) for model in (p, q)]
        return {
            "entropy_bits": draw.of(info.entropy(p) / np.log(2)),
            "huffman_bits": over(
                [[info.block_bits(row, int(n)) for row in p] for n in block.values], block, draw
            ),
            "best_code_bits": draw.of(info.best_code_bits(p)),
            "codeword_length": over(lengths, draw, axis("symbol", self.symbols)),
            "probability": over(p, draw, axis("symbol", self.symbols)),
            "swapped_cost": axis("exchange", len(lost)).of(lost),
            "coding_cost": over(costs, axis("code", ["true", "other"]), draw),
            "divergence_bits": draw.of(info.divergence(p, q) / np.log(2)),
            "self_divergence": draw.of(info.divergence(p, p)),
        }

    def _learnt(self, p: Floats, q: Floats, rng: Generator) -> dict[str, Quantity]:
        draw, training = axis("draw", self.draws), axis("training", sorted(self.training))
        divergence, sent, excess, summed = np.empty((4, len(training), self.draws))
        for d in range(self.draws):
            new = rng.choice(self.symbols, self.new, p=p[d])
            for k, size in enumerate(training.values):
                N = rng.multinomial(size, p[d])
                model = (N + SMOOTHED) / (size + SMOOTHED * self.symbols)
                parts = info.whole_parts(model[None])
                bits = info.ArithmeticCode(parts).encode([0] * self.new, new.tolist())[1]
                divergence[k, d] = info.divergence(p[d], model) / np.log(2)
                sent[k, d] = bits
                excess[k, d] = bits + np.log2(model[new]).sum()
                summed[k, d] = N @ np.log(p[d] / q[d])  # notes 1.17
        return {
            "model_divergence": over(divergence, training, draw),
            "sent_bits": over(sent, training, draw),
            "arithmetic_excess": over(excess, training, draw),
            "sampled_sum": over(summed, training, draw),
        }

    def _tables(self, p: Floats, q: Floats, tables: Floats) -> dict[str, Quantity]:
        draw = axis("draw", self.draws)
        joint = info.joint_information(tables)
        both = np.einsum("di,dj->dij", p, q)
        added = np.log2(both) - np.log2(p)[:, :, None] - np.log2(q)[:, None, :]
        x = np.arange(1, self.symbols + 1, dtype=np.float64)
        convex = {"square": x**2, "exponential": np.exp(x), "minus logarithm": -np.log(x)}
        mean = p @ x
        at_mean = [mean**2, np.exp(mean), -np.log(mean)]
        gaps = [at - p @ f for at, f in zip(at_mean, convex.values(), strict=True)]
        return {
            "climbed_entropy_gap": draw.of(np.log(self.symbols) - info.entropy(info.climb(p))),
            "divergence": draw.of(info.divergence(p, q)),
            "reverse_divergence": draw.of(info.divergence(q, p)),
            "joint_entropy": draw.of(joint.joint),
            "marginal_entropy": draw.of(joint.marginal),
            "conditional_as_printed": draw.of(joint.conditional_as_printed),
            "reverse_conditional": draw.of(joint.reverse_conditional),
            "mutual_information": draw.of(joint.mutual),
            "added_information": draw.of(np.abs(added).max((1, 2))),
            "jensen_gap": over(gaps, axis("function", list(convex)), draw),
        }

    def _densities(self) -> dict[str, Quantity]:
        density, deviation = (
            axis("density", list(densities.UNIT)),
            axis("deviation", self.deviations),
        )
        measured = [
            [densities.integrals(name, s) for s in self.deviations] for name in densities.UNIT
        ]
        area, variance, entropy = np.moveaxis(np.array(measured), -1, 0)
        x, c = np.linspace(-12, 12, 4001), 0.5**0.5
        bumps = np.logaddexp(norm.logpdf(x, c, c), norm.logpdf(x, -c, c)) - np.log(2)
        return {
            "density_area": over(area, density, deviation),
            "density_variance": over(variance, density, deviation),
            "density_entropy": over(entropy, density, deviation),
            "bumps_entropy": over(-(np.exp(bumps) * bumps).sum() * (x[1] - x[0])),
        }
