"""Errors of labelled estimates against the length, with the expected rate."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.chains.labelled_training import LabelledTraining

TITLES = {"transitions": "Transition probabilities", "emissions": "Emissions"}
UNITS = {"casino": "probability of a face", "lilypad": "mean, in standard deviations"}


def draw(study: LabelledTraining, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, axes = subplots(1, 2, sharex=True)
    for ax, (part, title) in zip(axes, TITLES.items(), strict=True):
        for i, chain in enumerate(study.chains):
            errors = outcome["rms_error"].sel(chain=chain, part=part)
            lengths, values = errors.coord("length"), errors.values
            label = chain if part == "transitions" else f"{chain}: {UNITS[chain]}"
            ax.loglog(lengths, values, "so"[i % 2], color=f"C{i}", label=label)
            guide = values[-1] * np.sqrt(lengths[-1] / lengths)
            ax.loglog(lengths, guide, "--", color=f"C{i}", linewidth=1)
        ax.plot([], [], "--", color="0.4", linewidth=1, label="as 1 / √T")
        ax.set(xlabel="Labelled steps T", ylabel="Root mean square error", title=title)
        ax.legend(loc="lower left")
    yield "errors", figure
