"""The posterior of a coin against its weight, and the cost against the number of settings."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.graphs.weighted_coins import WeightedCoins


def draw(study: WeightedCoins, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, (left, right) = subplots(1, 2)
    posterior = outcome["weight_posterior"]
    weight = posterior.coord("weight")
    for k, row in enumerate(posterior.values[1:]):
        left.plot(weight, row, ".", color="0.6", label="weights drawn" if k == 0 else None)
    there = np.isfinite(posterior.values[0])
    cycle = f"weights {', '.join(map(str, study.weights[:1]))} to {max(study.weights)} in turn"
    left.plot(weight[there], posterior.values[0][there], "o-", color="C0", label=cycle)
    left.axhline(0.5, color="0.4", lw=1, ls=":", label="before the sum was known")
    left.set(xlabel="weight of a coin", ylabel=f"P(heads | sum = {study.total})", ylim=(0, 1))
    left.set_xticks(weight)
    left.legend()

    bits = {
        f"all settings of {study.coins} coins": float(study.coins),
        f"settings that sum to {study.total}": float(outcome["log2_ways"].values[0]),
        "additions made": float(np.log2(outcome["additions"].values[0])),
    }
    right.barh(list(bits), list(bits.values()), 0.5, color=["0.7", "C1", "C0"])
    right.invert_yaxis()
    right.set(xlabel="number, as a power of two")
    right.grid(axis="y", visible=False)
    yield "posterior", figure
