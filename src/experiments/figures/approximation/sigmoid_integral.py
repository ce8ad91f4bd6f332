"""The mean of a sigmoid under Gaussians, and its approximations."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import shared_legend
from bythebook.experiments.plotting.clustering import panel_grid
from bythebook.experiments.studies.approximation.sigmoid_integral import SigmoidIntegral


def draw(study: SigmoidIntegral, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    shown = sorted(study.variances)[-2:]
    figure, axes = panel_grid(1, len(shown), 0.9, sharey=True)
    order = np.argsort(study.means)
    m = np.array(study.means)[order]
    for ax, v in zip(axes[0], shown, strict=True):
        ax.plot(m, outcome["plug_in"].values[order], color="0.6", label="without uncertainty")
        for name, look, label in (
            ("integral", "k-", "integral"),
            ("moderated", "C0--", "moderated"),
            ("best_bound", "C2:", "best bound"),
        ):
            ax.plot(m, outcome[name].sel(variance=v).values[order], look, label=label)
        if "sampled" in outcome:
            values = outcome["sampled"].sel(variance=v).values[order]
            low, high = np.quantile(values, [0.05, 0.95], axis=-1)
            ax.fill_between(m, low, high, color="C0", alpha=0.15, label="90 % of means of samples")
        ax.set(xlabel="mean of the activation", title=f"variance {v:g}")
    axes[0, 0].set_ylabel("mean of the sigmoid")
    shared_legend(figure, axes[0, 0], 3)
    yield "means", figure
