"""Whose die was it? What one game's rolls say about the casino's dice (MLAPP 17.4)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Axis, Outcome, axis, over
from experiments.contract.study import Study, knob
from models.chains import hmm
from models.chains.baum_welch import CategoricalHMM
from models.chains.casino import (
    LOADED,
    SIX,
    Decoded,
    Game,
    book_game,
    casino,
    count_errors,
    error_counts,
    listing_rolls,
    simulate,
)
from models.chains.hmm_enumeration import enumerate_paths, state_marginals
from models.types import Floats, Ints

GAMES = {"book": 300, "listing": 60}  # how many rolls they have
BATCH = 100  # the book's code shows the mode of so many paths
SHOWN = 30  # paths that the figure shows
SUMMED = 8  # steps ahead that are summed over all paths


@dataclass
class CasinoBeliefs(Study):
    """Filter, smoother and most probable path of one game; sampled paths; dice and rolls to come.

    Paths are drawn by filtering forwards and sampling backwards (17.4.5), predictions are powers
    of the transition matrix (17.42, 17.43).
    """

    headline = {
        "errors_filtered": "errors['filtered']",
        "errors_smoothed": "errors['smoothed']",
        "errors_viterbi": "errors['viterbi']",
        "bits_filtered": "mean(uncertainty['filtered'])",
        "bits_smoothed": "mean(uncertainty['smoothed'])",
    }

    game: str = knob(
        "book", "rolls of Fig 17.10, of Listing 17.1, or simulated", choices=(*GAMES, "simulated")
    )
    length: int = knob(300, "how many of its rolls, from the first", at_least=2, at_most=100_000)
    six: float = knob(0.5, "probability of a six that is assumed", at_least=0, at_most=1)
    switching: float = knob(1.0, "how often dice are thought to change", above=0, at_most=10)
    samples: int = knob(0, "paths to draw from the posterior", at_least=0, at_most=100_000)
    ahead: int = knob(0, "rolls to predict beyond the last", at_least=0, at_most=1000)

    def problems(self) -> Iterator[str]:
        longest = GAMES.get(self.game, self.length)
        if self.length > longest:
            yield f"study.length={self.length}: the {self.game} game has {longest} rolls"
        if 0 < self.samples < BATCH:
            yield f"study.samples={self.samples}; allowed: 0, or at least {BATCH}"

    def run(self, rng: Generator) -> Outcome:
        model = casino(self.six, self.switching)
        dice, rolls = self._game(rng)
        posterior = hmm.smoother(model.pi, model.A, hmm.symbol_table(model.B), rolls)
        path = hmm.viterbi(model.pi, model.A, hmm.symbol_table(model.B), rolls).states
        filtered, smoothed = posterior.forward.filtered[:, LOADED], posterior.smoothed[:, LOADED]
        log_evidence = posterior.forward.log_evidence
        loaded = np.stack([filtered, smoothed])
        belief, roll = (
            axis("belief", ["filtered", "smoothed"]),
            axis("roll", 1 + np.arange(len(rolls))),
        )
        found: dict[str, Any] = {}
        if dice is not None:
            decoded = Decoded(filtered, smoothed, path, log_evidence)
            errors = error_counts(model, Game(dice, rolls), decoded)
            found["truly_loaded"] = roll.of(dice == LOADED)
            found["errors"] = axis("estimate", list(errors._fields)).of(np.stack(errors))
        if self.samples:
            found |= self._sampled(model, posterior, dice, roll, rng)
        if self.ahead:
            found |= self._predicted(model, posterior.forward.filtered[-1])
        return Outcome(
            rolls=roll.of(rolls + 1),
            loaded=over(loaded, belief, roll),  # p(z_t = loaded | rolls so far, or all rolls)
            uncertainty=over(_entropy(loaded), belief, roll),
            path_loaded=roll.of(path == LOADED),
            log_evidence=log_evidence,
            **found,
        )

    def _game(self, rng: Generator) -> tuple[Ints | None, Ints]:
        if self.game == "listing":  # its row of dice is lost
            return None, listing_rolls()[: self.length]
        if self.game == "book":
            dice, rolls = book_game()
        else:
            dice, rolls = (row[0] for row in simulate(casino(), 1, self.length, rng))
        return dice[: self.length], rolls[: self.length]

    def _sampled(
        self,
        model: CategoricalHMM,
        posterior: hmm.Smoothed,
        dice: Ints | None,
        roll: Axis,
        rng: Generator,
    ) -> dict[str, Any]:
        gamma, xi = posterior.smoothed[:, LOADED], hmm.pairwise_marginals(model.A, posterior)
        paths = hmm.sample_posterior(posterior.forward.filtered, model.A, self.samples, rng)
        loaded = paths == LOADED
        pairs = 2 * paths[:, :-1] + paths[:, 1:]
        frequency = np.stack([np.mean(pairs == pair, axis=0) for pair in range(4)], axis=-1)
        found: dict[str, Any] = {
            "sampled_share": roll.of(loaded.mean(axis=0)),
            "batch_share": roll.of(loaded[:BATCH].mean(axis=0)),
            "sampled_paths": over(loaded[:SHOWN], axis("path", len(loaded[:SHOWN])), roll),
            "pair_gap": np.abs(frequency - xi.reshape(-1, 4)).max(),
            "sampled_switches": axis("sample", self.samples).of(
                np.sum(paths[:, 1:] != paths[:, :-1], axis=1)
            ),
            "expected_switches": xi[:, 0, 1].sum() + xi[:, 1, 0].sum(),
            # of dice drawn one by one from their marginals, as if none depended on another
            "independent_switches": np.sum(
                gamma[1:] * (1 - gamma[:-1]) + gamma[:-1] * (1 - gamma[1:])
            ),
        }
        if dice is not None:
            batches = loaded[: self.samples // BATCH * BATCH].reshape(-1, BATCH, len(dice))
            errors = count_errors(batches.mean(axis=1), dice)
            found["mode_errors"] = axis("batch", len(errors)).of(errors)
        return found

    def _predicted(self, model: CategoricalHMM, belief: Floats) -> dict[str, Any]:
        A, B = model.A, model.B
        begins = np.stack([belief, [1.0, 0.0], [0.0, 1.0]])  # from the rolls; had we seen the die
        axes = axis("horizon", self.ahead + 1), axis("start", ["rolls", "fair", "loaded"])
        states = np.stack([hmm.predict_states(begins, A, h) for h in range(self.ahead + 1)])
        faces = np.stack([hmm.predict_symbols(begins, A, B, h) for h in range(self.ahead + 1)])
        twice = sum(belief[i] * A[i, j] * A[j] for i in range(2) for j in range(2))  # 17.42
        paths = enumerate_paths(belief, A, np.ones((SUMMED + 1, 2)))  # without observations
        powers = np.stack([hmm.predict_states(belief, A, h) for h in range(SUMMED + 1)])
        return {
            "predicted_loaded": over(states[..., LOADED], *axes),
            "predicted_six": over(faces[..., SIX], *axes),
            "stationary_loaded": A[0, 1] / (A[0, 1] + A[1, 0]),
            "second_eigenvalue": np.linalg.eigvals(A).real.min(),
            "two_step_gap": np.abs(hmm.predict_states(belief, A, 2) - twice).max(),
            "all_paths_gap": np.abs(powers - state_marginals(paths, 2)).max(),
        }


def _entropy(p: Floats) -> Floats:
    """The entropy of a coin with probability p, in bits."""
    q = np.stack([p, 1 - p])
    return np.asarray(-np.sum(q * np.log2(np.where(q > 0, q, 1.0)), axis=0))
