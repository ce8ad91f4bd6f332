"""Beliefs about each die of a game; sampled paths under their marginals; predictions."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.chains.casino_beliefs import BATCH, CasinoBeliefs


def draw(study: CasinoBeliefs, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if study.samples:
        yield "samples", _samples(outcome)
    if study.ahead:
        yield "prediction", _prediction(study, outcome)
    if not study.samples and not study.ahead:
        yield "decoding", _decoding(outcome)


def _decoding(outcome: Outcome) -> Figure:
    beliefs, path = outcome["loaded"], outcome["path_loaded"]
    rows: dict[str, tuple[Any, str, str]] = {
        "filtered": (beliefs.sel(belief="filtered"), "Filtered", "p(loaded | rolls so far)"),
        "smoothed": (beliefs.sel(belief="smoothed"), "Smoothed", "p(loaded | all rolls)"),
        "viterbi": (path, "Most probable path", "Die"),
    }
    figure, axes = subplots(3, 1, sharex=True, height_ratios=[1, 1, 0.7])
    figure.set_size_inches(figure.get_figwidth(), 0.95 * figure.get_figwidth())
    known = "errors" in outcome
    for ax, (name, (y, title, label)) in zip(axes, rows.items(), strict=True):
        _shade_loaded(ax, outcome)
        if known:
            title += f": {outcome['errors'].sel(estimate=name).item} of {len(y)} wrong"
        elif name == "viterbi":  # the die may be the same throughout
            title += f": loaded in {np.count_nonzero(y.values)} of {len(y)} rolls"
        roll = path.coord("roll")
        if name == "viterbi":
            ax.fill_between(roll, y.values, step="mid", color="C0", alpha=0.35, linewidth=0)
            ax.plot(roll, y.values, color="C0", linewidth=1.8, drawstyle="steps-mid")
        else:
            ax.plot(roll, y.values, color="C0", linewidth=1.2)
        ax.set(ylabel=label, title=title, ylim=(-0.04, 1.04), xlim=(0, len(y) + 1))
    axes[-1].set_yticks([0, 1], labels=["fair", "loaded"])
    axes[-1].set_ylim(-0.12, 1.12)
    axes[-1].set(xlabel="Roll number" + " (grey: the loaded die was used)" * known)
    return figure


def _samples(outcome: Outcome) -> Figure:
    smoothed, paths = outcome["loaded"].sel(belief="smoothed"), outcome["sampled_paths"]
    roll, length = smoothed.coord("roll"), len(smoothed)
    figure, (top, bottom) = subplots(2, 1, sharex=True)
    figure.set_size_inches(figure.get_figwidth(), 0.8 * figure.get_figwidth())
    _shade_loaded(top, outcome)
    top.plot(roll, smoothed.values, label="smoothed marginal")
    look: dict[str, Any] = {"color": "C1", "markersize": 4, "label": f"{BATCH} sampled paths"}
    top.plot(roll, outcome["batch_share"].values, ".", **look)
    top.set(ylabel="p(loaded | all rolls)", ylim=(-0.04, 1.04), xlim=(0, length + 1))
    top.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    bottom.imshow(
        paths.values.astype(np.int8), aspect="auto", interpolation="nearest", cmap="Greys",
        vmin=0, vmax=1.6, extent=(0.5, length + 0.5, len(paths) + 0.5, 0.5),
    )  # fmt: skip
    bottom.grid(visible=False)
    bottom.set(ylabel="Sampled path", xlabel="Roll number (grey: loaded)")
    return figure


def _prediction(study: CasinoBeliefs, outcome: Outcome) -> Figure:
    figure, axes = subplots(1, 2)
    begins = [f"after {study.length} rolls", "fair die seen", "loaded die seen"]
    loaded, six = outcome["predicted_loaded"], outcome["predicted_six"]
    limits = outcome["stationary_loaded"].item, six.values[-1, 0]
    labels = "p(loaded die)", "p(six)"
    for ax, curves, limit, label in zip(axes, (loaded, six), limits, labels, strict=True):
        for line, curve, begin in zip(("-", "--", "-."), curves.values.T, begins, strict=True):
            ax.plot(curves.coord("horizon"), curve, line, label=begin)
        ax.axhline(limit, color="0.4", linewidth=0.9, linestyle=":", label=f"limit {limit:.3f}")
        ax.set(xlabel="Horizon (rolls ahead)", ylabel=label)
        ax.legend()
    return figure


def _shade_loaded(ax: Axes, outcome: Outcome) -> None:
    """Grey bars where the loaded die was used, as in MLAPP Figure 17.10."""
    if "truly_loaded" not in outcome:
        return
    edges = np.diff(outcome["truly_loaded"].values.astype(int), prepend=0, append=0)
    for start, stop in np.flatnonzero(edges).reshape(-1, 2):
        ax.axvspan(start + 0.5, stop + 0.5, color="0.82", linewidth=0)
