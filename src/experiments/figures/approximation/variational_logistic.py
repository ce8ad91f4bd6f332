"""Predictions in the plane, and boundaries of sampled weights."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.clustering import panel_grid
from bythebook.experiments.studies.approximation.variational_logistic import VariationalLogistic


def draw(study: VariationalLogistic, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, axes = panel_grid(1, 2, 1.0, sharex=True, sharey=True)
    left, right = axes[0]
    p, x, t = outcome["predictive"], outcome["place"].values, outcome["class_of"].values
    one, two = p.coord("x_1"), p.coord("x_2")
    levels = [0.01, 0.25, 0.5, 0.75, 0.99]
    lines = left.contour(one, two, p.values.T, levels, cmap="coolwarm_r", linewidths=1.4)
    left.clabel(lines, fontsize="x-small")
    for b, *slope in outcome["sampled_weights"].values:
        right.plot(one, -(b + slope[0] * one) / slope[1], color="0.4", lw=1.2)
    for ax in (left, right):
        for k, marker in enumerate("os"):
            ax.plot(*x[t == k].T, marker, color=f"C{3 * (1 - k)}", ms=5, mec="white", mew=0.5)
        ax.set(xlabel="$x_1$", xlim=(one[0], one[-1]), ylim=(two[0], two[-1]))
    left.set(ylabel="$x_2$", title="predictive distribution")
    right.set_title("five samples of the weights")
    yield "predictive", figure
