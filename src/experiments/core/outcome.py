"""Outcomes of studies: named quantities, each a number or an array over named axes.

    order = axis("order", [1, 2, 3])
    Outcome(loo_loss=order.of(losses), errors=over(counts, lag, game), log_evidence=-106.9)

An axis has a name and one coordinate per index. Within an outcome, axes of one name are equal.
MLflow's metrics and curves, tables, claims and figures are computed from outcomes.
"""

import keyword
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bythebook.models.types import AnyArray, Bools

if TYPE_CHECKING:
    import pandas as pd

Scalar = float | int | bool | str
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_KINDS = {"f": np.float64, "i": np.int64, "u": np.int64, "b": np.bool_, "U": np.str_}
MAX_INLINE_ELEMENTS = 256  # larger arrays are stored in binary, apart from the JSON


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

    __slots__ = ("name", "values")

    def __init__(self, name: str, values: Any) -> None:
        if not _NAME.fullmatch(name) or keyword.iskeyword(name):  # at(q, class=1) is not valid
            raise ValueError(f"invalid axis name '{name}'; allowed: letters, digits, _")
        if name in ("quantity", "value"):
            raise ValueError(f"invalid axis name '{name}': `to_frame` has a column of this name")
        self.name = name
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


class Quantity:
    """An array over named axes; without axes, a number, a boolean or text."""

    __slots__ = ("axes", "values")

    def __init__(self, values: Any, axes: Sequence[Axis] = ()) -> None:
        self.values = _as_supported_array(values, "a quantity")
        self.axes = tuple(axes)
        if self.values.shape != tuple(len(entry) for entry in self.axes):
            raise ValueError(f"the shape {self.values.shape} does not match the axes {self.axes}")
        if len(set(self.dims)) < len(self.axes):
            raise ValueError(f"the axes {', '.join(self.dims)} are not distinct")

    def __repr__(self) -> str:
        return f"Quantity over {', '.join(map(repr, self.axes))}" if self.axes else repr(self.item)

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: Any = None, copy: Any = None) -> AnyArray:
        return np.array(self.values, dtype, copy=copy)

    @property
    def item(self) -> Scalar:
        """The number, boolean or text of a quantity without axes."""
        value: Scalar = self.values.item()
        return value

    @property
    def dims(self) -> tuple[str, ...]:
        """The names of the axes."""
        return tuple(entry.name for entry in self.axes)

    def coord(self, name: str) -> AnyArray:
        """The coordinates of the axis `name`."""
        return self.axes[self.dim_index(name)].values

    def dim_index(self, name: str) -> int:
        """The index of the axis `name`."""
        if name not in self.dims:
            allowed = ", ".join(self.dims) or "none"
            raise LookupError(f"there is no axis '{name}'; allowed: {allowed}")
        return self.dims.index(name)

    def sel(self, **labels: Any) -> "Quantity":
        """The part at some coordinates: `errors.sel(lag=3)`."""
        part = self
        for name, label in labels.items():
            dim = part.dim_index(name)
            index = part.axes[dim].index_of(label)
            rest = part.axes[:dim] + part.axes[dim + 1 :]
            part = Quantity(np.take(part.values, index, axis=dim), rest)
        return part

    def to_series(self, name: str = "value") -> "pd.Series[Any]":
        """As a pandas series whose index has the axes as levels."""
        import pandas as pd

        if not self.axes:
            return pd.Series([self.item], name=name)
        index = pd.MultiIndex.from_product([a.values for a in self.axes], names=self.dims)
        flat = index if len(self.axes) > 1 else index.get_level_values(0)
        return pd.Series(self.values.ravel(), index=flat, name=name)


def over(values: Any, *axes: Axis) -> Quantity:
    """An array over axes in this order."""
    return Quantity(values, axes)


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
        return "\n".join(f"{name}: {quantity!r}" for name, quantity in self.items())

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
        """As an xarray data set; requires xarray."""
        import xarray as xr

        coordinates = {name: entry.values for name, entry in self.axes.items()}
        return xr.Dataset({k: (q.dims, q.values) for k, q in self.items()}, coordinates)

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
