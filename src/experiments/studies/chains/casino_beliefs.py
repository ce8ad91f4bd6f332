"""Inference of the casino's dice from the rolls of one game (MLAPP 17.4)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.chains import casino, hmm
from bythebook.models.chains.casino import LOADED, SIX
from bythebook.models.chains.hmm_checks import pair_shares, prediction_gaps
from bythebook.models.types import Bools, Floats, Ints

GAMES = ("book", "listing", "simulated")
ROLLS = {"book": 300, "listing": 60}
BATCH = 100  # number of paths whose mode the book's code shows
SHOWN = 30  # paths that the figure shows
SUMMED = 8  # steps ahead that are summed over all paths


@dataclass
class CasinoBeliefs(Study):
    """Filter, smoother and best path of one game; sampled paths (17.4.5); predictions (17.42)."""

    headline = {
        "errors_filtered": "errors['filtered']",
        "errors_smoothed": "errors['smoothed']",
        "errors_viterbi": "errors['viterbi']",
    }
    more_quantities = True
    quantities = {
        "errors": quantity("rolls whose die is wrong", "estimate"),
    }

    game: str = knob("book", "that of Fig 17.10, of Listing 17.1, or a new one", choices=GAMES)
    length: int = knob(300, "how many of its rolls, from the first", at_least=2, at_most=100_000)
    six: float = knob(0.5, "probability of a six that is assumed", at_least=0, at_most=1)
    switching: float = knob(
        1.0, "factor on the assumed rates of change; 1 is the book", above=0, at_most=10
    )
    samples: int = knob(0, "paths to draw from the posterior", at_least=0, at_most=100_000)
    ahead: int = knob(0, "rolls to predict beyond the last", at_least=0, at_most=1000)

    def problems(self) -> Iterator[str]:
        longest = ROLLS.get(self.game, self.length)
        if self.length > longest:
            yield f"study.length={self.length}: the {self.game} game has {longest} rolls"
        if 0 < self.samples < BATCH:
            yield f"study.samples={self.samples}; allowed: 0, or at least {BATCH}"

    def run(self, rng: Generator) -> Outcome:
        model, (dice, rolls) = casino.casino(self.six, self.switching), self._game(rng)
        chain = model.pi, model.A, hmm.symbol_table(model.B), rolls
        posterior, (path, _) = hmm.decode(*chain)
        filtered, log_evidence = posterior.forward.filtered, posterior.forward.log_evidence
        loaded = np.stack([filtered[:, LOADED], posterior.smoothed[:, LOADED]])
        belief = axis("belief", ["filtered", "smoothed"])
        roll = axis("roll", 1 + np.arange(len(rolls)))
        found: dict[str, Any] = {}
        if dice is not None:
            decoded = casino.Decoded(loaded[0], loaded[1], path, log_evidence)
            errors = casino.error_counts(model, casino.Game(dice, rolls), decoded)
            found["truly_loaded"] = roll.of(dice == LOADED)
            found["errors"] = axis("estimate", list(errors._fields)).of(np.stack(errors))
        if self.samples:
            paths = hmm.sample_posterior(filtered, model.A, self.samples, rng) == LOADED
            xi = hmm.pairwise_marginals(model.A, posterior)
            found["sampled_share"] = roll.of(paths.mean(axis=0))
            found["batch_share"] = roll.of(paths[:BATCH].mean(axis=0))
            found["sampled_paths"] = over(paths[:SHOWN], axis("path", SHOWN), roll)
            found |= _dependence(paths, loaded[1], xi)
            if dice is not None:
                batches = paths[: self.samples // BATCH * BATCH].reshape(-1, BATCH, len(dice))
                wrong = casino.count_errors(batches.mean(axis=1), dice)
                found["mode_errors"] = axis("batch", len(wrong)).of(wrong)
        if self.ahead:
            found |= _predictions(filtered[-1], model.A, model.B, self.ahead)
        return Outcome(
            rolls=roll.of(rolls + 1),
            loaded=over(loaded, belief, roll),  # p(z_t = loaded | rolls so far, or all rolls)
            uncertainty=over(casino.entropy(loaded), belief, roll),
            path_loaded=roll.of(path == LOADED),
            log_evidence=log_evidence,
            **found,
        )

    def _game(self, rng: Generator) -> tuple[Ints | None, Ints]:
        if self.game == "listing":  # its row of dice is lost
            return None, casino.listing_rolls()[: self.length]
        if self.game == "book":
            dice, rolls = casino.book_game()
        else:
            (dice,), (rolls,) = casino.simulate(casino.casino(), 1, self.length, rng)
        return dice[: self.length], rolls[: self.length]


def _dependence(loaded: Bools, gamma: Floats, xi: Floats) -> dict[str, Any]:
    """Pairs of dice and changes of the die in sampled paths, and expected by the posterior."""
    switches = np.sum(loaded[:, 1:] != loaded[:, :-1], axis=1)
    return {
        "pair_gap": np.abs(pair_shares(loaded, 2) - xi).max(),
        "sampled_switches": axis("sample", len(loaded)).of(switches),
        "expected_switches": xi[:, 0, 1].sum() + xi[:, 1, 0].sum(),
        "independent_switches": casino.independent_switches(gamma),
    }


def _predictions(belief: Floats, A: Floats, B: Floats, ahead: int) -> dict[str, Any]:
    """Predicted dice and sixes, from the belief and from a known last die."""
    begins = np.stack([belief, [1.0, 0.0], [0.0, 1.0]])
    axes = axis("horizon", ahead + 1), axis("start", ["rolls", "fair", "loaded"])
    states = np.stack([hmm.predict_states(begins, A, h) for h in range(ahead + 1)])
    faces = np.stack([hmm.predict_symbols(begins, A, B, h) for h in range(ahead + 1)])
    return {
        "predicted_loaded": over(states[..., LOADED], *axes),
        "predicted_six": over(faces[..., SIX], *axes),
        "stationary_loaded": A[0, 1] / (A[0, 1] + A[1, 0]),
        "second_eigenvalue": np.linalg.eigvals(A).real.min(),
        **{name: np.abs(g).max() for name, g in prediction_gaps(belief, A, B, SUMMED).items()},
    }
