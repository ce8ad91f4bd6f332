"""What a study found: metrics, series, tables and arrays, as JSON and npz keep them exactly."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from models.types import AnyArray

Scalar = float | int | bool | str  # a metric
Table = dict[str, list[Any]]  # columns of equal length


class Series(NamedTuple):
    """A curve over whole-numbered steps: EM iterations, polynomial orders, the index of a grid."""

    steps: list[int]
    values: list[float]


@dataclass(frozen=True)
class Outcome:
    """Everything a run computed. Figures, tables and verdicts are made from this alone."""

    metrics: Mapping[str, Any] = field(default_factory=dict)  # scalars by name
    series: Mapping[str, Any] = field(default_factory=dict)  # a Series, or bare values
    tables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # columns
    arrays: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        set_ = object.__setattr__  # a frozen dataclass that normalises its own fields
        set_(self, "metrics", {name: plain(value) for name, value in self.metrics.items()})
        set_(self, "series", {name: _series(curve) for name, curve in self.series.items()})
        set_(self, "tables", {name: _table(name, rows) for name, rows in self.tables.items()})
        set_(self, "arrays", {name: np.asarray(value) for name, value in self.arrays.items()})

    def to_json(self) -> dict[str, Any]:
        """All but the arrays, which go to an npz file of their own."""
        return {
            "metrics": self.metrics,
            "series": {name: curve._asdict() for name, curve in self.series.items()},
            "tables": self.tables,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> "Outcome":
        series = {name: Series(**curve) for name, curve in data["series"].items()}
        return cls(dict(data["metrics"]), series, dict(data["tables"]), dict(arrays))


def differences(a: Outcome, b: Outcome) -> list[str]:
    """The names of everything that is not identical to the last bit."""
    found = []
    for part in ("metrics", "series", "tables"):
        left, right = a.to_json()[part], b.to_json()[part]
        for name in sorted(left.keys() | right.keys()):
            if name not in left or name not in right or dumps(left[name]) != dumps(right[name]):
                found.append(f"{part}/{name}")
    for name in sorted(a.arrays.keys() | b.arrays.keys()):
        x, y = a.arrays.get(name), b.arrays.get(name)
        same = x is not None and y is not None and x.dtype == y.dtype and x.shape == y.shape
        if not same or x.tobytes() != y.tobytes():  # type: ignore[union-attr]
            found.append(f"arrays/{name}")
    return found


def plain(value: Any) -> Any:
    """NumPy scalars and arrays as the Python values they stand for."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(entry) for entry in value]
    return value


def _series(curve: Any) -> Series:
    if isinstance(curve, Series):
        steps, values = curve
    else:  # bare values: steps 0, 1, 2, ...
        steps, values = list(range(len(curve))), curve
    if len(steps) != len(values):
        raise ValueError(f"a series has {len(steps)} steps and {len(values)} values")
    return Series([int(step) for step in steps], [float(value) for value in values])


def _table(name: str, columns: Mapping[str, Any]) -> Table:
    table = {column: list(plain(values)) for column, values in columns.items()}
    if len({len(values) for values in table.values()}) > 1:
        lengths = {column: len(values) for column, values in table.items()}
        raise ValueError(f"the columns of table {name} differ in length: {lengths}")
    return table


# JSON has no NaN or infinity; they travel as strings that no metric would use for anything else.
_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_MARK = "float:"


def dumps(value: Any, indent: int | None = None) -> str:
    """Strict JSON, floats to the last bit."""
    try:
        return json.dumps(value, indent=indent, allow_nan=False, ensure_ascii=False)
    except (TypeError, ValueError):  # not a number JSON has, or a mapping other than a dict
        return json.dumps(_encode(value), indent=indent, allow_nan=False, ensure_ascii=False)


def loads(text: str) -> Any:
    """The inverse of `dumps`."""
    value = json.loads(text)
    return _decode(value) if _MARK in text else value


def _encode(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return _MARK + ("NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity")
    if isinstance(value, Mapping):
        return {key: _encode(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_encode(entry) for entry in value]
    return value


def _decode(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(_MARK):
        return _SPECIAL.get(value.removeprefix(_MARK), value)
    if isinstance(value, dict):
        return {key: _decode(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_decode(entry) for entry in value]
    return value
