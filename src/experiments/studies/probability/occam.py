"""The evidence of simple and flexible models for every data set (Ghahramani Figure 4)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.probability import sequences
from bythebook.models.types import Floats, Ints

_DRAWN = 8  # sequences whose evidence is also a mean over the prior
_DRAWS = 100_000


@dataclass
class Occam(Study):
    """Evidence of a known coin and of chains for all sequences of tosses (Ghahramani Figure 4)."""

    headline = {"highest": "max(probability, over='sequence')"}
    quantities = {
        "probability": quantity("probability of a sequence under a model", "model sequence"),
        "ones": quantity("heads of a sequence", "sequence"),
        "predicted": quantity("probability of a sequence, toss by toss", "chain sequence"),
        "drawn_probability": quantity(
            "probability of a short sequence, from draws of the prior", "few"
        ),
    }
    axes = {
        "chain": axis_of("order of the chain"),
        "few": axis_of("short sequence"),
        "model": axis_of("model"),
        "sequence": axis_of("sequence of tosses"),
    }

    length: int = knob(10, "tosses in a sequence", at_least=2, at_most=16)
    bias: float = knob(0.9, "of the known coin", above=0, below=1)
    orders: list[int] = knob(
        [0, 2], "of the chains; 0: a coin of unknown bias", at_least=0, at_most=6, distinct=True
    )

    def problems(self) -> Iterator[str]:
        if max(self.orders) >= self.length:
            yield f"study.orders={self.orders}; allowed: < study.length={self.length}"

    def run(self, rng: Generator) -> Outcome:
        x, top = sequences.all_sequences(self.length), max(self.orders)
        names = ["known coin", *(f"chain of order {order}" for order in self.orders)]
        probabilities = [sequences.chain_evidence(x, order) for order in self.orders]
        sequence = axis("sequence", len(x))
        theta = rng.random((_DRAWS, 2**top))
        few = x[:_DRAWN]
        return Outcome(
            probability=over(
                [sequences.known_coin(x, self.bias), *probabilities], axis("model", names), sequence
            ),
            ones=sequence.of(x.sum(-1)),
            predicted=over(
                [_predicted(x, order) for order in self.orders], axis("chain", names[1:]), sequence
            ),
            drawn_probability=axis("few", len(few)).of(
                sequences.chain_likelihood(few, top, theta).mean(0)
            ),
        )


def _predicted(x: Ints, order: int) -> Floats:
    """A chain's evidence toss by toss: after the same tosses, (heads + 1) / (number + 2)."""
    seen = np.ones((len(x), 2**order, 2))  # one head and one tail for each context, the prior's
    p, every = np.full(len(x), 0.5**order), np.arange(len(x))
    for t in range(order, x.shape[1]):
        context = x[:, t - order : t] @ 2 ** np.arange(order)
        counts = seen[every, context]
        p = p * counts[every, x[:, t]] / counts.sum(-1)
        seen[every, context, x[:, t]] += 1
    return p
