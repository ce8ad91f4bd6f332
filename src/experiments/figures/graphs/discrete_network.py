"""One panel per query: stacked bars of probabilities; and settings of drawn networks."""

from collections.abc import Iterator
from itertools import product

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome, Quantity
from bythebook.experiments.plotting.canvas import merged_legend, subplots
from bythebook.experiments.plotting.clustering import hide_unused
from bythebook.experiments.studies.graphs.discrete_network import DiscreteNetwork, quantity_name


def draw(study: DiscreteNetwork, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if study.draws > 1 and study.maximise:
        yield "settings", _settings(study, outcome)
    queries = {
        query: study.parsed_queries[query]
        for query in study.show or study.parsed_queries
        if "draw" not in outcome[quantity_name(*study.parsed_queries[query])].dims
    }
    if not queries:
        return
    columns = min(len(queries), 3)
    figure, axes = subplots(-(-len(queries) // columns), columns, squeeze=False)
    inks: dict[str, str] = {}
    for ax, (of, given) in zip(axes.flat, queries.values(), strict=False):
        _bars(ax, of, given, outcome[quantity_name(of, given)], inks)
    hide_unused(axes.flat[len(queries) :])
    merged_legend(figure, axes.flat, 4)
    yield "tables", figure


def _settings(study: DiscreteNetwork, outcome: Outcome) -> Figure:
    """Probabilities of settings, and their expected errors, for each drawn network."""
    figure, (left, right) = subplots(1, 2)
    last = study.maximise[0 if len(study.maximise) == 1 else _drawn(outcome)]
    for ax, what, words in (
        (left, "probability", "probability of the setting"),
        (right, "wrong", "expected number of wrong states"),
    ):
        x = outcome[f"map_{what}"].sel(asked=last).values
        for k, (way, name) in enumerate({"mpm": "MPM", "mpe": "MPE"}.items()):
            y = outcome[f"{way}_{what}"].sel(asked=last).values
            ax.plot(x, y, "o^"[k], ms=3.5, alpha=0.7, color=f"C{k}", label=name)
        ax.axline((0, 0), slope=1, color="0.6", lw=1, zorder=0)
        ax.set(xlabel=f"{words}, MAP", ylabel=f"{words}, others")
    left.set_title(last, fontsize="small")
    right.legend()
    return figure


def _drawn(outcome: Outcome) -> int:
    """The first maximised set of variables whose setting is not the same in all draws."""
    varied = np.ptp(outcome["map_probability"].values, axis=1) > 0
    return int(np.argmax(varied))


def _bars(ax: Axes, of: list[str], given: list[str], p: Quantity, inks: dict[str, str]) -> None:
    """Draw stacked bars; `inks` grows, so that a state has one colour in all panels."""
    first, *rest = of + given
    label = f"P({', '.join(of)}" + (f" | {', '.join(given)})" if given else ")")
    states = list(product(*(p.coord(name) for name in rest or of)))
    heights = p.values.reshape(len(p), -1) if rest else p.values[None]
    bottom = np.zeros(heights.shape[1])
    for k, row in enumerate(heights):
        name = f"{first} = {p.coord(first)[k]}"
        ink = inks.setdefault(name, f"C{len(inks) % 8}") if rest else "0.6"
        label_of = name if rest else None
        ax.bar(range(len(row)), row, 0.6, bottom=bottom, color=ink, label=label_of)
        bottom = bottom + row
    stacked = f", stacked to P({', '.join(of[1:])})" if rest and not given else ""
    ax.set(xlabel=", ".join(rest or of), ylabel=label + stacked)
    ax.set_xticks(range(len(states)), [", ".join(state) for state in states])
    ax.grid(axis="x", visible=False)
