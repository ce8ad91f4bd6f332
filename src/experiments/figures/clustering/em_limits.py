"""How far EM is from K-means as epsilon falls, and the expected complete log likelihood."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import panels
from experiments.drawing.clusters import legend_below
from experiments.studies.clustering.em_limits import EmLimits


def draw(study: EmLimits, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    complete, J = outcome["expected_complete"], outcome["distortion"].values[-1]
    epsilon = complete.along("epsilon")
    figure, axes = panels(1, 2)
    for name, mark, label in (
        ("difference", "o", "largest distance from the K-means centres"),
        ("label_doubt", "s", "largest doubt about a label"),
    ):
        values = np.maximum(outcome[name].values.max(axis=1), 1e-17)
        axes[0].plot(epsilon, values, marker=mark, label=label)
    axes[0].set(xscale="log", yscale="log", ylabel="Difference from K-means")
    legend_below(axes[0], 1)
    axes[1].plot(epsilon, epsilon * complete.values, marker="o", label="ε E[ln p(X, Z)]")
    axes[1].axhline(-J / 2, color="C1", linestyle="--", label="-J / 2")
    axes[1].set(xscale="log", ylabel="Natural log units times ε", ylim=(-1.5 * J, 0))
    legend_below(axes[1], 2)
    for ax in axes:
        ax.set_xlabel("Variance ε of the components")
        ax.invert_xaxis()
    yield "limit", figure
