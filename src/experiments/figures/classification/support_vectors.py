"""The boundary, the margin and the support vectors of each machine, in the first set of points."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting import classification
from bythebook.experiments.plotting.canvas import shared_legend
from bythebook.experiments.studies.classification.support_vectors import SupportVectors


def draw(study: SupportVectors, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    X, lines = outcome["inputs"].values, outcome["line"]
    names = list(lines.coord("machine"))
    titles = ["hard margin", *(f"soft margin, {name}" for name in names[1:])]
    figure, axes = classification.map_panels(outcome, ["class −1", "class +1"], titles, 0.95)
    if len(names) == 1:
        figure.set_size_inches(figure.get_figwidth(), 0.8 * figure.get_figwidth())
    low, high = X.min(0) - 0.7, X.max(0) + 0.7
    for name, ax in zip(names, axes, strict=True):
        line = lines.sel(machine=name, repetition=0).values
        classification.line_across(ax, line, 0, X, color="0.15", label="boundary")
        for level, label in ((-1, "margin"), (1, "_")):
            look = {"color": "0.15", "linestyle": "--", "linewidth": 0.9}
            classification.line_across(ax, line, level, X, label=label, **look)
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        support = outcome["support"].sel(machine=name, repetition=0).values
        classification.mark_points(ax, X[support], "support vectors")
        if name == "hard" and study.stray:
            before = outcome["line_before"].sel(repetition=0).values
            look = {"color": "0.6", "linestyle": ":", "label": "before the move"}
            classification.line_across(ax, before, 0, X, **look)
    shared_legend(figure, axes[0], 3)
    yield "margin", figure
