"""Fitted functions with their hidden units; errors against evaluations of the gradient."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import panels
from experiments.studies.networks.network_fit import NetworkFit


def draw(study: NetworkFit, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, axes = panels(1, len(study.targets), squeeze=False)
    for ax, name in zip(axes[0], study.targets, strict=True):
        data, fit = outcome["data"].at(target=name), outcome["fit"].at(target=name)
        hidden = outcome["hidden_output"].at(target=name).values
        ax.plot(data.along("x"), hidden.T, "--", color="0.6", lw=0.8)
        ax.plot(data.along("x"), data.values, ".", ms=4)
        ax.plot(fit.along("x"), fit.values, "C1")
        ax.set(title=name, xlabel="x")
    axes[0, 0].set_ylabel("target and fit; dashed: hidden units")
    yield "fits", figure
    if study.methods:
        figure, ax = panels()
        course = outcome["median_error"]
        for name in study.methods:
            ax.loglog(course.along("evaluation"), course.at(method=name).values, label=name)
        ax.set(xlabel="evaluations of the gradient", ylabel="error, median over the starts")
        ax.legend()
        yield "methods", figure
