"""Updates as printed and corrected against exact moments; one pass against the prior."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.clustering import panel_grid
from bythebook.experiments.studies.approximation.online_logistic import OnlineLogistic


def draw(study: OnlineLogistic, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, axes = panel_grid(1, 2, 0.9)
    left, right = axes[0]
    gaps = outcome["update_gap"]
    for k, name in enumerate(gaps.coord("form")):
        values = np.sort(np.maximum(gaps.sel(form=name).values, 1e-16))
        left.semilogx(
            values, np.arange(1, len(values) + 1) / len(values), color=f"C{3 - 3 * k}", label=name
        )
    left.set(xlabel="largest error of a mean or variance", ylabel="share of updates")
    left.legend(loc="center left")
    before, after = outcome["prior_error"].values, outcome["online_error"].values
    right.plot(before, after, "o", ms=4)
    right.set(
        xlabel="distance of the prior's mean", ylabel="distance after one pass", ylim=(0, None)
    )
    yield "updates", figure
