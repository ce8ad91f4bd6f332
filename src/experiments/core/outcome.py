"""Outcomes of studies: named quantities, each a number or an array over named axes.

    outcome({"order": [1, 2, 3]}, loo_loss=("order", losses), log_evidence=-106.9)

An axis has a name and one coordinate per index. Within an outcome, axes of one name are equal.
MLflow's metrics and curves, tables, claims and figures are computed from outcomes.
"""

import keyword
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bythebook.experiments.core.declarations import AxisDeclaration, QuantityDeclaration
from bythebook.experiments.core.operations import Operators
from bythebook.models.types import AnyArray, Bools, Ints

if TYPE_CHECKING:
    import pandas as pd

Scalar = float | int | bool | str
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_KINDS = {"f": np.float64, "i": np.int64, "u": np.int64, "b": np.bool_, "U": np.str_}
MAX_INLINE_ELEMENTS = 256  # larger arrays are stored in binary, apart from the JSON
MAX_REPR_ELEMENTS = 24  # larger arrays are abbreviated in representations
MAX_REPR_CHARS = 100  # of a line
# Functions and constants of the language of claims, which hide quantities of the same name.
LANGUAGE_WORDS = frozenset(
    (
        *("abs", "agree", "all", "any", "argmax", "argmin", "at", "coordinates", "corr", "cos"),
        *("count", "diff", "distinct", "exp", "falls", "finite", "first", "inf", "last", "log"),
        *("max", "mean", "median", "min", "near", "never_falls", "never_rises", "pi", "quantile"),
        *("rises", "round", "sd", "se", "share", "sin", "size", "sqrt", "sum", "where"),
    )
)


def _as_supported_array(values: Any, what: str) -> AnyArray:
    """The values as an array of floats, ints, booleans or text; other types are refused."""
    array = np.asarray(values)
    kind = _KINDS.get(array.dtype.kind)
    if kind is None:
        raise TypeError(f"{what} has type {array.dtype}; allowed: numbers, booleans, text")
    if array.dtype.kind == "u" and array.size and array.max() > np.iinfo(np.int64).max:
        raise TypeError(f"{what} has an integer of more than 63 bits")
    return array if kind is np.str_ else array.astype(kind, copy=False)


class Axis:
    """A name, and one coordinate per index."""

    __slots__ = ("declaration", "name", "values")

    def __init__(self, name: str, values: Any, declaration: AxisDeclaration | None = None) -> None:
        if not _NAME.fullmatch(name) or keyword.iskeyword(name):  # at(q, class=1) is not valid
            raise ValueError(f"invalid axis name '{name}'; allowed: letters, digits, _")
        if name in ("quantity", "value"):
            raise ValueError(f"invalid axis name '{name}': `to_frame` has a column of this name")
        self.name = name
        self.declaration = declaration  # the meaning, if it is known
        self.values = _as_supported_array(values, f"axis {name}")
        if self.values.ndim != 1:
            raise ValueError(f"the coordinates of axis {name} must be one-dimensional")

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"{self.name}({len(self)})"

    def of(self, values: Any) -> "Quantity":
        """An array along this axis."""
        return Quantity(values, (self,))

    def equals(self, other: "Axis") -> bool:
        """Whether name and coordinates are equal."""
        if self is other:
            return True
        return self.name == other.name and bool(np.array_equal(self.values, other.values))

    def index_of(self, label: Any) -> int:
        """The index of a coordinate; floats may differ in the last digits (`isclose`)."""
        exact = np.flatnonzero(self._has_type_of(label) & (self.values == label))
        if len(exact) > 1:
            raise LookupError(f"axis {self.name} has the coordinate {label!r} {len(exact)} times")
        matches = exact if len(exact) else np.flatnonzero(self.isclose(label))
        if len(matches) == 0:
            raise LookupError(
                f"axis {self.name} has no coordinate {label!r}; allowed: {self.format()}"
            )
        return int(matches[0] if len(matches) == 1 else np.abs(self.values - label).argmin())

    def indices_of(self, label: Any) -> Ints:
        """The indices of several coordinates: of a list, or of a slice that includes both ends."""
        if not isinstance(label, slice):
            return np.array([self.index_of(entry) for entry in np.ravel(label).tolist()], np.int64)
        ends = [end for end in (label.start, label.stop) if end is not None]
        if any(not self._has_type_of(end) for end in ends):
            raise LookupError(f"axis {self.name} cannot be cut at {ends}; allowed: {self.format()}")
        if self.values.dtype.kind in "Ub":  # in the order of the axis
            first = 0 if label.start is None else self.index_of(label.start)
            last = len(self) - 1 if label.stop is None else self.index_of(label.stop)
            return np.arange(first, last + 1)[:: label.step]
        inside = np.ones(len(self), bool)
        if label.start is not None:
            inside &= (self.values >= label.start) | self.isclose(label.start)
        if label.stop is not None:
            inside &= (self.values <= label.stop) | self.isclose(label.stop)
        return np.flatnonzero(inside)[:: label.step]

    def take(self, indices: Any) -> "Axis":
        """The axis with some of its coordinates."""
        return Axis(self.name, self.values[indices], self.declaration)

    def isclose(self, label: Any) -> Bools:
        """Where the coordinates equal `label`; floats may differ by rounding.

        The tolerance is relative to the label or, near zero, to the smallest step of the axis,
        because an axis may cover many orders of magnitude.
        """
        if not self._has_type_of(label):
            return np.zeros(len(self), dtype=np.bool_)
        if self.values.dtype.kind != "f" or not math.isfinite(label):
            return np.asarray(self.values == label)
        finite = np.unique(self.values[np.isfinite(self.values)])
        step = np.diff(finite).min() if len(finite) > 1 else 0.0
        return np.asarray(np.abs(self.values - label) <= 1e-9 * max(abs(label), step))

    def _has_type_of(self, label: Any) -> bool:
        """Whether a label has the type of the coordinates: text, boolean or number."""
        kind = "U" if isinstance(label, str) else "b" if isinstance(label, bool | np.bool_) else ""
        return kind == self.values.dtype.kind or (kind == "" and self.values.dtype.kind in "fi")

    def format(self, max_items: int = 12) -> str:
        """The first coordinates and the last as text."""
        shown = [_format_scalar(value) for value in self.values[:max_items].tolist()]
        return ", ".join(shown) + (
            f", ... {_format_scalar(self.values[-1])}" if len(self) > max_items else ""
        )


