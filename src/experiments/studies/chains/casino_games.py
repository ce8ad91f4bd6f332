"""Many games of the casino: their dice, and the error rates of estimates (MLAPP 17.4.1)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.chains import casino, hmm

CHUNK = 2000  # games at a time: arrays of CHUNK games fit anywhere


@dataclass
class CasinoGames(Study):
    """Statistics of simulated games (Fig 17.9), and error rates of estimates of their dice."""

    headline = {
        "mean_errors_filtered": "mean(errors['filtered'])",
        "mean_errors_smoothed": "mean(errors['smoothed'])",
        "mean_errors_viterbi": "mean(errors['viterbi'])",
    }
    more_quantities = True
    quantities = {
        "errors": quantity("rolls whose die is wrong", "estimate game"),
    }

    games: int = knob(2000, "games to simulate", at_least=2, at_most=1_000_000)
    length: int = knob(300, "rolls of a game", at_least=2, at_most=10_000)
    decoded: bool = knob(True, "count the dice that each estimate gets wrong")
    lags: list[int] = knob(
        [], "lags to smooth with", at_least=1, at_most=1000, distinct=True, may_be_empty=True
    )
    six: float = knob(0.5, "the loaded die's probability of a six", at_least=0, at_most=1)
    switching: float = knob(1.0, "how often dice change; 1 is the book", above=0, at_most=10)

    def problems(self) -> Iterator[str]:
        if self.lags and not self.decoded:
            yield f"study.lags={self.lags} need study.decoded=true"

    def run(self, rng: Generator) -> Outcome:
        model, book = casino.casino(self.six, self.switching), casino.book_game()
        die, face = axis("die", ["fair", "loaded"]), axis("face", np.arange(1, 7))
        step, games = axis("step", np.arange(1, max(self.length // 5, 2))), axis("game", self.games)
        tallies, errors, unsure, lagged = [], [], [], []
        for first in range(0, self.games, CHUNK):
            game = casino.simulate(model, min(CHUNK, self.games - first), self.length, rng)
            tallies.append(casino.tally(game, step.values))
            if self.decoded:
                decoded = casino.decode(model, game.rolls)
                errors.append(np.stack(casino.error_counts(model, game, decoded)))
                beliefs = np.stack([decoded.filtered, decoded.smoothed])
                unsure.append(casino.entropy(beliefs).mean(axis=-1))
            if self.lags:
                lagged.append(casino.lagged_errors(model, game, sorted(self.lags)))
        faces, visits, leaves, starts, stays = (sum(part) for part in zip(*tallies, strict=True))
        keeps, never = np.diagonal(model.A), np.full(2, np.inf)
        found: dict[str, Any] = {}
        if self.decoded:
            estimate = axis("estimate", list(casino.Errors._fields))
            found["errors"] = over(np.concatenate(errors, axis=1), estimate, games)
            found["book_errors"] = estimate.of(casino.all_errors(model, book))
            belief = axis("belief", ["filtered", "smoothed"])
            found["uncertainty"] = over(np.concatenate(unsure, axis=1), belief, games)
        if self.lags:
            lag = axis("lag", sorted(self.lags))
            found["lagged_errors"] = over(np.concatenate(lagged, axis=1), lag, games)
        return Outcome(
            face_counts=over(faces, die, face),
            face_probability=over(model.B, die, face),
            stay_share=over(stays / np.maximum(starts, 1)[:, None], die, step),
            stay_probability=over(keeps[:, None] ** step.values, die, step),
            mean_run=die.of(np.divide(visits, leaves, out=never, where=leaves > 0)),
            expected_run=die.of(1 / (1 - keeps)),
            stationary_share=die.of(hmm.stationary(model.A)),
            **found,
        )
