"""A graph with its moral links and fill-in, its junction tree, and cost against clique size."""

from collections.abc import Iterator

from matplotlib.axes import Axes

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting import graphs
from bythebook.experiments.plotting.marks import Panel, line


def trees() -> Iterator[Panel]:
    """The first graph and its junction tree."""
    yield Panel(finish=_graph, title="dashed: moral, dotted: fill-in")
    yield Panel(finish=_tree, title="its junction tree")


def operations() -> Iterator[Panel]:
    """The cost of all messages against the size of the cliques."""
    yield Panel(
        line("operations", x="clique", marker="o"),
        x="binary variables of a clique",
        y="additions and multiplications",
        yscale="log",
    )


def _pairs(outcome: Outcome, name: str) -> list[graphs.Edge]:
    ends = [str(text).split("-") for text in outcome[name].values]
    return [(both[0], both[-1]) for both in ends]


def _graph(ax: Axes, outcome: Outcome) -> None:
    """Arrows, moral links dashed, fill-in dotted."""
    arrows, married, new = (_pairs(outcome, n) for n in ("arrow", "moral_link", "fill_in"))
    parents: dict[str, list[str]] = {name: [] for pair in sorted(arrows) for name in pair}
    for a, b in arrows:
        parents[b].append(a)
    places = graphs.layered_layout(parents, [*married, *new])
    graphs.arrows(ax, places, arrows)
    graphs.links(ax, places, married, ls="--", color="C0")
    graphs.links(ax, places, new, ls=":", color="C3", lw=2)
    graphs.nodes(ax, places)


def _tree(ax: Axes, outcome: Outcome) -> None:
    """The cliques in a tree, with the separators next to the links."""
    links = _pairs(outcome, "tree_link")
    near: dict[str, list[str]] = {name: [] for pair in links for name in pair}
    for a, b in links:
        if a != b:  # a single clique is listed by itself
            near[a].append(b)
            near[b].append(a)
    root, below = links[0][0], {}
    seen, ahead = {root}, [root]
    for name in ahead:
        below[name] = [other for other in near[name] if other not in seen]
        seen.update(below[name])
        ahead += below[name]
    places = graphs.tree_layout(root, below)
    pairs = [(a, b) for a in below for b in below[a]]
    graphs.links(ax, places, pairs, ls="-")
    graphs.edge_labels(ax, places, {(a, b): "".join(sorted({*a} & {*b})) for a, b in pairs})
    for name, (x, y) in places.items():
        box = {"boxstyle": "round", "fc": "white", "ec": "0.2"}
        ax.annotate(name, (x, y), ha="center", va="center", bbox=box, color="black", zorder=4)
    ax.margins(0.3)
    ax.set_axis_off()
