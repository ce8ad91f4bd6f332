"""Many games of the casino: their dice, and the error rates of estimates (MLAPP 17.4.1)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.chains import casino

CHUNK = 2000  # games at a time: arrays of CHUNK games fit anywhere


@dataclass
class CasinoGames(Study):
    """Statistics of simulated games (Fig 17.9), and error rates of estimates of their dice."""

    headline = {
        "mean_errors_filtered": "mean(errors['filtered'])",
        "mean_errors_smoothed": "mean(errors['smoothed'])",
        "mean_errors_viterbi": "mean(errors['viterbi'])",
    }
    quantities = {
        "errors": quantity("rolls whose die is wrong", "estimate game"),
        "book_errors": quantity("rolls whose die is wrong in the book's game", "estimate"),
        "lagged_errors": quantity("rolls whose die is wrong with a fixed lag", "lag game"),
        "uncertainty": quantity("mean entropy of a die in a game", "belief game", unit="bits"),
        "face_counts": quantity("number of rolls", "die face"),
        "mean_run": quantity("mean number of rolls before the die changes", "die"),
    }
    axes = {
        "game": axis_of("game"),
        "estimate": axis_of("estimate of the dice"),
        "lag": axis_of("lag", unit="rolls"),
        "belief": axis_of("which rolls are known"),
        "die": axis_of("die"),
        "face": axis_of("face"),
    }

    games: int = knob(2000, "games to simulate", at_least=2, at_most=1_000_000)
    length: int = knob(300, "rolls of a game", at_least=2, at_most=10_000)
    lags: list[int] = knob(
        [], "lags to smooth with", at_least=1, at_most=1000, distinct=True, may_be_empty=True
    )
    six: float = knob(0.5, "the loaded die's probability of a six", at_least=0, at_most=1)
    switching: float = knob(1.0, "how often dice change; 1 is the book", above=0, at_most=10)

    def run(self, rng: Generator) -> Outcome:
        model = casino.casino(self.six, self.switching)
        tallies, errors, unsure, lagged = [], [], [], []
        for first in range(0, self.games, CHUNK):
            game = casino.simulate(model, min(CHUNK, self.games - first), self.length, rng)
            decoded = casino.decode(model, game.rolls)
            tallies.append(casino.tally(game))
            errors.append(np.stack(casino.error_counts(model, game, decoded)))
            beliefs = np.stack([decoded.filtered, decoded.smoothed])
            unsure.append(casino.entropy(beliefs).mean(axis=-1))
            if self.lags:
                lagged.append(casino.lagged_errors(model, game, sorted(self.lags)))
        faces, visits, leaves = (sum(part) for part in zip(*tallies, strict=True))
        coords = {
            "game": np.arange(self.games),
            "estimate": list(casino.Errors._fields),
            "belief": ["filtered", "smoothed"],
            "die": ["fair", "loaded"],
            "face": np.arange(1, 7),
        }
        found: dict[str, Any] = {}
        if self.lags:
            coords["lag"] = sorted(self.lags)
            found["lagged_errors"] = "lag game", np.concatenate(lagged, axis=1)
        never = np.full(2, np.inf)
        return outcome(
            coords,
            errors=("estimate game", np.concatenate(errors, axis=1)),
            book_errors=("estimate", casino.all_errors(model, casino.book_game())),
            uncertainty=("belief game", np.concatenate(unsure, axis=1)),
            face_counts=("die face", faces),
            mean_run=("die", np.divide(visits, leaves, out=never, where=leaves > 0)),
            **found,
        )
