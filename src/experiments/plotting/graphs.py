"""Layouts of graphs, and plots of their nodes, links, arrows and labels."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch

from bythebook.models.types import Floats

Position = tuple[float, float]
Edge = tuple[str, str]
NODE_RADIUS = 13  # in points; arrows end at this distance from the centre


def layered_layout(
    parents: Mapping[str, Sequence[str]], more: Iterable[Edge] = ()
) -> dict[str, Position]:
    """Positions for a directed graph with `more` links: children below their parents.

    The layer of a node is the length of the longest path from a root. The horizontal positions are
    those of 400 random placements with the largest minimum distance between a node and another node
    or arrow.
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


def _clearance(positions: Floats, pairs: Sequence[tuple[int, int]]) -> float:
    """The minimum distance of a node from another node, or from a link of other nodes."""
    distances = np.linalg.norm(positions[:, None] - positions, axis=-1)
    clearances = [float(distances[np.triu_indices(len(positions), 1)].min(initial=np.inf)) / 1.5]
    for i, j in pairs:
        along = positions[j] - positions[i]
        fraction = np.clip((positions - positions[i]) @ along / (along @ along), 0, 1)
        distance = np.linalg.norm(positions - positions[i] - fraction[:, None] * along, axis=-1)
        clearances.append(float(np.delete(distance, [i, j]).min(initial=np.inf)))
    return min(clearances)


def tree_layout(root: str, below: Mapping[str, Sequence[str]]) -> dict[str, Position]:
    """Positions for a tree from left to right; a parent is at the mean height of its children."""
    positions: dict[str, Position] = {}

    def place_node(name: str, depth: int) -> float:
        own = [place_node(child, depth + 1) for child in below.get(name, ())]
        leaves = sum(not below.get(placed) for placed in positions)
        height = float(np.mean(own)) if own else -float(leaves)
        positions[name] = (float(depth), height)
        return height

    place_node(root, 0)
    return positions


def circular_layout(names: Sequence[str]) -> dict[str, Position]:
    """Positions on a circle, clockwise from the top."""
    angles = np.pi / 2 - 2 * np.pi * np.arange(len(names)) / len(names)
    return {
        name: (float(np.cos(a)), float(np.sin(a))) for name, a in zip(names, angles, strict=True)
    }


def nodes(
    ax: Axes,
    positions: Mapping[str, Position],
    filled: Iterable[str] = (),
    squares: Iterable[str] = (),
) -> None:
    """Draw each node as a circle, or as a square, with its name."""
    filled, squares = set(filled), set(squares)
    for name, (x, y) in positions.items():
        face, shape = "0.8" if name in filled else "white", "s" if name in squares else "o"
        ax.plot(x, y, shape, ms=2 * NODE_RADIUS, mfc=face, mec="0.2", mew=1.2, zorder=3)
        ax.annotate(name, (x, y), ha="center", va="center", zorder=4, color="black")
    ax.margins(0.25)
    ax.set_axis_off()
    ax.grid(visible=False)


def edge_labels(
    ax: Axes, positions: Mapping[str, Position], texts: Mapping[Edge, str], **look: Any
) -> None:
    """A text next to the middle of each link, on the left of its direction."""
    for (a, b), text in texts.items():
        (x, y), (u, v) = positions[a], positions[b]
        length = float(np.hypot(u - x, v - y))
        offset = ((y - v) / length * 10, (u - x) / length * 10)  # points
        ax.annotate(
            text,
            ((x + u) / 2, (y + v) / 2),
            xytext=offset,
            textcoords="offset points",
            **{"ha": "center", "va": "center", "fontsize": "small", **look},
        )


def links(ax: Axes, positions: Mapping[str, Position], pairs: Iterable[Edge], **look: Any) -> None:
    """Draw a line for each link."""
    for a, b in pairs:
        x, y = zip(positions[a], positions[b], strict=True)
        shape: dict[str, Any] = {"color": "0.2", "lw": 1.2, "zorder": 1, **look}
        ax.plot(x, y, **shape)


def arrows(ax: Axes, positions: Mapping[str, Position], pairs: Iterable[Edge], **look: Any) -> None:
    """Draw an arrow from the first to the second node of each pair."""
    shape: dict[str, Any] = {"arrowstyle": "-|>", "mutation_scale": 12, "color": "0.2", "lw": 1.2}
    ends = {"shrinkA": NODE_RADIUS, "shrinkB": NODE_RADIUS, "zorder": 2}
    for a, b in pairs:
        ax.add_patch(FancyArrowPatch(positions[a], positions[b], **{**shape, **ends, **look}))
