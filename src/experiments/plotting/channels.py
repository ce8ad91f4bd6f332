"""Evaluates the channels of a mark: arrays on common axes, with labels, colours and dashes.

The axes of arrays are matched by name, so a mark needs no shapes. A coordinate of an axis has the
same colour in every figure of an outcome, whichever other coordinates are drawn.
"""

import re
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import rcParams

from bythebook.experiments.core.alignment import ExpressionError, align, require_equal
from bythebook.experiments.core.expressions import evaluate
from bythebook.experiments.core.outcome import Axis, Outcome, Quantity
from bythebook.experiments.core.study import Study
from bythebook.experiments.plotting.clustering import MARKERS
from bythebook.experiments.plotting.labels import axis_labels, plane_labels
from bythebook.experiments.plotting.marks import EXPRESSIONS, Mark, Panel
from bythebook.models.types import AnyArray

DASHES = ("-", "--", "-.", ":")


class NotRecorded(ExpressionError):
    """A quantity or a coordinate that the outcome does not have."""


class Words(dict[str, Any]):
    """The words of labels and titles: labels of the data, and the study's parameters."""

    def __init__(self, study: Study, extra: Mapping[str, Any]) -> None:
        super().__init__(vars(study) | dict(extra))
        self._study = study

    def __missing__(self, name: str) -> str:
        data = getattr(self._study, "data", None)
        if name in ("input", "target", "loss"):
            return axis_labels(data)[("input", "target", "loss").index(name)]
        if name in ("x1", "x2"):
            standardised = bool(getattr(self._study, "standardise", False))
            return plane_labels(data, standardised=standardised)[("x1", "x2").index(name)]
        raise ExpressionError(f"label {{{name}}} is unknown; allowed: {', '.join(self)}")


@dataclass
class Cell:
    """One panel of a figure: its axes, its place on the facet's axis, and the series of marks."""

    panel: Panel
    at: dict[str, Any]  # the facet's axis and coordinate
    study: Study
    outcome: Outcome
    strict: bool

    def evaluate(self, channel: Any) -> Any:
        """The value of an expression in this panel; numbers are returned unchanged."""
        if not isinstance(channel, str):
            return channel
        value = evaluate(channel, self.outcome)
        for name, place in self.at.items():
            if isinstance(value, Quantity) and name in value.dims:
                value = value.sel(**{name: place})
        return value.item if isinstance(value, Quantity) and not value.axes else value

    def format(self, text: str, place: Any = None, **extra: Any) -> str:
        """A label with its words; `{}` is a place on an axis."""
        shown = next(iter(self.at.values()), "") if place is None else place
        return string.Formatter().vformat(text, (plain(shown),), Words(self.study, extra))

    def axis_label(self, name: str) -> str:
        return self._declared("axes", name)

    def quantity_label(self, channel: Any) -> str:
        """The meaning of a quantity; of an expression, its text."""
        text = str(channel)
        return self._declared("quantities", text) if text in self.outcome else text

    def _declared(self, kind: str, name: str) -> str:
        declared = getattr(self.study, kind, {}).get(name)
        if declared is None:
            return name.replace("_", " ")
        unit = f" ({declared.unit})" if declared.unit else ""
        return f"{declared.meaning}{unit}"


def places_on(axis: Axis, only: Sequence[Any], strict: bool) -> list[Any]:
    """The coordinates to draw, as the axis has them."""
    if not only:
        return list(axis.values.tolist())
    found = []
    for place in only:
        try:
            found.append(axis.values[axis.index_of(place)].item())
        except LookupError as error:
            if strict:
                raise NotRecorded(str(error)) from None
    if not found:
        raise NotRecorded(f"axis {axis.name} has none of the coordinates {list(only)}")
    return found


@dataclass
class Series:
    """The arrays of a mark at one coordinate of `by`; each is (rows, places along the mark)."""

    arrays: dict[str, AnyArray]
    label: str | None
    look: dict[str, Any]
    position: int = 0  # among the series of the mark, for bars side by side
    count: int = 1

    def masked(self) -> Iterator[tuple[AnyArray, AnyArray]]:
        """X and y of each row, where the mark is drawn."""
        rows = zip(self.arrays["x"], self.arrays["y"], strict=True)
        keep = self.arrays.get("where")
        for k, (x, y) in enumerate(rows):
            yield (x, y) if keep is None else (x[keep[k]], y[keep[k]])

    def points(self) -> tuple[AnyArray, AnyArray]:
        """X and y of all rows."""
        x, y = zip(*self.masked(), strict=True)
        return np.concatenate(x), np.concatenate(y)


