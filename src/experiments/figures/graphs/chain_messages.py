"""The chain with its messages, and operations against its length."""

from collections.abc import Iterator
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting import graphs
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.graphs.chain_messages import ChainMessages


def draw(study: ChainMessages, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, (left, right) = subplots(1, 2)
    _chain(left, study)
    cost = outcome["operations"]
    for way in cost.axes[0].values:
        one = cost.sel(way=way)
        right.semilogy(one.coord("length"), one.values, "o-", label=way)
    right.set(xlabel="nodes of the chain", ylabel="additions and multiplications")
    right.xaxis.get_major_locator().set_params(integer=True)
    right.legend(fontsize="small")
    yield "messages", figure


def _chain(ax: Axes, study: ChainMessages) -> None:
    """Figure 8.38: messages reach a node from both ends; those observed are filled."""
    last, asked = study.observed[1], study.asked
    places = {f"$x_{n}$": (float(n), 0.0) for n in range(1, last + 1)}
    names = list(places)
    graphs.links(ax, places, pairwise(names))
    graphs.nodes(ax, places, [names[n - 1] for n in study.observed])
    for n in range(1, last):
        there = n < asked
        ends = (
            ((n + 0.15, 0.35), (n + 0.85, 0.35)) if there else ((n + 0.85, 0.35), (n + 0.15, 0.35))
        )
        ax.annotate(
            "", ends[1], ends[0], arrowprops={"arrowstyle": "-|>", "color": "C0" if there else "C1"}
        )
        name, to = (r"\mu_\alpha", n + 1) if there else (r"\mu_\beta", n)
        ax.annotate(f"${name}(x_{to})$", (n + 0.5, 0.5), ha="center", fontsize="small")
    ax.set(ylim=(-1.5, 1.5), title=f"messages for $x_{asked}$; observed nodes are filled")
