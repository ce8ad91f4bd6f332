"""Targets and proposals, and the effective number of draws."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import merged_legend, subplots
from bythebook.experiments.studies.sampling.weighted_samples import WeightedSamples
from bythebook.models.sampling.importance import proposal

STYLES = ("-", "--", ":", "-.")


def draw(study: WeightedSamples, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, (left, right) = subplots(1, 2)
    density = outcome["density"]
    z = density.coord("z")
    left.plot(z, density.values[0], color="black", label=f"target: {study.targets[0]}")
    sizes = np.array(study.sizes)
    for k, name in enumerate(study.proposals):
        mean, sd = proposal(name)
        q = np.exp(-(((z - mean) / sd) ** 2) / 2) / (sd * np.sqrt(2 * np.pi))
        left.plot(z, q, "--", lw=1, color=f"C{k % 8}", label=f"proposal {name}")
        for t in range(len(study.targets)):
            worth = outcome["effective_size"].values[t, k].mean(-1) / sizes
            look = f"{STYLES[t % 4]}o"
            right.plot(sizes, worth, look, ms=4, lw=1, color=f"C{k % 8}")
    for t, name in enumerate(study.targets):
        right.plot([], [], STYLES[t % 4], color="0.4", lw=1, label=f"on {name}")
    left.set(xlabel="z", ylabel="density")
    right.set(xlabel="draws L", ylabel="effective size over L", xscale="log", yscale="log")
    merged_legend(figure, (left, right), 4)
    yield "weights", figure
