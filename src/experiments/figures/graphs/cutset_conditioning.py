"""The graph with its cutsets, and errors of weighted and of plain averages."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting import graphs
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.graphs._scopes import names, split
from bythebook.experiments.studies.graphs.cutset_conditioning import CutsetConditioning


def draw(study: CutsetConditioning, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, (left, right) = subplots(1, 2)
    places = graphs.circular_layout(names(study.factors))
    scopes = [split(scope)[0] for scope in study.factors]
    graphs.links(left, places, [(a, b) for of in scopes for a in of for b in of if a < b])
    graphs.nodes(left, places, study.observed)
    loops = dict(zip(study.cutsets, outcome["loops"].values, strict=True))
    left.set_title(
        "loops left: " + ", ".join(f"{count} given {name}" for name, count in loops.items()),
        fontsize="small",
    )
    rows = [
        (name, kind)
        for name in outcome["error"].axes[0].values
        for kind in ("error", "unweighted_error")
    ]
    for row, (name, kind) in enumerate(rows):
        values = np.maximum(outcome[kind].sel(used=name).values, 1e-18)
        right.plot(
            values, np.full(len(values), row), "|", ms=12, color="C0" if kind == "error" else "C1"
        )
    labels = [
        f"{name}, {'weighted' if kind == 'error' else 'plain average'}" for name, kind in rows
    ]
    right.set_yticks(range(len(rows)), labels)
    right.set(
        xscale="log", xlim=(1e-18, 1), xlabel="largest error of a belief, a mark for each draw"
    )
    right.invert_yaxis()
    yield "cutsets", figure
