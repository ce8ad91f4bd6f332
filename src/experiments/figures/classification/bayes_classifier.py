"""Points of each class, the contours of its Gaussian, and maps of the class probabilities."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting import classification
from bythebook.experiments.plotting.canvas import shared_legend, subplots
from bythebook.experiments.studies.classification.bayes_classifier import BayesClassifier


def draw(study: BayesClassifier, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    names = [f"class {c}" for c in outcome["prior"].coord("category")]
    if "data" in study.show:
        yield "data", _points(study, outcome, names, densities=False)
    if "densities" in study.show:
        yield "densities", _points(study, outcome, names, densities=True)
    if "probabilities" in study.show:
        yield "probabilities", _maps(outcome, names)


def _points(study: BayesClassifier, outcome: Outcome, names: list[str], densities: bool) -> Figure:
    figure, ax = subplots()
    classification.labelled_points(ax, outcome, names)
    x1, x2 = outcome.axes["x1"].values, outcome.axes["x2"].values
    for k, c in enumerate(outcome.axes["category"].values if densities else ()):
        density = outcome["log_density_map"].sel(category=c).values
        # Lines at fixed shares of the class's own peak: 1, 2 and 3 standard deviations.
        style = {"levels": density.max() - [4.5, 2.0, 0.5], "colors": f"C{k}", "linewidths": 1.2}
        ax.contour(x1, x2, density, linestyles="-", zorder=1, **style)
    ax.set(xlim=(study.low[0], study.high[0]), ylim=(study.low[1], study.high[1]))
    shared_legend(figure, ax, 3)
    return figure


def _maps(outcome: Outcome, names: list[str]) -> Figure:
    titles = [f"P({name})" for name in names]
    figure, axes = classification.map_panels(outcome, names, titles, columns=len(names))
    for c, ax in zip(outcome.axes["category"].values, axes, strict=True):
        classification.probability_lines(ax, outcome["probability_map"].sel(category=c))
    shared_legend(figure, axes[0], len(names))
    return figure
