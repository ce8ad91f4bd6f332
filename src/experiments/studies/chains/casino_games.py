"""Many games of the casino: their dice, and how many of them are told wrong (MLAPP 17.4.1)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, axis, over
from experiments.contract.study import Study, knob
from models.chains import hmm
from models.chains.baum_welch import CategoricalHMM
from models.chains.casino import (
    FAIR,
    LOADED,
    Errors,
    Game,
    book_game,
    casino,
    count_errors,
    decode,
    error_counts,
    simulate,
)
from models.types import Floats, Ints

CHUNK = 2000  # games at a time: arrays of CHUNK games fit anywhere


class Counts(NamedTuple):
    """What happened in some games, by die."""

    faces: Ints  # (die, face)
    visits: Ints  # (die,) rolls that another roll follows
    leaves: Ints  # (die,) those of them after which the die was changed
    starts: Ints  # (die,) rolls that are followed long enough to see it stay
    stays: Ints  # (die, step) those of them after which it was kept for so many rolls


@dataclass
class CasinoGames(Study):
    """What games are made of (Fig 17.9), and the dice that each estimate gets wrong in them."""

    headline = {
        "loaded_share": "sum(face_counts['loaded']) / sum(face_counts)",
        "mean_errors_filtered": "mean(errors['filtered'])",
        "mean_errors_smoothed": "mean(errors['smoothed'])",
        "mean_errors_viterbi": "mean(errors['viterbi'])",
        "smoothing_beats_viterbi": "share(errors['smoothed'] < errors['viterbi'])",
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
        model = casino(self.six, self.switching)
        die, face = axis("die", ["fair", "loaded"]), axis("face", np.arange(1, 7))
        step, games = axis("step", np.arange(1, max(self.length // 5, 2))), axis("game", self.games)
        counts, errors, lagged = [], [], []
        for first in range(0, self.games, CHUNK):
            game = simulate(model, min(CHUNK, self.games - first), self.length, rng)
            counts.append(_counts(game, step.values))
            if self.decoded:
                errors.append(np.stack(error_counts(model, game, decode(model, game.rolls))))
            if self.lags:
                lagged.append(self._lagged_errors(model, game))
        faces, visits, leaves, starts, stays = (sum(part) for part in zip(*counts, strict=True))
        kept = np.diagonal(model.A)
        found: dict[str, Any] = {}
        if self.decoded:
            book = book_game()
            estimate = axis("estimate", list(Errors._fields))
            found["errors"] = over(np.concatenate(errors, axis=1), estimate, games)
            found["book_errors"] = estimate.of(
                np.stack(error_counts(model, book, decode(model, book.rolls)))
            )
        if self.lags:
            lag = axis("lag", sorted(self.lags))
            found["lagged_errors"] = over(np.concatenate(lagged, axis=1), lag, games)
        return Outcome(
            face_counts=over(faces, die, face),
            face_probability=over(model.B, die, face),
            stay_share=over(stays / np.maximum(starts, 1)[:, None], die, step),
            stay_probability=over(kept[:, None] ** step.values, die, step),
            mean_run=die.of(np.divide(visits, leaves, out=np.full(2, np.inf), where=leaves > 0)),
            expected_run=die.of(1 / (1 - kept)),
            stationary_share=die.of(_stationary(model.A)),
            **found,
        )

    def _lagged_errors(self, model: CategoricalHMM, game: Game) -> Ints:
        log_lik = hmm.categorical_log_likelihood(model.B, game.rolls)
        forward = hmm.forward_filter(model.pi, model.A, log_lik)
        beliefs = (
            hmm.fixed_lag_smoother(model.A, log_lik, forward, lag) for lag in sorted(self.lags)
        )
        return np.stack([count_errors(belief[..., LOADED], game.dice) for belief in beliefs])


def _counts(game: Game, steps: Ints) -> Counts:
    """A run that the end of a game cuts off counts as far as it went."""
    found = []
    for die in (FAIR, LOADED):
        here = game.dice == die
        starts = kept = here[:, : here.shape[1] - steps[-1]]
        stays = []
        for step in steps:
            kept = kept & here[:, step : step + kept.shape[1]]
            stays.append(kept.sum())
        faces = np.bincount(game.rolls[here], minlength=6)
        left = here[:, :-1] & ~here[:, 1:]
        found.append((faces, here[:, :-1].sum(), left.sum(), starts.sum(), stays))
    return Counts(*map(np.array, zip(*found, strict=True)))


def _stationary(A: Floats) -> Floats:
    """The distribution p with p A = p, by least squares with the sum as one more equation."""
    K = len(A)
    equations = np.vstack([A.T - np.eye(K), np.ones(K)])
    return np.asarray(np.linalg.lstsq(equations, np.eye(K + 1)[K])[0])
