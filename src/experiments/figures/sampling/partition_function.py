"""Direct estimates of a ratio as draws grow in number, and chained ones."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.sampling.partition_function import WAYS, PartitionFunction


def draw(study: PartitionFunction, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, (left, right) = subplots(1, 2)
    exact = outcome["exact_log_ratio"].values
    for k, width in enumerate(study.widths):
        off = np.abs(outcome["log_direct"].values[k] - exact[k]).mean(-1)
        left.loglog(study.samples, off, "o-", ms=4, lw=1, label=f"G of width {width:g}")
    left.set(xlabel="samples L", ylabel="mean error of the log ratio", title="directly")
    left.legend(fontsize="small")
    off = np.abs(outcome["log_ratio"].values - exact[-1]).mean(-1)  # (way, ratios, steps)
    for w, way in enumerate(WAYS):
        for s, steps in enumerate(study.steps):
            look = {"ls": "-" if w == 0 else "--", "color": f"C{s % 8}", "marker": "o", "ms": 4}
            right.plot(study.ratios, off[w, :, s], lw=1, label=f"{way}, {steps} samples", **look)
    right.set(
        xlabel="ratios",
        ylabel="mean error of the log ratio",
        xscale="log",
        yscale="log",
        title=f"chained, from width {study.widths[-1]:g}",
    )
    right.set_xticks(study.ratios, [str(K) for K in study.ratios])
    right.minorticks_off()
    right.legend(fontsize="small")
    yield "ratios", figure
