"""Frequencies of rolls and lengths of runs; errors over the games, and against the lag."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.chains.casino_games import CasinoGames

TITLES = {"filtered": "Filtered", "smoothed": "Smoothed", "viterbi": "Most probable path"}


def draw(study: CasinoGames, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if study.lags:
        yield "lags", _lags(study, outcome)
    yield ("errors", _errors(study, outcome)) if study.decoded else ("games", _games(outcome))


def _games(outcome: Outcome) -> Figure:
    figure, (left, right) = subplots(1, 2)
    counts, shares = outcome["face_counts"], outcome["stay_share"]
    face, step = counts.coord("face"), shares.coord("step")
    some = slice(None, None, max(len(step) // 20, 1))
    for i, name in enumerate(counts.coord("die")):
        place, frequency = face + 0.4 * (i - 0.5), counts.values[i] / max(counts.values[i].sum(), 1)
        left.bar(place, frequency, width=0.38, color=f"C{i}", label=f"{name} die, simulated")
        left.plot(place, outcome["face_probability"].values[i], "_", color="black", markersize=13)
        right.plot(step, outcome["stay_probability"].values[i], color=f"C{i}")
        right.plot(step[some], shares.values[i][some], "o", color=f"C{i}", label=f"{name} die")
    left.plot([], [], "_", color="black", markersize=13, label="the model")
    left.set(xlabel="Face", ylabel="Frequency", xticks=face, title="What a die shows")
    right.set(xlabel="Further rolls", ylabel="Probability", title="The die has not changed")
    left.legend(loc="upper left")
    right.legend()
    return figure


def _errors(study: CasinoGames, outcome: Outcome) -> Figure:
    figure, axes = subplots(3, 1, sharex=True)
    figure.set_size_inches(figure.get_figwidth(), 0.9 * figure.get_figwidth())
    counted = {name: outcome["errors"].sel(estimate=name).values for name in TITLES}
    bins = np.arange(-0.5, max(errors.max() for errors in counted.values()) + 1.5, 3)
    for i, (ax, (name, errors)) in enumerate(zip(axes, counted.items(), strict=True)):
        mean, book = errors.mean(), outcome["book_errors"].sel(estimate=name).item
        weights = np.full(errors.size, 100 / errors.size)
        ax.hist(errors, bins=bins, weights=weights, color=f"C{i}", alpha=0.75)
        ax.axvline(mean, color="black", linestyle=":", label=f"mean {mean:.1f}")
        if study.length == 300:
            ax.axvline(book, color="black", label=f"the book's game: {book}")
        ax.set(ylabel="Games (%)", title=TITLES[name], xlim=(0, None))
        ax.legend(loc="upper right")
    axes[-1].set(xlabel=f"Wrong dice in {study.length} rolls")
    return figure


def _lags(study: CasinoGames, outcome: Outcome) -> Figure:
    filtered, limit = (
        outcome["errors"].sel(estimate=name).values.mean() for name in ("filtered", "smoothed")
    )
    lagged = outcome["lagged_errors"]
    lags, errors = [0, *lagged.coord("lag")], [filtered, *lagged.values.mean(axis=1)]
    figure, ax = subplots()
    ax.axhline(limit, color="C1", linestyle="--", label=f"all rolls (smoothed): {limit:.1f}")
    ax.plot(lags, errors, marker="o", label=f"fixed lag; lag 0 (filtered): {filtered:.1f}")
    ax.set(xlabel="Lag (rolls)", ylabel=f"Mean wrong dice in {study.length} rolls")
    ax.set_xscale("symlog", linthresh=1)
    ax.set_xticks(lags, labels=[str(lag) for lag in lags])
    ax.minorticks_off()
    ax.legend()
    return figure
