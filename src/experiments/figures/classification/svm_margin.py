"""The boundary and the margin of each machine, support vectors ringed."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.classes import legend_of, line_across, map_panels, ringed
from experiments.studies.classification.svm_margin import SvmMargin


def draw(study: SvmMargin, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    X, lines = outcome["inputs"].values, outcome["line"]
    names = [name for name in lines.along("machine") if name != "before"]
    titles = ["hard margin", *(f"soft margin, {name}" for name in names[1:])]
    figure, axes = map_panels(outcome, ["class −1", "class +1"], titles, 0.95)
    if len(names) == 1:
        figure.set_size_inches(figure.get_figwidth(), 0.8 * figure.get_figwidth())
    low, high = X.min(0) - 0.7, X.max(0) + 0.7
    for name, ax in zip(names, axes, strict=True):
        line = lines.at(machine=name).values
        line_across(ax, line, 0, X, color="0.15", label="boundary")
        for level, label in ((-1, "margin"), (1, "_")):
            look = {"color": "0.15", "linestyle": "--", "linewidth": 0.9}
            line_across(ax, line, level, X, label=label, **look)
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        ringed(ax, X[outcome["support"].at(machine=name).values], "support vectors")
        if name == "hard" and study.stray:
            before = lines.at(machine="before").values
            line_across(ax, before, 0, X, color="0.6", linestyle=":", label="before the move")
    legend_of(figure, axes[0], 3)
    yield "margin", figure
