"""One sequence of averages as samples are added, and the error of many with its theory."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import merged_legend, subplots
from bythebook.experiments.studies.sampling.monte_carlo import HITS, OTHERS, MonteCarlo

NAMES = {"square": "y²", "sine": "sin y"}


def draw(study: MonteCarlo, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, axes = subplots(1, 2)
    hits = study.function in HITS
    way = _hits if hits else _ratios if study.function in OTHERS else _average
    way(axes, study, outcome)
    for ax in axes:
        ax.set(xscale="log", xlabel="throws S" if hits else "samples S")
        if way is not _ratios:
            ax.legend(loc="best" if hits else "upper right")
    if way is _ratios:
        merged_legend(figure, axes, 4)
    axes[1].set(ylabel="root mean square error", yscale="log")
    yield "convergence", figure


def _average(axes: Any, study: MonteCarlo, outcome: Outcome) -> None:
    sizes, name = outcome["rms_error"].coord("size"), NAMES[study.function]
    exact, one = outcome["exact"].values[0], outcome["estimate"].values[0, 0]
    rms, sd = outcome["rms_error"].values[0], outcome["error_sd"].values[0]
    axes[0].fill_between(sizes, exact - 2 * sd, exact + 2 * sd, alpha=0.2, linewidth=0)
    axes[0].plot(sizes, one, color="C0", label="one sequence")
    axes[0].axhline(exact, color="black", linestyle="--", label=f"exact, {exact:.4f}")
    reach = 1.15 * np.max(np.abs(one - exact))
    axes[0].set(ylim=(exact - reach, exact + reach), ylabel=f"average of {name}")
    axes[1].plot(sizes, rms, "o", markersize=3, label=f"{study.sequences} sequences")
    axes[1].plot(sizes, sd, color="black", linestyle="--", label=f"sd({name}) / √S")


def _ratios(axes: Any, study: MonteCarlo, outcome: Outcome) -> None:
    """Several expectations, each over its exact value."""
    sizes = outcome["rms_error"].coord("size")
    for k, name in enumerate(outcome["exact"].coord("expectation")):
        colour, exact = f"C{k % 8}", outcome["exact"].values[k]
        axes[0].plot(sizes, outcome["estimate"].values[k, 0] / exact, color=colour, label=name)
        axes[1].plot(sizes, outcome["rms_error"].values[k] / exact, "o", color=colour, ms=3)
        axes[1].plot(sizes, outcome["error_sd"].values[k] / exact, "--", color=colour, lw=1)
    axes[0].axhline(1, color="black", linestyle=":", linewidth=1.2)
    axes[0].set(ylabel="average over exact value")
    axes[1].plot([], [], "o", color="black", ms=3, label=f"{study.sequences} sequences, relative")
    axes[1].plot([], [], "--", color="black", lw=1, label="independent samples")


def _hits(axes: Any, study: MonteCarlo, outcome: Outcome) -> None:
    sizes = outcome["rms_error"].coord("size")
    for k, name in enumerate(outcome["exact"].coord("expectation")):
        colour = f"C{k % 8}"
        label = name if study.function == "double-20" else f"{study.times:g} × share"
        axes[0].plot(sizes, outcome["estimate"].values[k, 0], color=colour, label=label)
        axes[0].axhline(outcome["exact"].values[k], color=colour, linestyle=":", linewidth=1.2)
        axes[1].plot(sizes, outcome["rms_error"].values[k], "o", color=colour, markersize=3)
        axes[1].plot(sizes, outcome["error_sd"].values[k], "--", color=colour, linewidth=1)
    axes[0].set(ylabel="estimate" if study.times != 1 else "share of throws that hit")
    axes[0].plot([], [], ":", color="black", label="exact")
    axes[1].plot([], [], "o", color="black", markersize=3, label=f"{study.sequences} sequences")
    axes[1].plot([], [], "--", color="black", linewidth=1, label="√(P (1 − P) / S)")
