"""Posterior of coins given their weighted sum (Ghahramani 6)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import log2

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.graphs.weighted_coins import additions, both_heads, heads, ways
from bythebook.models.types import Ints


@dataclass
class WeightedCoins(Study):
    """Exact probability of each coin given the sum, for given and drawn weights (Ghahramani 6).

    Few coins are also enumerated. Coins of equal weight are exchangeable: the posterior is per
    weight. A sum that cannot be reached has no posterior (not a number).
    """

    headline = {"heads": "max(weight_posterior)"}
    more_quantities = True
    quantities = {
        "weight_posterior": quantity(
            "posterior probability of heads of a coin of some weight, given the sum",
            "weights weight",
        ),
    }

    coins: int = knob(100, "N, how many", at_least=2, at_most=300)
    total: int = knob(430, "Y, their weighted sum", at_least=1, at_most=3000)
    weights: list[int] = knob(list(range(1, 11)), "used in rotation", at_least=1, at_most=10)
    draws: int = knob(20, "more weights, drawn from 1 to 10", at_least=0, at_most=1000)
    small: int = knob(12, "coins whose settings are all enumerated", at_least=2, at_most=14)

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
        which, weight = axis("weights", names), axis("weight", range(1, 11))
        found = [_posterior(weights, self.total) for weights in each]
        few = self._cycle(self.small)
        return Outcome(
            log2_ways=which.of([log2(max(int(ways(w, self.total)[-1]), 1)) for w in each]),
            additions=which.of([additions(w, self.total) for w in each]),
            weight_posterior=over([posterior for posterior, _ in found], which, weight),
            least_dependence=which.of([least for _, least in found]),
            pair_posterior=over(
                _both(self._cycle(self.coins), self.total),
                weight,
                axis("other_weight", range(1, 11)),
            ),
            small_gap=axis("sum", range(1, sum(few) + 1)).of(_gaps(few)),
            prior_dependence=_prior_dependence(self.small),
        )


def _posterior(weights: Sequence[int], total: int) -> tuple[list[float], float]:
    """P(heads) of a coin of each weight, and the smallest dependence of two coins."""
    there, counts = Counter(weights), ways(weights, total)
    if counts[-1] == 0:
        return [float("nan")] * 10, 0.0
    alone = {w: heads(counts, w) for w in there}
    pairs = [*combinations(there, 2), *((w, w) for w, many in there.items() if many > 1)]
    gaps = [abs(both_heads(counts, a, b) - alone[a] * alone[b]) for a, b in pairs]
    return [float(alone.get(w, np.nan)) for w in range(1, 11)], float(min(gaps))


def _both(weights: Sequence[int], total: int) -> list[list[float]]:
    """P(both heads) of two coins of each two weights; not a number where there are none."""
    there, counts = Counter(weights), ways(weights, total)
    found = np.full((10, 10), np.nan)
    for a, b in product(there, repeat=2):
        if counts[-1] and (a != b or there[a] > 1):
            found[a - 1, b - 1] = both_heads(counts, a, b)
    return found.tolist()


def _prior_dependence(count: int) -> float:
    """The largest difference of P(1, 1) and P(1) P(1), of all settings of some coins."""
    settings = np.array(list(product((0, 1), repeat=count)))
    both, alone = settings.T @ settings / len(settings), settings.mean(0)
    off = np.abs(both - np.outer(alone, alone))
    return float(off[np.triu_indices(count, 1)].max())


def _gaps(weights: Sequence[int]) -> list[float]:
    """Largest difference from the enumeration of all settings, for each sum."""
    settings = np.array(list(product((0, 1), repeat=len(weights))))
    sums: Ints = settings @ np.array(weights)
    gaps = []
    for total in range(1, sum(weights) + 1):
        counts, right = ways(weights, total), settings[sums == total]
        if counts[-1] == 0 or len(right) == 0:
            gaps.append(abs(float(counts[-1]) - len(right)))
            continue
        off = [float(heads(counts, w)) for w in weights] - right.mean(0)
        gaps.append(float(np.abs(off).max()))
    return gaps
