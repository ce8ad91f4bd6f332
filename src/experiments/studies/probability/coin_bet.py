"""A bet on a coin of known or estimated bias, and the likelihood of that bias (FCML 3.1)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, Quantity, axis, over
from experiments.contract.study import Study, knob
from models.probability.coin import log_binomial, win_probability
from models.types import Floats

SHOWN = ("heads", "likelihood")


@dataclass
class CoinBet(Study):
    """How a bet on the heads of a coin may end, and what tosses say of the coin (FCML 3.1)."""

    r: float | None = knob(
        0.5, "probability of a head; null: most likely given the first count", at_least=0, at_most=1
    )
    heads: list[int] = knob([], "heads seen, in each of some counts", at_least=0, may_be_empty=True)
    tosses: list[int] = knob(
        [], "tosses of each count", at_least=1, at_most=100_000, may_be_empty=True
    )
    game_tosses: int = knob(10, "tosses in a game", at_least=1, at_most=1000)
    win_at_most: int = knob(6, "the game is won by this many heads or fewer", at_least=0)
    negligible: float = knob(
        0.05, "share of its maximum below which a likelihood counts as zero", above=0, below=1
    )
    show: list[str] = knob(["heads"], "what to draw", choices=SHOWN, distinct=True)

    def problems(self) -> Iterator[str]:
        if len(self.heads) != len(self.tosses):
            yield f"study.heads={self.heads}, study.tosses={self.tosses}; allowed: equally many"
        elif any(y > n for y, n in zip(self.heads, self.tosses, strict=True)):
            yield f"study.heads={self.heads}; allowed: at most study.tosses={self.tosses}"
        if self.win_at_most >= self.game_tosses:
            yield f"study.win_at_most={self.win_at_most}; allowed: < {self.game_tosses} tosses"
        if not self.heads and (self.r is None or "likelihood" in self.show):
            yield "study.heads=[]; r=null and the likelihood need a count of heads"

    def run(self, rng: Generator) -> Outcome:
        coin = self.heads[0] / self.tosses[0] if self.r is None else self.r  # the maximum of 3.2
        bet = self.game_tosses, self.win_at_most
        heads, r = axis("heads", self.game_tosses + 1), axis("r", np.linspace(0, 1, 4001))
        return Outcome(
            r_of_the_coin=coin,
            probability=heads.of(np.exp(log_binomial(heads.values, self.game_tosses, coin))),
            win_probability=win_probability(coin, *bet),
            win_probability_of_r=r.of(win_probability(r.values, *bet)),
            **(self._likelihoods(r.values) if self.heads else {}),
        )

    def _likelihoods(self, r: Floats) -> dict[str, Quantity]:
        """Each likelihood, its area, and the range of r in which it is not negligible."""
        pairs = list(zip(self.heads, self.tosses, strict=True))
        count = axis("count", [f"{y} of {n}" for y, n in pairs])
        likelihood = np.exp([log_binomial(y, n, r) for y, n in pairs])
        inside = [r[curve >= self.negligible * curve.max()] for curve in likelihood]
        return {
            "likelihood": over(likelihood, count, axis("r", r)),
            "area": count.of(np.trapezoid(likelihood, r, axis=-1)),
            "not_negligible_from": count.of([places[0] for places in inside]),
            "not_negligible_to": count.of([places[-1] for places in inside]),
        }