def axis(name: str, values: Any) -> Axis:
    """An axis with numbers or text as coordinates; an int n means 0, ..., n - 1."""
    return Axis(name, np.arange(values) if isinstance(values, int) else values)


class Quantity(Operators):
    """An array over named axes; without axes, a number, a boolean or text."""

    __slots__ = ("declaration",)
    axes: tuple[Axis, ...]

    def __init__(
        self,
        values: Any,
        axes: Sequence[Axis] = (),
        declaration: QuantityDeclaration | None = None,
    ) -> None:
        self.declaration = declaration  # the meaning, if it is known
        self.values = _as_supported_array(values, "a quantity")
        self.axes = tuple(axes)
        if self.values.shape != tuple(len(entry) for entry in self.axes):
            raise ValueError(f"the shape {self.values.shape} does not match the axes {self.axes}")
        if len(set(self.dims)) < len(self.axes):
            raise ValueError(f"the axes {', '.join(self.dims)} are not distinct")

    def __repr__(self) -> str:
        """Axes, a few numbers, coordinates, and the meaning if it is known."""
        meaning = [self.declaration.format()] if self.declaration else []
        if not self.axes:
            return ": ".join([repr(self.item), *meaning])
        width = max(len(name) for name in self.dims)
        coordinates = [
            f"{entry.name:{width}}  {entry.format(6)}"
            + (f"  {entry.declaration.format()}" if entry.declaration else "")
            for entry in self.axes
        ]
        return "\n".join([f"Quantity{self._shape()}", self._numbers(), *coordinates, *meaning])

    def _shape(self) -> str:
        """Names and lengths of the axes: `(lag: 3, game: 2)`."""
        return f"({', '.join(f'{entry.name}: {len(entry)}' for entry in self.axes)})"

    def _numbers(self) -> str:
        """The values as NumPy prints them, abbreviated."""
        return np.array2string(
            self.values, threshold=MAX_REPR_ELEMENTS, edgeitems=2, precision=6, separator=" "
        )

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: Any = None, copy: Any = None) -> AnyArray:
        return np.array(self.values, dtype, copy=copy)

    def coord(self, name: str) -> AnyArray:
        """The coordinates of the axis `name`."""
        return self.axes[self.dim_index(name)].values

    def dim_index(self, name: str) -> int:
        """The index of the axis `name`."""
        if name not in self.dims:
            allowed = ", ".join(self.dims) or "none"
            raise LookupError(f"there is no axis '{name}'; allowed: {allowed}")
        return self.dims.index(name)

    def sel(self, indexers: Mapping[str, Any] | None = None, /, **labels: Any) -> "Quantity":
        """The part at some coordinates: `errors.sel(lag=3, game=["a", "b"])`.

        A list keeps the axis, and so does a slice, which includes both of its ends:
        `fitted.sel(year=slice(1980, None))`.
        """
        part = self
        for name, label in {**(indexers or {}), **labels}.items():
            dim = part.dim_index(name)
            own = part.axes[dim]
            several = isinstance(label, slice | list | tuple | range | np.ndarray)
            index = own.indices_of(label) if several else own.index_of(label)
            kept = (own.take(index),) if several else ()
            axes = (*part.axes[:dim], *kept, *part.axes[dim + 1 :])
            part = Quantity(np.take(part.values, index, axis=dim), axes, part.declaration)
        return part

    def to_series(self, name: str = "value") -> "pd.Series[Any]":
        """As a pandas series whose index has the axes as levels."""
        import pandas as pd

        if not self.axes:
            return pd.Series([self.item], name=name)
        index = pd.MultiIndex.from_product([a.values for a in self.axes], names=self.dims)
        flat = index if len(self.axes) > 1 else index.get_level_values(0)
        return pd.Series(self.values.ravel(), index=flat, name=name)

    def to_frame(self, name: str = "value") -> "pd.DataFrame":
        """As a pandas frame with one column, whose index has the axes as levels."""
        return self.to_series(name).to_frame()

    def to_xarray(self, name: str | None = None) -> Any:
        """As an xarray array with meaning, unit and equation as attributes; requires xarray."""
        import xarray as xr

        attrs = self.declaration.attrs() if self.declaration else {}
        return xr.DataArray(self.values, _xarray_coordinates(self.axes), self.dims, name, attrs)


