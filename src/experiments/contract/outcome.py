"""What a study found: named quantities, each a number or an array over named axes.

    order = axis("order", [1, 2, 3])
    Outcome(loo_loss=order.of(losses), errors=over(counts, lag, game), log_evidence=-106.9)

An axis has a name and a coordinate for each of its places; in one outcome a name stands for one
axis. Everything else is a view of this: MLflow's metrics and curves, tables, claims, figures.
"""

import keyword
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from models.types import AnyArray, Bools

if TYPE_CHECKING:
    import pandas as pd

Scalar = float | int | bool | str
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_KINDS = {"f": np.float64, "i": np.int64, "u": np.int64, "b": np.bool_, "U": np.str_}
INLINE = 256  # entries: larger arrays are kept in binary, beside the JSON


def _plain(values: Any, what: str) -> AnyArray:
    """Floats, whole numbers, truth values or text, and nothing else."""
    array = np.asarray(values)
    kind = _KINDS.get(array.dtype.kind)
    if kind is None:
        raise TypeError(f"{what} holds {array.dtype}; allowed: numbers, truth values, text")
    if array.dtype.kind == "u" and array.size and array.max() > np.iinfo(np.int64).max:
        raise TypeError(f"{what} holds whole numbers of more than 63 bits")
    return array if kind is np.str_ else array.astype(kind, copy=False)


class Axis:
    """A name, and a coordinate for each place."""

    __slots__ = ("name", "values")

    def __init__(self, name: str, values: Any) -> None:
        if not _NAME.fullmatch(name) or keyword.iskeyword(name):  # at(q, class=1) is no Python
            raise ValueError(f"'{name}' is no name for an axis; allowed: letters, digits, _")
        if name in ("quantity", "value"):
            raise ValueError(f"an axis may not be called '{name}', as a column of every frame is")
        self.name = name
        self.values = _plain(values, f"axis {name}")
        if self.values.ndim != 1:
            raise ValueError(f"the coordinates of axis {name} are not a list")

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"{self.name}({len(self)})"

    def of(self, values: Any) -> "Quantity":
        """An array along this axis alone."""
        return Quantity(values, (self,))

    def same(self, other: "Axis") -> bool:
        """Equal name, equal coordinates."""
        if self is other:
            return True
        return self.name == other.name and bool(np.array_equal(self.values, other.values))

    def place(self, label: Any) -> int:
        """Where a coordinate stands; floats may differ in the last digits."""
        exact = np.flatnonzero(self._is(label) & (self.values == label))
        if len(exact) > 1:
            raise LookupError(f"axis {self.name} has {label!r} {len(exact)} times")
        found = exact if len(exact) else np.flatnonzero(self.close(label))
        if len(found) == 0:
            raise LookupError(f"axis {self.name} has no {label!r}; it has {self.told()}")
        return int(found[0] if len(found) == 1 else np.abs(self.values - label).argmin())

    def close(self, label: Any) -> Bools:
        """The places of a coordinate; floats may differ in the last digits.

        The digits are those of the label or, near zero, of the narrowest step of the axis: an axis
        may run over many orders of magnitude.
        """
        if not self._is(label):
            return np.zeros(len(self), dtype=np.bool_)
        if self.values.dtype.kind != "f" or not math.isfinite(label):
            return np.asarray(self.values == label)
        finite = np.unique(self.values[np.isfinite(self.values)])
        step = np.diff(finite).min() if len(finite) > 1 else 0.0
        return np.asarray(np.abs(self.values - label) <= 1e-9 * max(abs(label), step))

    def _is(self, label: Any) -> bool:
        """Is a label of the kind of the coordinates: a word, a truth value or a number?"""
        kind = "U" if isinstance(label, str) else "b" if isinstance(label, bool | np.bool_) else ""
        return kind == self.values.dtype.kind or (kind == "" and self.values.dtype.kind in "fi")

    def told(self, most: int = 12) -> str:
        """The coordinates, for people."""
        shown = [_short(value) for value in self.values[:most].tolist()]
        return ", ".join(shown) + (f", ... {_short(self.values[-1])}" if len(self) > most else "")


def axis(name: str, values: Any) -> Axis:
    """An axis: coordinates may be numbers or words; a whole number n stands for 0, ..., n - 1."""
    return Axis(name, np.arange(values) if isinstance(values, int) else values)


