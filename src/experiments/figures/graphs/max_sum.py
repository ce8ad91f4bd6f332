"""How far each way of choosing a configuration stays below the maximum."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import panels
from experiments.studies.graphs.max_sum import MaxSum

WAYS = {
    "traced_gap": "back-tracking",
    "nodewise_gap": "each node's best value",
    "icm_gap": "conditional modes",
    "printed_gap": "(8.101) as printed",
}


def draw(study: MaxSum, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, (left, right) = panels(1, 2)
    for name, label in WAYS.items():
        gaps = np.sort(outcome[name].values)
        left.step(gaps, np.arange(1, len(gaps) + 1) / len(gaps), where="post", label=label)
    left.set(xlabel="nats below the maximum", ylabel="share of the draws", ylim=(0, 1.03))
    left.legend(fontsize="small")
    modes = outcome["modes"].values
    right.hist(modes, np.arange(0.5, modes.max() + 1.5), color="C0")
    right.set(xlabel="configurations that are a maximum", ylabel="draws")
    right.xaxis.get_major_locator().set_params(integer=True)
    yield "gaps", figure
