"""What the axes of a regression data set are called, with units."""

from typing import NamedTuple

from models.datasets import load

_QUANTITIES = {  # column: name, unit
    "year": ("Year", ""),
    "time": ("Winning time", "s"),
    "eruption": ("Length of the eruption", "min"),
    "waiting": ("Time to the next eruption", "min"),
}


class AxisNames(NamedTuple):
    """Labels for the input, the target and the square of the target."""

    x: str
    t: str
    loss: str


def axis_names(data: str | None) -> AxisNames:
    """The labels of a data set's plots: its first column is the input, its last the target."""
    columns = ["x", "t"] if data is None else list(load(data).columns)
    x, x_unit = _QUANTITIES.get(columns[0], (columns[0], ""))
    t, t_unit = _QUANTITIES.get(columns[-1], (columns[-1], ""))
    return AxisNames(_label(x, x_unit), _label(t, t_unit), _label("Mean squared loss", t_unit, "²"))


def _label(name: str, unit: str, power: str = "") -> str:
    return f"{name} ({unit}{power})" if unit else name


def plane_names(data: str | None, *, standardised: bool) -> tuple[str, str]:
    """The names of the two axes of points to be clustered, with units."""
    if data is None or "eruption" not in load(data).columns:
        return "$x_1$", "$x_2$"
    names = axis_names(data)
    if not standardised:
        return names.x, names.t
    first, second = (name.partition(" (")[0] for name in (names.x, names.t))
    return f"{first} (standardised)", f"{second} (standardised)"
