"""Axis labels with units for the data sets of the books."""

from typing import NamedTuple

from bythebook.models.datasets import load

_QUANTITIES = {  # column: name, unit
    "year": ("Year", ""),
    "time": ("Winning time", "s"),
    "eruption": ("Length of the eruption", "min"),
    "waiting": ("Time to the next eruption", "min"),
}


class AxisLabels(NamedTuple):
    """Labels for the input, the target and the square of the target."""

    x: str
    t: str
    loss: str


def axis_labels(data: str | None) -> AxisLabels:
    """Labels for a data set: its first column is the input, its last column the target."""
    columns = ["x", "t"] if data is None else list(load(data).columns)
    x, x_unit = _QUANTITIES.get(columns[0], (columns[0], ""))
    t, t_unit = _QUANTITIES.get(columns[-1], (columns[-1], ""))
    return AxisLabels(
        _label(x, x_unit), _label(t, t_unit), _label("Mean squared loss", t_unit, "²")
    )


def _label(name: str, unit: str, power: str = "") -> str:
    return f"{name} ({unit}{power})" if unit else name


def plane_labels(data: str | None, *, standardised: bool) -> tuple[str, str]:
    """Labels with units for the two axes of a plot of points."""
    if data is None or "eruption" not in load(data).columns:
        return "$x_1$", "$x_2$"
    names = axis_labels(data)
    if not standardised:
        return names.x, names.t
    first, second = (name.partition(" (")[0] for name in (names.x, names.t))
    return f"{first} (standardised)", f"{second} (standardised)"