def _values(cell: Cell, mark: Mark) -> tuple[dict[str, Any], dict[str, Axis]]:
    """The values of the channels, and the axes that channels name."""
    texts = {name: getattr(mark, name) for name in EXPRESSIONS if getattr(mark, name) is not None}
    axes = cell.outcome.axes
    named = {
        name: value
        for name, value in texts.items()
        if name in ("x", "y") and value in axes and value not in cell.outcome
    }
    values = {name: cell.evaluate(text) for name, text in texts.items() if name not in named}
    own = {axis.name: axis for v in values.values() if isinstance(v, Quantity) for axis in v.axes}
    for name, value in texts.items():  # an axis and a quantity may have one name: inputs over x
        if name == "x" and value in axes and value in own and value != texts.get("y"):
            named[name] = value
    return values, {name: own.get(value, axes[value]) for name, value in named.items()}


def mark_series(cell: Cell, mark: Mark, colour: int) -> tuple[list[Series], dict[str, Axis]]:
    """The series of a mark, and the axes along x and y, of which there may be one."""
    values, along = _values(cell, mark)
    axes: dict[str, Axis] = {}
    for value in values.values():
        for axis in value.axes if isinstance(value, Quantity) else ():
            require_equal(axes.setdefault(axis.name, axis), axis)
    if mark.by is not None and mark.by not in axes:
        raise NotRecorded(f"by='{mark.by}' is no axis of {mark.y}; allowed: {', '.join(axes)}")
    y = values.get("y")
    if not along and "x" not in values and isinstance(y, Quantity):
        own = [axis for axis in y.axes if axis.name != mark.by] or list(y.axes)
        along = {"x": own[-1]}
    for name, axis in along.items():
        values[name] = axis.of(positions(axis))
    last = next((axis.name for axis in along.values()), None)
    if last is None and isinstance(y, Quantity):
        last = next((name for name in reversed(y.dims) if name != mark.by), None)
    first = [mark.by] if mark.by is not None else []
    order = [*first, *(name for name in axes if name not in (mark.by, last))]
    order += [last] if last is not None and last != mark.by else []
    arrays = dict(
        zip(
            values,
            np.broadcast_arrays(*(np.asarray(align(v, order)) for v in values.values())),
            strict=True,
        )
    )
    if mark.by is None:
        rows = {name: _rows(array) for name, array in arrays.items()}
        label = _label(cell, mark, None, rows)
        return [Series(rows, label, _style(mark, colour))], along
    found, axis = [], axes[mark.by]
    places = places_on(axis, mark.only, cell.strict)
    known = cell.outcome.axes.get(axis.name, axis)  # colours belong to places on the whole axis
    for position, place in enumerate(places):
        rows = {name: _rows(array[axis.index_of(place)]) for name, array in arrays.items()}
        look = _style(mark, known.index_of(place))
        label = _label(cell, mark, place, rows)
        found.append(Series(rows, label, look, position, len(places)))
    return found, along


def _rows(array: AnyArray) -> AnyArray:
    return array.reshape(-1, array.shape[-1] if array.ndim else 1)


def positions(axis: Axis) -> AnyArray:
    return np.arange(len(axis)) if axis.values.dtype.kind == "U" else axis.values


def _label(cell: Cell, mark: Mark, place: Any, rows: Mapping[str, AnyArray]) -> str | None:
    """The entry in the legend: the mark's own, or the coordinate of `by`."""
    if mark.label is None or mark.kind == "text":  # texts are formatted one by one
        if place is None:
            return None
        return (
            place if isinstance(place, str) else f"{cell.axis_label(str(mark.by))} {plain(place)}"
        )
    single = {name: array.item() for name, array in rows.items() if array.size == 1}
    return cell.format(mark.label, place, **single) or None


def plain(value: Any) -> Any:
    """Floats with as few digits as needed."""
    return f"{value:.4g}" if isinstance(value, float) else value


def _style(mark: Mark, colour: int) -> dict[str, Any]:
    """Colour, dashes and symbol of a place; beyond the colours of the style, other dashes.

    The colours C0, C1, ... of a mark are those of the style, with its dashes.
    """
    cycle = rcParams["axes.prop_cycle"].by_key()
    own = str(mark.look.get("color", f"C{colour}"))
    if not re.fullmatch(r"C\d+", own):
        return _SYMBOLS.get(mark.kind, {}) | mark.look
    turn, index = divmod(int(own[1:]), len(cycle["color"]))
    look: dict[str, Any] = {"color": cycle["color"][index]}
    if mark.kind in ("line", "step") and not {"ls", "linestyle"} & mark.look.keys():
        dashes = DASHES.index(cycle["linestyle"][index] if "linestyle" in cycle else "-")
        look["linestyle"] = DASHES[(dashes + turn) % len(DASHES)]
    if mark.kind == "point":
        look |= {"linestyle": "", "marker": MARKERS[turn % len(MARKERS)]}
    return look | {name: value for name, value in mark.look.items() if name != "color"}


_SYMBOLS: dict[str, dict[str, Any]] = {"point": {"linestyle": "", "marker": MARKERS[0]}}
