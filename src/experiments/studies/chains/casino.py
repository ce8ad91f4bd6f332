"""The occasionally dishonest casino: its games, and whose die it was (MLAPP 17.4.1)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar
from experiments.contract.study import Study, knob
from models.chains.casino import (
    FAIR,
    LOADED,
    SIX,
    Game,
    book_game,
    casino,
    decode,
    error_counts,
    listing_rolls,
    simulate,
)
from models.types import AnyArray, Floats, Ints

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DIE = {"fair": FAIR, "loaded": LOADED}
GAMES = ("book", "listing", "simulated")


@dataclass
class CasinoGames(Study):
    """What games are made of: the faces of each die, and how long a die stays (MLAPP Fig 17.9)."""

    six: float = knob(0.5, "the loaded die's probability of a six", at_least=0, at_most=1)
    switching: float = knob(1.0, "how often dice change; 1 is the book", above=0, at_most=10)
    games: int = knob(2000, "games to simulate", at_least=1, at_most=100_000)
    length: int = knob(300, "rolls of a game", at_least=2, at_most=100_000)

    def run(self, rng: Generator) -> Outcome:
        model = casino(self.six, self.switching)
        dice, rolls = simulate(model, self.games, self.length, rng)
        share = float(np.mean(dice == LOADED))
        faces = np.stack([np.bincount(rolls[dice == die], minlength=6) for die in DIE.values()])
        thrown = np.maximum(faces.sum(axis=1, keepdims=True), 1)
        frequency = faces / thrown
        steps = np.arange(1, max(self.length // 5, 2))
        stays = np.stack([_stays(dice, die, steps) for die in DIE.values()])
        runs = {name: _mean_run(dice, die) for name, die in DIE.items()}
        # Each face within 4.5 standard errors: 1 in 150,000 would not be by chance.
        near = np.abs(frequency - model.B) <= 4.5 * np.sqrt(model.B * (1 - model.B) / thrown)
        metrics: dict[str, Scalar] = {
            "stationary_loaded": float(_stationary(model.A)[LOADED]),
            "share_loaded": share,
            "fair_die_is_uniform": bool(near[FAIR].all() and np.ptp(model.B[FAIR]) == 0),
            "loaded_die_favours_six": bool(np.argmax(faces[LOADED]) == SIX),
            "fair_most_of_the_time": share < 0.5,
            "loaded_stays_shorter": runs["loaded"] < runs["fair"],
        }
        for name, die in DIE.items():
            metrics[f"expected_run_{name}"] = float(1 / (1 - model.A[die, die]))
            metrics[f"run_{name}"] = runs[name]
            metrics[f"six_frequency_{name}"] = float(frequency[die, SIX])
        expected = model.A[[FAIR, LOADED], [FAIR, LOADED]][:, None] ** steps
        return Outcome(
            metrics,
            tables={"faces": {"face": np.arange(1, 7), **dict(zip(DIE, frequency, strict=True))}},
            arrays={"B": model.B, "steps": steps, "stays": stays, "expected_stays": expected},
        )

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        figure, (left, right) = panels(1, 2)
        faces, arrays = outcome.tables["faces"], outcome.arrays
        for i, name in enumerate(DIE):
            place = np.array(faces["face"]) + 0.4 * (i - 0.5)
            left.bar(place, faces[name], width=0.38, color=f"C{i}", label=f"{name} die, simulated")
            left.plot(place, arrays["B"][i], "_", color="black", markersize=13)
            right.plot(arrays["steps"], arrays["expected_stays"][i], color=f"C{i}")
            some = slice(None, None, max(len(arrays["steps"]) // 20, 1))
            stays = arrays["stays"][i][some]
            right.plot(arrays["steps"][some], stays, "o", color=f"C{i}", label=f"{name} die")
        left.plot([], [], "_", color="black", markersize=13, label="the model")
        left.set(xlabel="Face", ylabel="Frequency", xticks=faces["face"], title="What a die shows")
        right.set(xlabel="Further rolls", ylabel="Probability", title="The die has not changed")
        left.legend(loc="upper left")
        right.legend()
        return {"games": figure}


@dataclass
class CasinoDecoding(Study):
    """Which die was it? Filter, smoother and most probable path for one game (MLAPP Fig 17.10)."""

    game: str = knob("book", "rolls of Fig 17.10, of Listing 17.1, or simulated", choices=GAMES)
    length: int = knob(300, "how many of its rolls, from the first", at_least=2, at_most=100_000)
    six: float = knob(0.5, "probability of a six that the decoder assumes", at_least=0, at_most=1)
    switching: float = knob(1.0, "how often it thinks dice change", above=0, at_most=10)

    def problems(self) -> "Iterator[str]":
        longest = {"book": 300, "listing": 60}.get(self.game, self.length)
        if self.length > longest:
            yield f"study.length={self.length}: the {self.game} game has {longest} rolls"

    def run(self, rng: Generator) -> Outcome:
        model = casino(self.six, self.switching)
        rolls, dice = self._rolls(rng)
        decoded = decode(model, rolls)
        estimates: dict[str, AnyArray] = {
            "filtered": decoded.filtered,
            "smoothed": decoded.smoothed,
            "viterbi": decoded.viterbi,
        }
        metrics: dict[str, Scalar] = {
            "rolls": len(rolls),
            "sixes": int(np.sum(rolls == SIX)),
            "log_evidence": float(decoded.log_evidence),
            "filtered_last": float(decoded.filtered[-1]),
            "smoothed_first": float(decoded.smoothed[0]),
        }
        for name, loaded in estimates.items():
            metrics[f"called_loaded_{name}"] = int(np.sum(loaded > 0.5))
        marginals = ("filtered", "smoothed")
        variation = [float(np.abs(np.diff(estimates[name])).sum()) for name in marginals]
        uncertainty = [float(_entropy(estimates[name]).mean()) for name in marginals]
        for i, name in enumerate(marginals):
            metrics[f"total_variation_{name}"] = variation[i]
            metrics[f"uncertainty_{name}"] = uncertainty[i]  # bits a roll
        metrics["smoothed_is_smoother"] = variation[1] < variation[0]
        metrics["smoothing_reduces_uncertainty"] = uncertainty[1] < uncertainty[0]
        arrays: dict[str, AnyArray] = {"rolls": rolls, **estimates}
        if dice is not None:
            errors = error_counts(model, Game(dice, rolls), decoded)._asdict()
            metrics |= {f"errors_{name}": int(count) for name, count in errors.items()}
            metrics["smoothing_beats_viterbi"] = bool(errors["smoothed"] < errors["viterbi"])
            metrics["viterbi_beats_filtering"] = bool(errors["viterbi"] < errors["filtered"])
            metrics["loaded_rolls"] = int(np.sum(dice == LOADED))
            metrics["switches"] = int(np.sum(np.diff(dice) != 0))
            arrays["dice"] = dice
        return Outcome(metrics, arrays=arrays)

    def _rolls(self, rng: Generator) -> tuple[Ints, Ints | None]:
        if self.game == "listing":  # its row of dice is lost
            return listing_rolls()[: self.length], None
        if self.game == "book":
            dice, rolls = book_game()
        else:
            dice, rolls = (row[0] for row in simulate(casino(), 1, self.length, rng))
        return rolls[: self.length], dice[: self.length]

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        names = {
            "filtered": ("Filtered", "p(loaded | rolls so far)"),
            "smoothed": ("Smoothed", "p(loaded | all rolls)"),
            "viterbi": ("Most probable path", "Die"),
        }
        figure, axes = panels(3, 1, sharex=True)
        figure.set_size_inches(figure.get_figwidth(), 0.95 * figure.get_figwidth())
        for ax, (name, (title, label)) in zip(axes, names.items(), strict=True):
            shade_loaded(ax, outcome.arrays.get("dice"))
            y = outcome.arrays[name]
            wrong = outcome.metrics.get(f"errors_{name}")
            counted = "" if wrong is None else f": {wrong} of {len(y)} wrong"
            style: dict[str, Any] = {"drawstyle": "steps-mid"} if name == "viterbi" else {}
            ax.plot(np.arange(1, len(y) + 1), y, linewidth=1.2, **style)
            ax.set(ylabel=label, title=title + counted, ylim=(-0.04, 1.04), xlim=(0, len(y) + 1))
        axes[-1].set_yticks([FAIR, LOADED], labels=list(DIE))
        shaded = " (grey: the loaded die was used)" if "dice" in outcome.arrays else ""
        axes[-1].set(xlabel=f"Roll number{shaded}")
        return {"decoding": figure}


def shade_loaded(ax: "Axes", dice: Ints | None) -> None:
    """Grey bars where the loaded die was used, as in MLAPP Figure 17.10."""
    if dice is None:
        return
    edges = np.flatnonzero(np.diff(np.concatenate([[FAIR], dice, [FAIR]])))
    for start, stop in edges.reshape(-1, 2):
        ax.axvspan(start + 0.5, stop + 0.5, color="0.82", linewidth=0)


def _stationary(A: Floats) -> Floats:
    """The distribution p with p A = p, by least squares with the sum as one more equation."""
    K = len(A)
    equations = np.vstack([A.T - np.eye(K), np.ones(K)])
    return np.asarray(np.linalg.lstsq(equations, np.eye(K + 1)[K])[0])


def _mean_run(dice: Ints, die: int) -> float:
    """Rolls per change of a die: runs that the end of a game cuts off count as far as they went."""
    visits = dice[:, :-1] == die
    leaves = np.sum(visits & (dice[:, 1:] != die))
    return float(visits.sum() / leaves) if leaves else np.inf


def _stays(dice: Ints, die: int, steps: Ints) -> Floats:
    """The share of visits to a die after which it was kept for so many rolls."""
    starts = dice[:, : dice.shape[1] - steps[-1]] == die
    shares, width = [], starts.shape[1]
    kept = starts.copy()
    for step in steps:
        kept &= dice[:, step : step + width] == die
        shares.append(kept.sum() / max(starts.sum(), 1))
    return np.array(shares)


def _entropy(p: Floats) -> Floats:
    """The entropy of a coin with probability p, in bits."""
    q = np.stack([p, 1 - p])
    return np.asarray(-np.sum(q * np.log2(np.where(q > 0, q, 1.0)), axis=0))
