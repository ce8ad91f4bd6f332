"""The evidence of simple and flexible models for every data set (Ghahramani Figure 4)."""

from collections.abc import Iterator
from dataclasses import dataclass

from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.probability import sequences


@dataclass
class Occam(Study):
    """Evidence of a known coin and of chains for all sequences of tosses (Ghahramani Figure 4)."""

    headline = {"highest": "max(probability, over='sequence')"}
    quantities = {
        "probability": quantity("probability of a sequence under a model", "model sequence"),
    }
    axes = {"model": axis_of("model"), "sequence": axis_of("sequence of tosses")}

    length: int = knob(10, "tosses in a sequence", at_least=2, at_most=16)
    bias: float = knob(0.9, "of the known coin", above=0, below=1)
    orders: list[int] = knob(
        [0, 2], "of the chains; 0: a coin of unknown bias", at_least=0, at_most=6, distinct=True
    )

    def problems(self) -> Iterator[str]:
        if max(self.orders) >= self.length:
            yield f"study.orders={self.orders}; allowed: < study.length={self.length}"

    def run(self, rng: Generator) -> Outcome:
        x = sequences.all_sequences(self.length)
        names = ["known coin", *(f"chain of order {order}" for order in self.orders)]
        chains = [sequences.chain_evidence(x, order) for order in self.orders]
        return outcome(
            {"model": names, "sequence": len(x)},
            probability=("model sequence", [sequences.known_coin(x, self.bias), *chains]),
        )
