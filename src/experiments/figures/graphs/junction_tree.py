"""A graph with its moral links and fill-in, its junction tree, and cost against clique size."""

from collections.abc import Iterator

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting import graphs
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.graphs.junction_tree import JunctionTree


def draw(study: JunctionTree, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, (left, middle, right) = subplots(1, 3)
    _graph(left, outcome)
    _tree(middle, _pairs(outcome, "tree_link"))
    cost = outcome["operations"]
    right.semilogy(cost.coord("clique"), cost.values, "o-", label="additions and multiplications")
    right.semilogy(
        cost.coord("clique"), outcome["table_size"].values, "s--", label="entries of a table"
    )
    right.set(xlabel="binary variables of a clique")
    right.xaxis.get_major_locator().set_params(integer=True)
    right.legend(fontsize="small")
    yield "trees", figure


def _pairs(outcome: Outcome, name: str) -> list[graphs.Edge]:
    ends = [str(text).split("-") for text in outcome[name].values]
    return [(both[0], both[-1]) for both in ends]


def _graph(ax: Axes, outcome: Outcome) -> None:
    """The first draw: arrows, moral links dashed, fill-in dotted."""
    arrows, married, new = (_pairs(outcome, n) for n in ("arrow", "moral_link", "fill_in"))
    parents: dict[str, list[str]] = {name: [] for pair in sorted(arrows) for name in pair}
    for a, b in arrows:
        parents[b].append(a)
    places = graphs.layered_layout(parents, [*married, *new])
    graphs.arrows(ax, places, arrows)
    graphs.links(ax, places, married, ls="--", color="C0")
    graphs.links(ax, places, new, ls=":", color="C3", lw=2)
    graphs.nodes(ax, places)
    ax.set_title("dashed: moral, dotted: fill-in", fontsize="small")


def _tree(ax: Axes, links: list[graphs.Edge]) -> None:
    """The cliques in a tree, with the separators next to the links."""
    near: dict[str, list[str]] = {}
    for a, b in links:
        near.setdefault(a, []).append(b)
        near.setdefault(b, []).append(a)
    root, below = links[0][0], {}
    seen, ahead = {root}, [root]
    for name in ahead:
        below[name] = [other for other in near[name] if other not in seen]
        seen.update(below[name])
        ahead += below[name]
    places = graphs.tree_layout(root, below)
    pairs = [(a, b) for a in below for b in below[a]]
    graphs.links(ax, places, pairs)
    graphs.edge_labels(ax, places, {(a, b): "".join(sorted({*a} & {*b})) for a, b in pairs})
    for name, (x, y) in places.items():
        box = {"boxstyle": "round", "fc": "white", "ec": "0.2"}
        ax.annotate(name, (x, y), ha="center", va="center", bbox=box, color="black", zorder=4)
    ax.margins(0.3)
    ax.set_axis_off()
    ax.set_title("its junction tree", fontsize="small")
