"""Fitted functions with their hidden units; errors against evaluations of the gradient."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.networks.network_fit import NetworkFit


def draw(study: NetworkFit, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, axes = subplots(1, len(study.targets), squeeze=False)
    for ax, name in zip(axes[0], study.targets, strict=True):
        data, fit = outcome["data"].sel(target=name), outcome["fit"].sel(target=name)
        hidden = outcome["hidden_output"].sel(target=name).values
        ax.plot(data.coord("x"), hidden.T, "--", color="0.6", lw=0.8)
        ax.plot(data.coord("x"), data.values, ".", ms=4)
        ax.plot(fit.coord("x"), fit.values, "C1")
        ax.set(title=name, xlabel="x")
    axes[0, 0].set_ylabel("target and fit; dashed: hidden units")
    yield "fits", figure
    if study.methods:
        figure, ax = subplots()
        course = outcome["median_error"]
        for name in study.methods:
            ax.loglog(course.coord("evaluation"), course.sel(method=name).values, label=name)
        ax.set(xlabel="evaluations of the gradient", ylabel="error, median over the starts")
        ax.legend()
        yield "methods", figure
