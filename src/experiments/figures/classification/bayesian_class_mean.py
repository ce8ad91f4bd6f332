"""The likelihood of a class along a line, for means from more and more points."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import shared_legend, subplots
from bythebook.experiments.studies.classification.bayesian_class_mean import BayesianClassMean


def draw(study: BayesianClassMean, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, axes = subplots(1, 2, sharey=True)
    likelihood = outcome["likelihood"]
    for ax, how in zip(axes, likelihood.coord("mean"), strict=True):
        for k, n in enumerate(study.sizes):
            curve, style = likelihood.sel(mean=how, seen=n), ("-", "--", "-.", ":")[k % 4]
            ax.plot(curve.coord("x1"), curve.values, style, color=f"C{k}", label=f"{n} points")
        title = "Mean averaged out" if how == "averaged" else "Mean estimated"
        ax.set(xlabel=f"$x_1$ (at $x_2$ = {study.at[1]:g})", title=title)
    axes[0].set(ylabel=f"Likelihood of class {study.of_class}", ylim=(0, None))
    shared_legend(figure, axes[0], len(study.sizes))
    yield "likelihood", figure
