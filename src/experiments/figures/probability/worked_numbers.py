"""Terms of a marginal sum, an area and a uniform density; or a Gaussian's parameters."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.plotting.clustering import integer_ticks
from bythebook.experiments.studies.probability.worked_numbers import WorkedNumbers


def draw(study: WorkedNumbers, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    yield study.show, (_numbers if study.show == "numbers" else _parameters)(study, outcome)


def _numbers(study: WorkedNumbers, outcome: Outcome) -> Figure:
    figure, axes = subplots(1, 3)
    terms = outcome["terms"]
    for k, row in zip(terms.coord("outcomes"), terms.values, strict=True):
        axes[0].plot(terms.coord("variables"), row, "o-", label=f"{k} outcomes")
    axes[0].legend()
    axes[0].set(xlabel="variables J", ylabel="terms of a marginal sum", yscale="log")
    integer_ticks(axes[0])
    (low, high), top = study.area, study.area[1] + 1
    axes[1].plot([0, top], [0, 2 * top])
    axes[1].fill_between([low, high], [2 * low, 2 * high], color="C1", alpha=0.4)
    axes[1].set(xlabel="x", ylabel="y = 2x", title=f"area {outcome['area'].values:g}")
    (a, b), height = study.support, outcome["uniform_height"].values
    axes[2].plot([a - 1, a, a, b, b, b + 1], [0, 0, height, height, 0, 0])
    axes[2].set(xlabel="y", ylabel="p(y)", ylim=(None, 1.3 * height))
    return figure


def _parameters(study: WorkedNumbers, outcome: Outcome) -> Figure:
    figure, ax = subplots()
    counts = outcome["parameters"]
    for i, style in enumerate(("o-", "s--")):
        label = f"{counts.coord('covariance')[i]} covariance"
        ax.plot(counts.coord("dimension"), counts.values[i], style, markersize=3.5, label=label)
    ax.set(xlabel="Dimensions D", ylabel="Parameters of a class", ylim=(0, None))
    integer_ticks(ax)
    ax.legend()
    return figure
