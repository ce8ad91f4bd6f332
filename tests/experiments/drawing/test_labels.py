"""What axes are called: names of quantities with their units, and the unit of a square."""

import pytest

from experiments.drawing.labels import axis_names, plane_names
from models.datasets import load, names


def test_units_are_those_of_the_quantities() -> None:
    olympics = axis_names("olympics-100m-men")
    assert olympics == ("Year", "Winning time (s)", "Mean squared loss (s²)")
    faithful = axis_names("old-faithful")
    assert faithful.t.endswith("(min)")
    assert faithful.loss.endswith("(min²)")


@pytest.mark.parametrize("data", names("regression"))
def test_every_regression_data_set_has_names(data: str) -> None:
    found = axis_names(data)
    assert all(found)
    assert found.x != found.t
    unit = found.t.rpartition(" (")[2].removesuffix(")") if "(" in found.t else ""
    assert found.loss == ("Mean squared loss" + (f" ({unit}²)" if unit else ""))


def test_without_a_data_set_symbols_stand_in() -> None:
    assert axis_names(None) == ("x", "t", "Mean squared loss")
    assert plane_names(None, standardised=True) == ("$x_1$", "$x_2$")


def test_standardised_points_have_no_units() -> None:
    assert "eruption" in load("old-faithful").columns
    plain = plane_names("old-faithful", standardised=False)
    assert all(name.endswith("(min)") for name in plain)
    bare = [name.removesuffix(" (min)") for name in plain]
    assert plane_names("old-faithful", standardised=True) == tuple(
        f"{name} (standardised)" for name in bare
    )
