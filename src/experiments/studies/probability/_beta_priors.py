"""Knobs of one or several beta priors of a coin, and of the bet on its heads (FCML 3.1-3.2)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bythebook.experiments.core.study import knob
from bythebook.models.probability.coin import Beta


@dataclass
class BetaPriors:
    """Knobs of beta priors and of the bet. A base for studies of the coin."""

    alphas: list[float] = knob(
        [1.0, 50.0, 5.0], "first parameter of each prior (heads)", above=0, may_be_empty=True
    )
    betas: list[float] = knob(
        [1.0, 50.0, 1.0], "second parameter of each prior (tails)", above=0, may_be_empty=True
    )
    game_tosses: int = knob(10, "tosses in a game", at_least=1, at_most=1000)
    win_at_most: int = knob(6, "the game is won by this many heads or fewer", at_least=0)

    def problems(self) -> Iterator[str]:
        if len(self.alphas) != len(self.betas):
            yield f"study.alphas={self.alphas}, study.betas={self.betas}; allowed: equally many"
        elif len(set(self.labels)) < len(self.labels):
            yield f"study.alphas={self.alphas}, study.betas={self.betas} repeat a prior"
        if self.win_at_most >= self.game_tosses:
            yield f"study.win_at_most={self.win_at_most}; allowed: < {self.game_tosses} tosses"

    @property
    def labels(self) -> list[str]:
        return [f"Beta({a:g}, {b:g})" for a, b in zip(self.alphas, self.betas, strict=True)]

    @property
    def bet(self) -> tuple[int, int]:
        return self.game_tosses, self.win_at_most

    @property
    def prior(self) -> Beta:
        """All priors, parameters of shape (P, 1)."""
        return Beta(np.array(self.alphas)[:, None], np.array(self.betas)[:, None])
