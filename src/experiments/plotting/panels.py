"""Draws panels of marks (`marks`) from an outcome: series, scales, labels and legends.

Labels are those of the declared quantities and axes, unless a panel has its own.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from bythebook.experiments.core.alignment import ExpressionError
from bythebook.experiments.core.expressions import quantity_names
from bythebook.experiments.core.outcome import Axis, Outcome, Quantity
from bythebook.experiments.core.study import Study
from bythebook.experiments.plotting import graphs
from bythebook.experiments.plotting.canvas import merged_legend, subplots
from bythebook.experiments.plotting.channels import (
    Cell,
    NotRecorded,
    Series,
    mark_series,
    places_on,
    plain,
    positions,
)
from bythebook.experiments.plotting.ellipses import ellipse
from bythebook.experiments.plotting.marks import Mark, Panel
from bythebook.models.types import AnyArray

FEW_TICKS, MAX_TICKS = 6, 15  # more integers, or a wider range, have ticks of Matplotlib's choice
MAX_LEGEND = 8  # a longer legend is next to the panel
MIN_SIZE = 1 / 200  # ellipses of smaller size are not drawn
MANY = 3  # more lines of one colour are thin


def draw_panels(
    panels: Iterable[Panel], study: Study, outcome: Outcome, *, strict: bool = True
) -> Figure:
    """The figure of some panels.

    Without `strict`, panels, marks and coordinates that are not recorded are left out; a figure of
    which nothing remains raises NotRecorded.
    """
    with np.errstate(all="ignore"):
        some = list(panels)
        cells = [cell for panel in some for cell in _cells(panel, study, outcome, strict)]
        if not cells:
            raise NotRecorded("the figure has no panel whose quantities are recorded")
        columns = next((p.columns for p in some if p.columns), 3 if len(cells) == 3 else 2)
        columns = min(columns, len(cells))
        share = "".join(panel.share for panel in some)
        figure, grid = subplots(
            -(-len(cells) // columns),
            columns,
            squeeze=False,
            sharex="x" in share,
            sharey="y" in share,
        )
        width, height = figure.get_size_inches()
        figure.set_size_inches(width, height * max(panel.height for panel in some))
        for ax in grid.flat[len(cells) :]:
            ax.remove()
        axes: list[Axes] = list(grid.flat[: len(cells)])
        for ax, cell in zip(axes, cells, strict=True):
            _draw_cell(ax, cell)
        _remove_repeated_labels(axes, columns)
        _legends(figure, axes, columns)
    return figure


def _cells(panel: Panel, study: Study, outcome: Outcome, strict: bool) -> Iterator[Cell]:
    """The panel, or one for each coordinate of its facet; none if it may be left out."""
    needed = {
        name
        for mark in panel.marks
        if not mark.optional
        for text in mark.expressions
        if text not in outcome.axes
        for name in quantity_names(text)
    }
    missing = [name for name in sorted(needed) if name not in outcome]
    whole = Cell(panel, {}, study, outcome, strict)
    if missing and (panel.optional or not strict):
        return
    if panel.facet is None or missing:  # evaluating the expression describes what is missing
        yield whole
        return
    if panel.facet not in outcome.axes:
        raise NotRecorded(f"facet '{panel.facet}' is no axis; allowed: {', '.join(outcome.axes)}")
    axis = outcome.axes[panel.facet]
    for place in places_on(axis, panel.only, strict):
        yield Cell(panel, {panel.facet: place}, study, outcome, strict)


# Drawing.


def _draw_cell(ax: Axes, cell: Cell) -> None:
    panel, colour = cell.panel, 0
    ticks: dict[str, Axis] = {}
    labels: dict[str, str] = {}
    for mark in sorted(panel.marks, key=lambda mark: mark.kind == "diagonal"):
        used = colour
        colour += mark.by is None and "color" not in mark.look
        names = {name for text in mark.expressions for name in _quantities(text, cell.outcome)}
        if mark.optional and not names <= cell.outcome.keys():
            continue
        if mark.kind in _PLANES:
            along = _PLANES[mark.kind](ax, cell, mark)
        elif mark.kind in _SERIES:
            series, along = mark_series(cell, mark, used)
            for entry in series:
                _SERIES[mark.kind](ax, entry, cell, mark)
            along = {} if mark.kind == "hist" else along
        else:
            raise ExpressionError(f"mark '{mark.kind}' is unknown")
        ticks = {**along, **ticks}
        for side, label in _default_labels(cell, mark, along):
            labels.setdefault(side, label)
    for side, axis in ticks.items():
        _set_ticks(ax, side, axis)
    _finish_axes(ax, cell, labels)


def _quantities(text: str, outcome: Outcome) -> set[str]:
    return set() if text in outcome.axes else quantity_names(text)


def _default_labels(cell: Cell, mark: Mark, along: Mapping[str, Axis]) -> Iterator[tuple[str, str]]:
    """The labels of x and y that a mark suggests, from declared quantities and axes."""
    if mark.kind == "hist":
        yield from (("x", cell.quantity_label(mark.y)), ("y", "count"))
    if mark.kind in ("hist", "rule", "diagonal", "ellipse", "graph", "text", "hinton"):
        return
    for side in ("x", "y"):
        if side in along:
            yield side, cell.axis_label(along[side].name)
        elif isinstance(getattr(mark, side), str):
            yield side, cell.quantity_label(getattr(mark, side))


def _set_ticks(ax: Axes, side: str, axis: Axis) -> None:
    """Names of text coordinates, and integers where the coordinates are integers."""
    own = ax.xaxis if side == "x" else ax.yaxis
    if axis.values.dtype.kind == "U":
        own.set_ticks(range(len(axis)), axis.values.tolist())
        own.grid(visible=False)
        if side == "y" and not own.get_inverted():
            ax.invert_yaxis()
    elif axis.values.dtype.kind == "i" and own.get_scale() == "linear":
        if len(axis) <= FEW_TICKS or np.ptp(axis.values) <= MAX_TICKS:
            own.set_ticks(axis.values)
        else:
            own.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))


def _finish_axes(ax: Axes, cell: Cell, labels: Mapping[str, str]) -> None:
    """Labels, scales, limits and title."""
    panel = cell.panel
    for side in ("x", "y"):
        own = getattr(panel, side)
        text = labels.get(side, "") if own is None else cell.format(own)
        scale, limits = panel.scales[side], panel.limits[side]
        (ax.set_xlabel if side == "x" else ax.set_ylabel)(text)
        if scale != "linear":
            (ax.set_xscale if side == "x" else ax.set_yscale)(scale)
        if limits is not None:
            low_high = ax.get_xlim() if side == "x" else ax.get_ylim()
            ends = _limits(cell, limits, low_high)
            (ax.set_xlim if side == "x" else ax.set_ylim)(*ends)
    if panel.title is not None:
        ax.set_title(cell.format(panel.title))
    elif cell.at:
        ((name, place),) = cell.at.items()
        ax.set_title(place if isinstance(place, str) else f"{cell.axis_label(name)} {plain(place)}")
    if panel.finish is not None:
        panel.finish(ax, cell.outcome)


def _limits(cell: Cell, limits: Any, drawn: Any) -> tuple[Any, Any]:
    if limits == "symmetric":
        end = max(map(abs, drawn))
        return -end, end
    if isinstance(limits, str):
        values = np.asarray(getattr(value := cell.evaluate(limits), "values", value))
        margin = np.ptp(values) / 4
        return values.min() - margin, values.max() + margin
    low, high = (cell.evaluate(end) for end in limits)
    return low, high


def _draw_line(ax: Axes, series: Series, cell: Cell, mark: Mark) -> None:
    steps = {"drawstyle": "steps-post"} if mark.kind == "step" else {}
    rows = list(series.masked())
    many = {"linewidth": 0.8, "alpha": 0.6} if len(rows) > MANY else {}
    for x, y in rows:
        ax.plot(x, y, label=series.label, **{**steps, **many, **series.look})


def _draw_points(ax: Axes, series: Series, cell: Cell, mark: Mark) -> None:
    x, y = series.points()
    if mark.size is None:
        ax.plot(x, y, label=series.label, **series.look)
        return
    sizes = series.arrays["size"].ravel()
    keep = series.arrays.get("where")
    sizes = sizes if keep is None else sizes[keep.ravel()]
    look = {name: value for name, value in series.look.items() if name != "linestyle"}
    ax.scatter(x, y, s=sizes, label=series.label, **look)


def _draw_bars(ax: Axes, series: Series, cell: Cell, mark: Mark) -> None:
    x, y = series.points()
    if mark.y in cell.outcome.axes and mark.y not in cell.outcome:
        _bars(ax.barh, y, x, series)
        ax.grid(visible=False, axis="y")
    else:
        _bars(ax.bar, x, y, series)
        ax.grid(visible=False, axis="x")


def _bars(draw: Any, at: AnyArray, size: AnyArray, series: Series) -> None:
    """Bars at some places, next to those of the other series."""
    gaps = np.diff(np.unique(at))
    width = 0.8 * (gaps.min() if gaps.size else 1) / series.count
    middle = at + width * (series.position - (series.count - 1) / 2)
    draw(middle, size, width, label=series.label, **series.look)


def _draw_histogram(ax: Axes, series: Series, cell: Cell, mark: Mark) -> None:
    """Counts of integers as bars side by side, other numbers in bins of all series."""
    everything = np.ravel(np.asarray(getattr(v := cell.evaluate(mark.y), "values", v)))
    values = series.points()[1]
    if everything.dtype.kind in "ib":
        whole = np.arange(int(everything.min()), int(everything.max()) + 1)
        _bars(ax.bar, whole, (values[:, None] == whole).sum(0), series)
        ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))
        return
    bins = np.histogram_bin_edges(everything[np.isfinite(everything)], "auto")
    alpha = {"alpha": 0.6} if series.count > 1 else {}
    ax.hist(values, bins.tolist(), label=series.label, **(alpha | series.look))


def _draw_band(ax: Axes, series: Series, cell: Cell, mark: Mark) -> None:
    arrays = series.arrays
    for k, (x, high) in enumerate(zip(arrays["x"], arrays["y"], strict=True)):
        where = arrays["where"][k] if "where" in arrays else None
        look = {"alpha": 0.2, "linewidth": 0, **series.look}
        ax.fill_between(x, arrays["low"][k], high, where=where, label=series.label, **look)


def _draw_text(ax: Axes, series: Series, cell: Cell, mark: Mark) -> None:
    for x, y in zip(*series.points(), strict=True):
        look = {"fontsize": "small", **series.look}
        ax.annotate(cell.format(mark.label or "{y:.3g}", None, x=x, y=y), (x, y), **look)


# Marks that are drawn as a whole; each returns the axes along x and y.


def _draw_rule(ax: Axes, cell: Cell, mark: Mark) -> dict[str, Axis]:
    look = {"color": "0.4", "linewidth": 0.8, **mark.look}
    for channel, draw in ((mark.y, ax.axhline), (mark.x, ax.axvline)):
        if channel is not None:
            value = cell.evaluate(channel)
            for k, at in enumerate(np.ravel(getattr(value, "values", value))):
                label = None if k or mark.label is None else cell.format(mark.label, y=at, x=at)
                draw(float(at), label=label, **look)
    return {}


def _draw_diagonal(ax: Axes, cell: Cell, mark: Mark) -> dict[str, Axis]:
    box = ax.dataLim
    ends = [max(box.x0, box.y0), min(box.x1, box.y1)]
    label = None if mark.label is None else cell.format(mark.label)
    ax.plot(ends, ends, **{"color": "0.5", "linewidth": 1, "label": label, **mark.look})
    return {}


def _matrix(cell: Cell, mark: Mark) -> Quantity:
    """A quantity over two axes, with the axis along x last."""
    value = cell.evaluate(mark.y)
    if not isinstance(value, Quantity) or len(value.axes) != 2:
        axes = ", ".join(value.dims) if isinstance(value, Quantity) else "none"
        raise ExpressionError(f"{mark.y}: {mark.kind} needs two axes, not {axes}")
    if mark.x is not None and value.dim_index(str(mark.x)) == 0:
        return Quantity(value.values.T, value.axes[::-1])
    return value


def _draw_image(ax: Axes, cell: Cell, mark: Mark) -> dict[str, Axis]:
    matrix = _matrix(cell, mark)
    rows, columns = matrix.axes
    look: dict[str, Any] = {"aspect": "auto", "interpolation": "nearest"}
    if mark.limits == "symmetric":
        end = float(np.nanmax(np.abs(matrix.values)))
        look |= {"vmin": -end, "vmax": end, "cmap": "RdBu_r"}
    elif isinstance(mark.limits, tuple):
        look |= dict(zip(("vmin", "vmax"), map(cell.evaluate, mark.limits), strict=True))
    (left, right), (low, high) = (_edges(axis) for axis in (columns, rows))
    named = rows.values.dtype.kind == "U"
    look |= {"extent": (left, right, low, high), "origin": "lower"}
    drawn = ax.imshow(matrix.values, **(look | mark.look))
    ax.grid(visible=False)
    if mark.label is not None:
        ax.figure.colorbar(drawn, ax=ax, label=cell.format(mark.label))
    if named:
        ax.invert_yaxis()
    return {"x": columns, "y": rows}


def _edges(axis: Axis) -> tuple[float, float]:
    """The ends of the cells around equally spaced coordinates."""
    at = positions(axis)
    half = (at[-1] - at[0]) / (len(at) - 1) / 2 if len(at) > 1 else 0.5
    return float(at[0] - half), float(at[-1] + half)


def _draw_contour(ax: Axes, cell: Cell, mark: Mark) -> dict[str, Axis]:
    matrix = _matrix(cell, mark)
    rows, columns = matrix.axes
    look = {} if {"colors", "cmap"} & mark.look.keys() else {"colors": "C0"}
    ax.contour(positions(columns), positions(rows), matrix.values, **(look | mark.look))
    return {"x": columns, "y": rows}


def _draw_hinton(ax: Axes, cell: Cell, mark: Mark) -> dict[str, Axis]:
    """Squares whose areas are the sizes of the elements, negative ones in another colour."""
    matrix = _matrix(cell, mark)
    rows, columns = matrix.axes
    largest = np.abs(matrix.values).max() or 1.0
    for (i, j), value in np.ndenumerate(matrix.values):
        side = 0.9 * float(np.sqrt(abs(value) / largest))
        corner = (float(positions(columns)[j]) - side / 2, float(positions(rows)[i]) - side / 2)
        look = {"color": "C0" if value > 0 else "C1", "linewidth": 0, **mark.look}
        ax.add_patch(Rectangle(corner, side, side, **look))
    ax.set(xlim=_edges(columns), ylim=_edges(rows)[::-1], aspect="equal")
    ax.grid(visible=False)
    return {"x": columns, "y": rows}


def _draw_ellipses(ax: Axes, cell: Cell, mark: Mark) -> dict[str, Axis]:
    """Contours of Gaussians at one standard deviation, filled as their sizes say (0 to 1)."""
    mean, cov = cell.evaluate(mark.y), cell.evaluate(mark.cov)
    size = cell.evaluate(mark.size) if mark.size is not None else 1.0
    means, covs = mean.values.reshape(-1, 2), cov.values.reshape(-1, 2, 2)
    sizes = np.broadcast_to(np.ravel(getattr(size, "values", size)), len(means))
    label = None if mark.label is None else cell.format(mark.label)
    for k, (mu, sigma, weight) in enumerate(zip(means, covs, sizes, strict=True)):
        if weight > MIN_SIZE:
            edge = ellipse(mu, sigma, 1.0)
            look = {"color": f"C{k % 8}" if mark.by else "C1", **mark.look}
            if mark.size is not None:
                ax.fill(*edge, alpha=float(min(1, weight)), linewidth=0, **look)
            ax.plot(*edge, **{"linewidth": 1, "label": label, **look})
    return {}


def _draw_graph(ax: Axes, cell: Cell, mark: Mark) -> dict[str, Axis]:
    """Texts such as "x1 -> fa" as arrows of a tree from `root`, numbered from `first`."""
    value, look = cell.evaluate(mark.y), dict(mark.look)
    root, squares = cell.format(look.pop("root", "")), look.pop("squares", None)
    first = cell.evaluate(look.pop("first", None))
    edges = [(a, b) for a, _, b in (str(edge).partition(" -> ") for edge in value.values)]
    near: dict[str, list[str]] = {}
    for a, b in edges:
        near.setdefault(a, []).append(b)
        near.setdefault(b, []).append(a)
    root = root or edges[0][0]
    if root not in near:
        raise NotRecorded(f"{mark.y}: there is no node '{root}'; allowed: {', '.join(near)}")
    below: dict[str, list[str]] = {}
    rest, seen = [root], {root}
    while rest:
        node = rest.pop(0)
        below[node] = sorted(set(near[node]) - seen)
        rest += below[node]
        seen |= set(below[node])
    places = graphs.tree_layout(root, below)
    graphs.arrows(ax, places, edges, **look)
    if first is not None:
        numbers = {edge: str(first + k) for k, edge in enumerate(edges)}
        graphs.edge_labels(ax, places, numbers)
    graphs.nodes(ax, places, squares=[n for n in places if squares and n.startswith(squares)])
    return {}


_SERIES: dict[str, Callable[[Axes, Series, Cell, Mark], None]] = {
    "line": _draw_line,
    "step": _draw_line,
    "point": _draw_points,
    "bar": _draw_bars,
    "hist": _draw_histogram,
    "band": _draw_band,
    "text": _draw_text,
}
_PLANES: dict[str, Callable[[Axes, Cell, Mark], dict[str, Axis]]] = {
    "rule": _draw_rule,
    "diagonal": _draw_diagonal,
    "image": _draw_image,
    "contour": _draw_contour,
    "hinton": _draw_hinton,
    "ellipse": _draw_ellipses,
    "graph": _draw_graph,
}


# Legends and labels of the whole figure.


def _remove_repeated_labels(axes: Sequence[Axes], columns: int) -> None:
    """Labels of x above an equal one, and of y to the right of an equal one, are not drawn."""
    for k, ax in enumerate(axes):
        below = axes[k + columns] if k + columns < len(axes) else None
        if below is not None and below.get_xlabel() == ax.get_xlabel():
            ax.set_xlabel("")
    for k, ax in reversed(list(enumerate(axes))):
        if k % columns and axes[k - 1].get_ylabel() == ax.get_ylabel():
            ax.set_ylabel("")


def _legends(figure: Figure, axes: Sequence[Axes], columns: int) -> None:
    """One legend for panels with the same entries and for narrow panels, else one in each panel."""
    entries: list[dict[str, Any]] = []
    for ax in axes:
        handles, labels = ax.get_legend_handles_labels()
        entries.append(dict(zip(reversed(labels), reversed(handles), strict=True)))
    shared = [e for e in entries if sum(o.keys() == e.keys() for o in entries) > 1 or columns > 2]
    merged_legend(figure, [a for a, e in zip(axes, entries, strict=True) if e in shared], 4)
    for ax, own in zip(axes, entries, strict=True):
        if own and own not in shared:
            place = {"loc": "center left", "bbox_to_anchor": (1, 0.5)}
            options: dict[str, Any] = place if len(own) > MAX_LEGEND else {}
            ax.legend([*own.values()][::-1], [*own][::-1], fontsize="small", **options)
