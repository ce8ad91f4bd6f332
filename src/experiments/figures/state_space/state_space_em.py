"""Gap of each start of EM to the best end, by iteration, for the first series."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.state_space.state_space_em import StateSpaceEm

LOOKS = {"random": ("C0", "-"), "identity": ("C2", "--"), "subspace": ("C1", "-")}


def draw(study: StateSpaceEm, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    gap = np.maximum(outcome["gap"].values, 1e-3)  # the best end itself is at 0
    kinds = np.array([name.split()[0] for name in outcome["gap"].coord("start")])
    figure, axes = subplots(1, min(3, len(gap)), squeeze=False, sharey=True)
    if len(gap) > 1:
        figure.set_size_inches(*(figure.get_size_inches() * (0.7, 0.9)))
    for k, ax in enumerate(axes[0]):
        for kind, (colour, dash) in LOOKS.items():
            mine = gap[k, kinds == kind]
            several = len(mine) > 1
            ax.plot(mine.T, dash, color=colour, linewidth=1.2 if several else 2)
            ax.plot([], [], dash, color=colour, label=f"{kind} start{'s' * several}")
        ax.set(xlabel="EM iterations", yscale="log", title=f"series {k + 1}")
    axes[0, 0].set_ylabel("log likelihood below the best end (nats)")
    axes[0, 0].set_ylim(bottom=0.05)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    yield "climb", figure
