"""Evidence against data sets, those of the simple model first: the sketch of Figure 4, computed."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import shared_legend, subplots
from bythebook.experiments.studies.probability.occam import Occam


def draw(study: Occam, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    p = outcome["probability"]
    figure, (left, right) = subplots(1, 2)
    # By the first model's probability, then by the last one's: simple data sets to the left.
    order = np.lexsort((-p.values[-1], -p.values[0]))
    for i, (name, row) in enumerate(zip(p.coord("model"), p.values, strict=True)):
        left.loglog(np.arange(1, len(order) + 1), row[order], color=f"C{i}", lw=1.2, label=name)
    best = p.values.argmax(axis=0)
    left.set(xlabel="data sets, ordered by the known coin", ylabel="evidence")
    right.bar(range(len(p.values)), np.bincount(best, minlength=len(p.values)), color="C0")
    right.set_xticks(
        range(len(p.values)), [str(n).replace(" of ", "\nof ") for n in p.coord("model")]
    )
    right.set_ylabel(f"sequences of {study.length} for which it is best")
    shared_legend(figure, left, 3)
    yield "evidence", figure
