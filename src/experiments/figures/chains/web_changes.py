"""The place of a page as its farm grows, by PageRank and by counting links; restarts."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.chains.web_changes import WebChanges

PLACES = {"target_place": "by PageRank", "counted_place": "by number of links"}


def draw(study: WebChanges, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, (left, right) = subplots(1, 2)
    farms = outcome["target_place"].coord("farm")
    across = np.arange(len(farms))
    for k, (name, words) in enumerate(PLACES.items()):
        places = outcome[name].values
        left.plot(across, places.T, color=f"C{k}", lw=0.4, alpha=0.5)
        left.plot(across, np.median(places, axis=0), "o-", color=f"C{k}", label=words)
    left.set_xticks(across, [f"{size:,}" for size in farms])
    left.set(xlabel="pages of the farm", ylabel="place, 1 is best; median", yscale="log")
    left.invert_yaxis()
    left.legend()
    old, new = (outcome[f"{name}_iterations"].values for name in ("restart", "fresh"))
    right.plot(new, old, "o", alpha=0.5)
    ends = [0, max(new.max(), old.max()) * 1.05]
    right.plot(ends, ends, color="0.6", lw=1)
    right.set(xlabel="steps from a uniform start", ylabel="steps from the old ranks")
    yield "changes", figure
