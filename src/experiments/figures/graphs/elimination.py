"""The graph with the links that elimination adds; the size of each product, by order."""

from collections.abc import Iterator

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting import graphs
from bythebook.experiments.plotting.canvas import shared_legend, subplots
from bythebook.experiments.studies.graphs._scopes import names, split
from bythebook.experiments.studies.graphs.elimination import Elimination


def draw(study: Elimination, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, (left, right) = subplots(1, 2)
    _graph(left, study, outcome)
    wide = 0.8 / len(study.orders)
    for k, order in enumerate(study.orders):
        sizes = outcome["product_size"].sel(order=order)
        right.bar(sizes.coord("step") - 0.4 + (k + 0.5) * wide, sizes.values, wide, label=order)
    right.set(xlabel="step", ylabel="variables in the product")
    for along in (right.xaxis, right.yaxis):
        along.get_major_locator().set_params(integer=True)
    right.grid(axis="x", visible=False)
    if len(study.orders) > 1:
        shared_legend(figure, right, 3)
    yield "elimination", figure


def _graph(ax: Axes, study: Elimination, outcome: Outcome) -> None:
    """The factors' graph; moral links dashed, those that the first order fills in dotted."""
    families = [split(scope) for scope in study.factors]
    new = [p for text in outcome["fill_in"].sel(order=study.orders[0]).values for p in _pairs(text)]
    if all(len(of) == 1 for of, _ in families):
        married = _pairs(outcome["married"].item)
        places = graphs.layered_layout({of[0]: given for of, given in families}, [*married, *new])
        graphs.arrows(ax, places, [(p, of[0]) for of, given in families for p in given])
        graphs.links(ax, places, married, ls="--", color="C0")
    else:
        places = graphs.circular_layout(names(study.factors))
        graphs.links(ax, places, [(a, b) for of, _ in families for a in of for b in of if a < b])
    graphs.links(ax, places, new, ls=":", color="C3", lw=2)
    graphs.nodes(ax, places, study.observed)
    ax.set_title(f"dashed: moral, dotted: fill-in of {study.orders[0]}", fontsize="small")


def _pairs(text: object) -> list[tuple[str, str]]:
    """The links of a text such as "D-I G-J"."""
    return [(a, b) for a, b in (link.split("-") for link in str(text).split())]
