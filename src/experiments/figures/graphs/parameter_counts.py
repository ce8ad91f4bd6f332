"""Independent parameters against the number of variables, model by model."""

from collections.abc import Iterator

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from bythebook.experiments.core.outcome import Outcome, Quantity
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.graphs.parameter_counts import ParameterCounts


def draw(study: ParameterCounts, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if study.covariances:
        figure, axes = subplots(1, len(study.covariances), squeeze=False)
        for ax, kind in zip(axes.flat, study.covariances, strict=True):
            _lines(ax, outcome["covariance_rank"].sel(covariance=kind), "factors", "D")
            ax.set_title(kind)
        yield "covariances", figure
        return
    figure, axes = subplots(1, len(study.states), squeeze=False)
    for ax, states in zip(axes.flat, study.states, strict=True):
        _lines(ax, outcome["rank"].sel(K=states), "model", "M")
        ax.set_title(f"K = {states}")
    yield "tables", figure


def _lines(ax: Axes, ranks: Quantity, name: str, along: str) -> None:
    for k, label in enumerate(ranks.coord(name)):
        line = ranks.sel(**{name: label})
        ax.semilogy(line.coord(along), line.values, "os^vDP"[k % 6] + "-", ms=4, label=str(label))
    ax.set(xlabel=along, ylabel="independent parameters")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(title=name if name != "model" else None, fontsize="small")