class Quantity:
    """An array over named axes; without axes, a number, a truth value or a word."""

    __slots__ = ("axes", "values")

    def __init__(self, values: Any, axes: Sequence[Axis] = ()) -> None:
        self.values = _plain(values, "a quantity")
        self.axes = tuple(axes)
        if self.values.shape != tuple(len(entry) for entry in self.axes):
            raise ValueError(f"an array of shape {self.values.shape} does not fit {self.axes}")
        if len(set(self.names)) < len(self.axes):
            raise ValueError(f"an axis stands twice among {', '.join(self.names)}")

    def __repr__(self) -> str:
        return f"Quantity over {', '.join(map(repr, self.axes))}" if self.axes else repr(self.item)

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: Any = None, copy: Any = None) -> AnyArray:
        return np.array(self.values, dtype, copy=copy)

    @property
    def item(self) -> Scalar:
        """The number, truth value or word of a quantity without axes."""
        value: Scalar = self.values.item()
        return value

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(entry.name for entry in self.axes)

    def along(self, name: str) -> AnyArray:
        """The coordinates of one of its axes."""
        return self.axes[self.number(name)].values

    def number(self, name: str) -> int:
        """Which of its axes has this name?"""
        if name not in self.names:
            has = ", ".join(self.names) or "none"
            raise LookupError(f"there is no axis '{name}' here; the axes are: {has}")
        return self.names.index(name)

    def at(self, **labels: Any) -> "Quantity":
        """The part at given coordinates: `errors.at(lag=3)`."""
        found = self
        for name, label in labels.items():
            number = found.number(name)
            chosen = found.axes[number].place(label)
            rest = found.axes[:number] + found.axes[number + 1 :]
            found = Quantity(np.take(found.values, chosen, axis=number), rest)
        return found

    def frame(self, name: str = "value") -> "pd.Series[Any]":
        """As pandas has it, the axes as its index."""
        import pandas as pd

        if not self.axes:
            return pd.Series([self.item], name=name)
        index = pd.MultiIndex.from_product([a.values for a in self.axes], names=self.names)
        flat = index if len(self.axes) > 1 else index.get_level_values(0)
        return pd.Series(self.values.ravel(), index=flat, name=name)


def over(values: Any, *axes: Axis) -> Quantity:
    """An array over axes, in their order."""
    return Quantity(values, axes)


class Outcome(Mapping[str, Quantity]):
    """Everything a run computed, by name."""

    def __init__(self, **quantities: Any) -> None:
        self._held = {name: _quantity(value) for name, value in quantities.items()}
        self.axes: dict[str, Axis] = {}
        for name, quantity in self._held.items():
            if not _NAME.fullmatch(name):
                raise ValueError(f"'{name}' is no name for a quantity")
            for entry in quantity.axes:
                known = self.axes.setdefault(entry.name, entry)
                if not known.same(entry):
                    raise ValueError(f"axis {entry.name} of {name} has other coordinates elsewhere")

    def __getitem__(self, name: str) -> Quantity:
        return self._held[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {quantity!r}" for name, quantity in self.items())

    def frame(self, *names: str) -> "pd.DataFrame":
        """Quantities over the same axes side by side; without names, everything in long form."""
        import pandas as pd

        if names:
            return pd.concat([self[name].frame(name) for name in names], axis=1)
        parts = [pd.DataFrame(q.frame()).reset_index().assign(quantity=n) for n, q in self.items()]
        columns = ["quantity", *self.axes, "value"]
        whole = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)
        return whole[columns]

    def dataset(self) -> Any:
        """As an xarray data set, where xarray is installed."""
        import xarray as xr

        coordinates = {name: entry.values for name, entry in self.axes.items()}
        return xr.Dataset({k: (q.names, q.values) for k, q in self.items()}, coordinates)

    def to_json(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """As JSON, and the arrays that are too large for it."""
        large: dict[str, AnyArray] = {}

        def kept(array: AnyArray, name: str) -> Any:
            if array.size <= INLINE:
                return [array.dtype.kind, array.tolist()]
            large[name] = array
            return None

        axes = {name: kept(entry.values, f"axis {name}") for name, entry in self.axes.items()}
        quantities = {
            name: [list(q.names), kept(q.values, name)] if q.axes else q.values.item()
            for name, q in self.items()
        }
        return {"axes": axes, "quantities": quantities}, large

    @classmethod
    def from_json(cls, data: Mapping[str, Any], large: Mapping[str, AnyArray]) -> "Outcome":
        def found(stated: Any, name: str) -> AnyArray:
            if stated is None:
                return large[name]
            return np.asarray(stated[1], _KINDS[stated[0]])

        def quantity(stated: Any, name: str) -> Quantity:
            if not isinstance(stated, list):
                return Quantity(stated)
            along = [axes[entry] for entry in stated[0]]
            return over(found(stated[1], name).reshape([len(entry) for entry in along]), *along)

        axes = {name: Axis(name, found(v, f"axis {name}")) for name, v in data["axes"].items()}
        return cls(**{name: quantity(stated, name) for name, stated in data["quantities"].items()})


def _quantity(value: Any) -> Quantity:
    return value if isinstance(value, Quantity) else Quantity(value)


def differences(a: Outcome, b: Outcome) -> list[str]:
    """The names of everything that is not identical to the last bit."""

    def same(x: AnyArray, y: AnyArray) -> bool:
        if x.dtype.kind != y.dtype.kind or x.shape != y.shape:
            return False
        if x.dtype.kind == "U":  # of whatever width
            return bool(np.array_equal(x, y))
        return x.tobytes() == y.tobytes() or _one_nan(x) == _one_nan(y)

    found = [
        name
        for name in sorted(a.keys() | b.keys())
        if name not in a
        or name not in b
        or a[name].names != b[name].names
        or not same(a[name].values, b[name].values)
    ]
    return found + [
        f"axis {name}"
        for name in sorted(a.axes.keys() & b.axes.keys())
        if not same(a.axes[name].values, b.axes[name].values)
    ]


def _one_nan(x: AnyArray) -> bytes:
    """The bits, with one NaN for all of them: JSON does not tell one from another."""
    return np.where(np.isnan(x), np.nan, x).tobytes()


def _short(value: Any) -> str:
    if isinstance(value, float) and math.isfinite(value):
        return f"{value:.6g}"
    return str(value)
