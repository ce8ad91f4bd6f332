"""Activation functions with their slopes; errors of finite differences."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.networks.backpropagation import Backpropagation


def draw(study: Backpropagation, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, (left, right) = subplots(1, 2)
    activation = outcome["activation"]
    a = activation.coord("a")
    for k, name in enumerate(activation.coord("kind").tolist()):
        left.plot(a, activation.sel(kind=name).values, color=f"C{k}", label=name)
        left.plot(a, outcome["slope"].sel(kind=name).values, "--", color=f"C{k}")
    left.set(xlabel="a", ylabel="g(a); dashed: its slope")
    left.legend()
    gap = np.maximum(outcome["gradient_gap"].values.max((1, 3)), 1e-17)
    names = [str(name) for name in outcome["gradient_gap"].coord("output")]
    for k, row in enumerate(gap):
        right.plot(np.full(len(row), k), row, "o", alpha=0.4)
    right.set_xticks(range(len(names)), names)
    right.set(yscale="log", ylabel="largest gap to differences, relative", xlim=(-0.5, 2.5))
    yield "gradients", figure