def over(values: Any, *axes: Axis) -> Quantity:
    """An array over axes in this order."""
    return Quantity(values, axes)


def outcome(coords: Mapping[str, Any], /, **quantities: Any) -> "Outcome":
    """An outcome from the coordinates of its axes and its quantities, as in xarray.

        outcome({"order": [1, 2], "input": x}, fit=("order input", values), best=3)

    An int n as coordinates means 0, ..., n - 1. A quantity is a pair of the names of its axes and
    its values, or a single value. Every axis belongs to a quantity.
    """
    for word in sorted({*coords, *quantities} & LANGUAGE_WORDS):
        raise ValueError(f"invalid name '{word}': it is a word of the language of claims")
    axes = {name: axis(name, values) for name, values in coords.items()}
    result = Outcome(**{name: _build(name, value, axes) for name, value in quantities.items()})
    unused = [name for name in axes if name not in result.axes]
    if unused:
        raise ValueError(f"the axis {unused[0]} has coordinates, but no quantity is over it")
    return result


def _build(name: str, value: Any, axes: Mapping[str, Axis]) -> Quantity:
    if not isinstance(value, tuple):
        if not isinstance(value, Quantity) and np.ndim(value):
            raise ValueError(f'{name} is an array; allowed: {name}=("axis ...", values)')
        return _quantity(value)
    if len(value) != 2 or not isinstance(value[0], str):
        raise ValueError(f'{name} is not valid; allowed: {name}=("axis ...", values)')
    dims = value[0].split()
    missing = [dim for dim in dims if dim not in axes]
    if missing:
        raise ValueError(
            f"{name} is over {missing[0]}, which has no coordinates; allowed: {', '.join(axes)}"
        )
    shape, lengths = np.shape(value[1]), tuple(len(axes[dim]) for dim in dims)
    if shape != lengths:
        over_axes = ", ".join(repr(axes[dim]) for dim in dims)
        raise ValueError(f"{name} has the shape {shape}; allowed: {lengths}, over {over_axes}")
    return Quantity(value[1], [axes[dim] for dim in dims])


