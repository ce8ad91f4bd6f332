"""Posterior of coins given their weighted sum (Ghahramani 6)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log2, nan

from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.graphs.weighted_coins import additions, both_heads, heads, ways


@dataclass
class WeightedCoins(Study):
    """Exact probability of each coin given the sum, for given and drawn weights (Ghahramani 6).

    Coins of equal weight are exchangeable: the posterior is per weight. A sum that cannot be
    reached has no posterior (not a number).
    """

    headline = {"heads": "max(weight_posterior)"}
    quantities = {
        "log2_ways": quantity("binary logarithm of the number of settings with the sum", "weights"),
        "additions": quantity("additions for the posterior of all coins", "weights"),
        "weight_posterior": quantity(
            "posterior probability of heads of a coin of some weight, given the sum",
            "weights weight",
        ),
        "min_dependence": quantity(
            "smallest difference of P(1, 1) and P(1) P(1) of two coins, given the sum", "weights"
        ),
    }
    axes = {
        "weights": axis_of("weights of the coins, in turn or random"),
        "weight": axis_of("weight of a coin"),
    }

    coins: int = knob(100, "N, how many", at_least=2, at_most=300)
    total: int = knob(430, "Y, their weighted sum", at_least=1, at_most=3000)
    weights: list[int] = knob(list(range(1, 11)), "used in rotation", at_least=1, at_most=10)
    draws: int = knob(20, "more weights, drawn from 1 to 10", at_least=0, at_most=1000)

    def problems(self) -> Iterator[str]:
        cycle = sum(self._cycle(self.coins))
        if not 0 < self.total <= cycle:
            yield f"study.total={self.total}; allowed: 1 to {cycle}, the sum of all weights"

    def _cycle(self, count: int) -> list[int]:
        return (self.weights * -(-count // len(self.weights)))[:count]

    def run(self, rng: Generator) -> Outcome:
        each = [self._cycle(self.coins)]
        each += rng.integers(1, 11, (self.draws, self.coins)).tolist()
        names = ["cycle", *(f"draw {k + 1}" for k in range(self.draws))]
        found = [_posterior(weights, self.total) for weights in each]
        return outcome(
            {"weights": names, "weight": range(1, 11)},
            log2_ways=("weights", [log2(max(int(ways(w, self.total)[-1]), 1)) for w in each]),
            additions=("weights", [additions(w, self.total) for w in each]),
            weight_posterior=("weights weight", [posterior for posterior, _ in found]),
            min_dependence=("weights", [smallest for _, smallest in found]),
        )


def _posterior(weights: Sequence[int], total: int) -> tuple[list[float], float]:
    """P(heads) of a coin of each weight, and the smallest dependence of two coins."""
    there, counts = Counter(weights), ways(weights, total)
    if counts[-1] == 0:
        return [nan] * 10, 0.0
    alone = {w: heads(counts, w) for w in there}
    pairs = [*combinations(there, 2), *((w, w) for w, many in there.items() if many > 1)]
    gaps = [abs(both_heads(counts, a, b) - alone[a] * alone[b]) for a, b in pairs]
    return [float(alone.get(w, nan)) for w in range(1, 11)], float(min(gaps))
