"""Graphs: where nodes stand, and how they, their links and their arrows are drawn."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch

from models.types import Floats

Place = tuple[float, float]
Pair = tuple[str, str]
RADIUS = 13  # points, of a node; an arrow ends there


def layered(parents: Mapping[str, Sequence[str]], more: Iterable[Pair] = ()) -> dict[str, Place]:
    """Places of a directed graph and `more` links: children below parents, nodes clear of lines.

    A layer is the longest way from a root. Across, the best of some hundred random placements is
    taken: the one whose least distance between a node and another node or arrow is the largest.
    """
    depth: dict[str, int] = {}
    while len(depth) < len(parents):
        for name, above in parents.items():
            if name not in depth and all(p in depth for p in above):
                depth[name] = 1 + max((depth[p] for p in above), default=-1)
    names = list(parents)
    y = -0.8 * np.array([depth[name] for name in names])
    pairs = [(p, name) for name in names for p in parents[name]] + list(more)
    lines = [(names.index(a), names.index(b)) for a, b in pairs]
    tries = np.random.default_rng(0).uniform(-1.5, 1.5, (400, len(names)))
    best = max(tries, key=lambda x: _clearance(np.column_stack([x, y]), lines))
    return {name: (float(x), float(h)) for name, x, h in zip(names, best, y, strict=True)}


def _clearance(places: Floats, pairs: Sequence[tuple[int, int]]) -> float:
    """The least distance of a node from another node, or from a link that is not its own."""
    apart = np.linalg.norm(places[:, None] - places, axis=-1)
    least = [float(apart[np.triu_indices(len(places), 1)].min(initial=np.inf)) / 1.5]
    for i, j in pairs:
        along = places[j] - places[i]
        share = np.clip((places - places[i]) @ along / (along @ along), 0, 1)
        off = np.linalg.norm(places - places[i] - share[:, None] * along, axis=-1)
        least.append(float(np.delete(off, [i, j]).min(initial=np.inf)))
    return min(least)


def tree(root: str, below: Mapping[str, Sequence[str]]) -> dict[str, Place]:
    """Places of a tree from left to right: leaves one under another, others beside their middle."""
    places: dict[str, Place] = {}

    def put(name: str, depth: int) -> float:
        own = [put(child, depth + 1) for child in below.get(name, ())]
        leaves = sum(not below.get(done) for done in places)
        height = float(np.mean(own)) if own else -float(leaves)
        places[name] = (float(depth), height)
        return height

    put(root, 0)
    return places


def ring(names: Sequence[str]) -> dict[str, Place]:
    """Places on a circle, clockwise from the top."""
    angles = np.pi / 2 - 2 * np.pi * np.arange(len(names)) / len(names)
    return {
        name: (float(np.cos(a)), float(np.sin(a))) for name, a in zip(names, angles, strict=True)
    }


def nodes(
    ax: Axes, places: Mapping[str, Place], filled: Iterable[str] = (), squares: Iterable[str] = ()
) -> None:
    """A circle, or a square, with its name for each node; observed ones are filled."""
    filled, squares = set(filled), set(squares)
    for name, (x, y) in places.items():
        face, shape = "0.8" if name in filled else "white", "s" if name in squares else "o"
        ax.plot(x, y, shape, ms=2 * RADIUS, mfc=face, mec="0.2", mew=1.2, zorder=3)
        ax.annotate(name, (x, y), ha="center", va="center", zorder=4, color="black")
    ax.margins(0.25)
    ax.set_axis_off()
    ax.grid(visible=False)


def beside(ax: Axes, places: Mapping[str, Place], told: Mapping[Pair, str], **look: Any) -> None:
    """A word beside the middle of each link, on the left of who goes along it."""
    for (a, b), text in told.items():
        (x, y), (u, v) = places[a], places[b]
        length = float(np.hypot(u - x, v - y))
        aside = ((y - v) / length * 10, (u - x) / length * 10)  # points
        ax.annotate(
            text,
            ((x + u) / 2, (y + v) / 2),
            xytext=aside,
            textcoords="offset points",
            **{"ha": "center", "va": "center", "fontsize": "small", **look},
        )


def links(ax: Axes, places: Mapping[str, Place], pairs: Iterable[Pair], **look: Any) -> None:
    """A line for each link."""
    for a, b in pairs:
        x, y = zip(places[a], places[b], strict=True)
        shape: dict[str, Any] = {"color": "0.2", "lw": 1.2, "zorder": 1, **look}
        ax.plot(x, y, **shape)


def arrows(ax: Axes, places: Mapping[str, Place], pairs: Iterable[Pair], **look: Any) -> None:
    """An arrow from the first to the second node of each pair."""
    shape: dict[str, Any] = {"arrowstyle": "-|>", "mutation_scale": 12, "color": "0.2", "lw": 1.2}
    ends = {"shrinkA": RADIUS, "shrinkB": RADIUS, "zorder": 2}
    for a, b in pairs:
        ax.add_patch(FancyArrowPatch(places[a], places[b], **{**shape, **ends, **look}))
