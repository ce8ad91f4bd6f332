"""What a study found: metrics, series, tables and arrays, as JSON and npz keep them exactly."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from experiments.contract import outcome
from experiments.contract.exact_json import dumps
from experiments.contract.outcome import Axis, Quantity
from experiments.contract.vocabulary import VOCABULARY
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

    @cached_property
    def quantities(self) -> dict[str, Quantity]:
        """The same as quantities, for claims and views."""
        found: dict[str, Quantity] = {}
        for name, values in self.arrays.items():
            axes = [Axis(f"{_word(name)}_{i}", np.arange(n)) for i, n in enumerate(values.shape)]
            found[_word(name) + "_array" * (name in self.metrics)] = Quantity(values, axes)
        for name, curve in self.series.items():
            found[_word(name)] = Axis("step", curve.steps).of(curve.values)
        for name, value in self.metrics.items():
            if value is not None:
                found[_word(name)] = Quantity(value)
        return found

    def to_json(self) -> Any:
        """All but the arrays, which go to an npz file of their own."""
        return {
            "metrics": self.metrics,
            "series": {name: curve._asdict() for name, curve in self.series.items()},
            "tables": self.tables,
        }, self.arrays

    @classmethod
    def from_json(cls, data: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> "Outcome":
        series = {name: Series(**curve) for name, curve in data["series"].items()}
        return cls(dict(data["metrics"]), series, dict(data["tables"]), dict(arrays))


def differences(a: Any, b: Any) -> list[str]:
    """The names of everything that is not identical to the last bit."""
    found = [] if type(a) is type(b) else ["the kind of outcome"]
    if not isinstance(a, Outcome):
        return outcome.differences(a, b)
    for part in ("metrics", "series", "tables"):
        left, right = a.to_json()[0][part], b.to_json()[0][part]
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


def _word(name: str) -> str:
    word = re.sub(r"\W", "_", name)
    return word + "_" * (word in VOCABULARY)
