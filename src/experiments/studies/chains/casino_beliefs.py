"""Inference of the casino's dice from the rolls of one game (MLAPP 17.4)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.chains import casino, hmm
from bythebook.models.chains.casino import LOADED, SIX
from bythebook.models.types import Floats, Ints

GAMES = ("book", "listing", "simulated")
ROLLS = {"book": 300, "listing": 60}
BATCH = 100  # number of paths whose mode the book's code computes
FEW = 30  # paths that are recorded
STARTS = ["rolls", "fair", "loaded"]  # of predictions: the filtered belief, or a die that is known


@dataclass
class CasinoBeliefs(Study):
    """Filter, smoother and best path of one game; sampled paths (17.4.5); predictions (17.42)."""

    headline = {
        "errors_filtered": "errors['filtered']",
        "errors_smoothed": "errors['smoothed']",
        "errors_viterbi": "errors['viterbi']",
    }
    quantities = {
        "rolls": quantity("face that is rolled", "roll"),
        "truly_loaded": quantity("whether the loaded die is used", "roll"),
        "loaded": quantity("probability of the loaded die", "belief roll"),
        "path_loaded": quantity("whether the most probable path has the loaded die", "roll"),
        "log_evidence": quantity(
            "log probability of the rolls", unit="nats", equation="MLAPP 17.49"
        ),
        "errors": quantity("rolls whose die is wrong", "estimate"),
        "sampled_share": quantity("share of sampled paths with the loaded die", "roll"),
        "batch_share": quantity(f"the same share in the first {BATCH} paths", "roll"),
        "sampled_paths": quantity("whether a sampled path has the loaded die", "path roll"),
        "sampled_switches": quantity("changes of the die in a sampled path", "sample"),
        "expected_switches": quantity("expected number of changes of the die, given the rolls"),
        "independent_switches": quantity("the same for dice drawn one by one from their marginals"),
        "mode_errors": quantity(f"wrong dice of the mode of {BATCH} sampled paths", "batch"),
        "predicted_loaded": quantity("predicted probability of the loaded die", "horizon start"),
        "predicted_six": quantity("predicted probability of a six", "horizon start"),
        "stationary_loaded": quantity("stationary probability of the loaded die"),
    }
    axes = {
        "roll": axis_of("roll"),
        "belief": axis_of("which rolls are known"),
        "estimate": axis_of("estimate of the dice"),
        "path": axis_of("sampled path"),
        "sample": axis_of("sampled path"),
        "batch": axis_of(f"batch of {BATCH} sampled paths"),
        "horizon": axis_of("rolls ahead"),
        "start": axis_of("belief about the last die"),
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
        coords = {"roll": 1 + np.arange(len(rolls)), "belief": ["filtered", "smoothed"]}
        found: dict[str, Any] = {}
        if dice is not None:
            decoded = casino.Decoded(loaded[0], loaded[1], path, log_evidence)
            errors = casino.error_counts(model, casino.Game(dice, rolls), decoded)
            coords["estimate"] = list(errors._fields)
            found["truly_loaded"] = "roll", dice == LOADED
            found["errors"] = "estimate", np.stack(errors)
        if self.samples:
            paths = hmm.sample_posterior(filtered, model.A, self.samples, rng) == LOADED
            coords |= {"path": np.arange(FEW), "sample": np.arange(self.samples)}
            xi = hmm.pairwise_marginals(model.A, posterior)
            found["sampled_share"] = "roll", paths.mean(axis=0)
            found["batch_share"] = "roll", paths[:BATCH].mean(axis=0)
            found["sampled_paths"] = "path roll", paths[:FEW]
            found["sampled_switches"] = "sample", np.sum(paths[:, 1:] != paths[:, :-1], axis=1)
            found["expected_switches"] = xi[:, 0, 1].sum() + xi[:, 1, 0].sum()
            found["independent_switches"] = independent_switches(loaded[1])
            if dice is not None:
                batches = paths[: self.samples // BATCH * BATCH].reshape(-1, BATCH, len(dice))
                coords["batch"] = np.arange(len(batches))
                found["mode_errors"] = "batch", casino.count_errors(batches.mean(axis=1), dice)
        if self.ahead:
            coords |= {"horizon": np.arange(self.ahead + 1), "start": STARTS}
            found |= _predictions(filtered[-1], model.A, model.B, self.ahead)
        return outcome(
            coords,
            rolls=("roll", rolls + 1),
            loaded=("belief roll", loaded),
            path_loaded=("roll", path == LOADED),
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


def independent_switches(loaded: Floats) -> float:
    """Expected number of changes of dice (T,) if they were drawn independently."""
    before, after = loaded[:-1], loaded[1:]
    return float(np.sum(after * (1 - before) + before * (1 - after)))


def _predictions(belief: Floats, A: Floats, B: Floats, ahead: int) -> dict[str, Any]:
    """Predicted dice and sixes, from the belief and from a known last die."""
    begins = np.stack([belief, [1.0, 0.0], [0.0, 1.0]])
    states = np.stack([hmm.predict_states(begins, A, h) for h in range(ahead + 1)])
    faces = np.stack([hmm.predict_symbols(begins, A, B, h) for h in range(ahead + 1)])
    return {
        "predicted_loaded": ("horizon start", states[..., LOADED]),
        "predicted_six": ("horizon start", faces[..., SIX]),
        "stationary_loaded": A[0, 1] / (A[0, 1] + A[1, 0]),
    }