class Outcome(Mapping[str, Quantity]):
    """All quantities that a run computed, by name."""

    def __init__(self, **quantities: Any) -> None:
        self._quantities = {name: _quantity(value) for name, value in quantities.items()}
        self.axes: dict[str, Axis] = {}
        for name, quantity in self._quantities.items():
            if not _NAME.fullmatch(name):
                raise ValueError(f"invalid quantity name '{name}'; allowed: letters, digits, _")
            for entry in quantity.axes:
                known = self.axes.setdefault(entry.name, entry)
                if not known.equals(entry):
                    raise ValueError(
                        f"the coordinates of axis {entry.name} of {name} conflict with those of"
                        " another quantity"
                    )

    def __getitem__(self, name: str) -> Quantity:
        return self._quantities[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._quantities)

    def __len__(self) -> int:
        return len(self._quantities)

    def __repr__(self) -> str:
        """One line for each quantity: axes, a few numbers, and the meaning if it is known."""
        return "\n".join(_one_line(name, quantity) for name, quantity in self.items())

    def describe(
        self,
        quantities: Mapping[str, QuantityDeclaration],
        axes: Mapping[str, AxisDeclaration],
    ) -> "Outcome":
        """The same outcome with the declarations of its study."""
        own = {name: Axis(name, a.values, axes.get(name)) for name, a in self.axes.items()}
        return Outcome(
            **{
                name: Quantity(q.values, [own[dim] for dim in q.dims], quantities.get(name))
                for name, q in self.items()
            }
        )

    def to_frame(self, *names: str) -> "pd.DataFrame":
        """Quantities of the same axes as columns; without names, all quantities in long form."""
        import pandas as pd

        if names:
            return pd.concat([self[name].to_series(name) for name in names], axis=1)
        parts = [
            pd.DataFrame(q.to_series()).reset_index().assign(quantity=n) for n, q in self.items()
        ]
        columns = ["quantity", *self.axes, "value"]
        frame = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)
        return frame[columns]

    def to_xarray(self) -> Any:
        """As an xarray data set with meanings, units and equations; requires xarray."""
        import xarray as xr

        arrays = {name: quantity.to_xarray(name) for name, quantity in self.items()}
        return xr.Dataset(arrays, _xarray_coordinates(list(self.axes.values())))

    def to_json(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """The outcome as JSON, and the arrays that are too large for it, by name."""
        large: dict[str, AnyArray] = {}

        def encode(array: AnyArray, name: str) -> Any:
            if array.size <= MAX_INLINE_ELEMENTS:
                return [array.dtype.kind, array.tolist()]
            large[name] = array
            return None

        axes = {name: encode(entry.values, f"axis {name}") for name, entry in self.axes.items()}
        quantities = {
            name: [list(q.dims), encode(q.values, name)] if q.axes else q.values.item()
            for name, q in self.items()
        }
        return {"axes": axes, "quantities": quantities}, large

    @classmethod
    def from_json(cls, data: Mapping[str, Any], large: Mapping[str, AnyArray]) -> "Outcome":
        """The inverse of `to_json`."""

        def decode(content: Any, name: str) -> AnyArray:
            if content is None:
                return large[name]
            return np.asarray(content[1], _KINDS[content[0]])

        def quantity(content: Any, name: str) -> Quantity:
            if not isinstance(content, list):
                return Quantity(content)
            own = [axes[entry] for entry in content[0]]
            return over(decode(content[1], name).reshape([len(entry) for entry in own]), *own)

        axes = {name: Axis(name, decode(v, f"axis {name}")) for name, v in data["axes"].items()}
        return cls(**{name: quantity(v, name) for name, v in data["quantities"].items()})


def _quantity(value: Any) -> Quantity:
    return value if isinstance(value, Quantity) else Quantity(value)


def _xarray_coordinates(axes: Sequence[Axis]) -> dict[str, Any]:
    return {
        entry.name: (
            entry.name,
            entry.values,
            entry.declaration.attrs() if entry.declaration else {},
        )
        for entry in axes
    }


def _one_line(name: str, quantity: Quantity) -> str:
    if not quantity.axes:
        return f"{name}: {quantity!r}"
    numbers = [_format_scalar(value) for value in quantity.values.ravel()[:4].tolist()]
    shown = ", ".join(numbers) + (", ..." if quantity.values.size > 4 else "")
    line = f"{name}{quantity._shape()}: {shown}"
    meaning = quantity.declaration.format() if quantity.declaration else ""
    text = f"{line}  {meaning}".rstrip()
    return text if len(text) <= MAX_REPR_CHARS else text[: MAX_REPR_CHARS - 4] + " ..."


def diff_outcomes(a: Outcome, b: Outcome) -> list[str]:
    """The names of the quantities and axes that are not bitwise identical."""

    def same(x: AnyArray, y: AnyArray) -> bool:
        if x.dtype.kind != y.dtype.kind or x.shape != y.shape:
            return False
        if x.dtype.kind == "U":  # of any width
            return bool(np.array_equal(x, y))
        return x.tobytes() == y.tobytes() or _normalise_nan(x) == _normalise_nan(y)

    changed = [
        name
        for name in sorted(a.keys() | b.keys())
        if name not in a
        or name not in b
        or a[name].dims != b[name].dims
        or not same(a[name].values, b[name].values)
    ]
    return changed + [
        f"axis {name}"
        for name in sorted(a.axes.keys() & b.axes.keys())
        if not same(a.axes[name].values, b.axes[name].values)
    ]


def _normalise_nan(x: AnyArray) -> bytes:
    """The bytes, with one bit pattern for every NaN: JSON does not distinguish them."""
    return np.where(np.isnan(x), np.nan, x).tobytes()


def _format_scalar(value: Any) -> str:
    if isinstance(value, float) and math.isfinite(value):
        return f"{value:.6g}"
    return str(value)
