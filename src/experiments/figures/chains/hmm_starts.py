"""The objective by iteration, and the final gap to the best run, by start."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import shared_legend, subplots
from bythebook.experiments.studies.chains.hmm_starts import HmmStarts
from bythebook.models.chains.named_starts import ONCE


def draw(study: HmmStarts, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, (left, right) = subplots(1, 2)
    best, kinds = outcome["best"].values, study.starts
    for i, kind in enumerate(kinds):
        curves = outcome["objective"].sel(start=kind)
        ran = slice(1, np.sum(np.isfinite(curves.values).any(axis=0)))
        look: dict[str, Any] = {"color": f"C{i % 8}", "alpha": 0.7}
        dash = "-" if i < 8 else "--"
        drawn = curves.values[:, ran].T
        left.plot(curves.coord("iteration")[ran], drawn, dash, linewidth=0.9, **look)
        left.plot([], [], dash, color=f"C{i % 8}", label=kind)
        row = len(kinds) - 1 - i
        final = outcome["final"].sel(start=kind).values
        gap = (best[:, None] - (final[:, :1] if kind in ONCE else final)).ravel()
        height = row + np.linspace(-0.3, 0.3, gap.size) if gap.size > 1 else [row]
        right.plot(np.maximum(gap, 0), height, ".", **look)
        place = {"va": "center", "transform": right.get_yaxis_transform()}
        right.text(1.02, row, f"{np.mean(gap < 1):.0%}", **place)
    top, low = best[0], np.nanmin(outcome["final"].sel(sequence=0).values)
    room = 0.05 * (top - low) + 0.5
    what = "Log posterior" if study.regularised else "Log likelihood"
    left.set(xlabel="EM iteration", ylabel=f"{what} (nats)", xscale="log")
    left.set(ylim=(low - 4 * room, top + room), title="One data set, by iteration")
    left.xaxis.set_major_formatter("{x:.0f}")
    right.axvline(1, color="0.4", linestyle=":", linewidth=1)
    right.set_xscale("symlog", linthresh=1)
    right.set(xlabel="End below the best (nats)", xlim=(-0.05, None), ylim=(-0.6, len(kinds) - 0.4))
    right.set_title("All runs; share within 1 nat")
    right.set_yticks(range(len(kinds)), labels=kinds[::-1])
    right.xaxis.set_major_formatter("{x:g}")
    shared_legend(figure, left, 4)
    yield "starts", figure
