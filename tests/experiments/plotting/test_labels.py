"""Axis labels: names of quantities with their units."""

import pytest

from bythebook.experiments.plotting.labels import axis_labels, plane_labels
from bythebook.models.datasets import load, names


def test_units_are_those_of_the_quantities() -> None:
    olympics = axis_labels("olympics-100m-men")
    assert olympics == ("Year", "Winning time (s)", "Mean squared loss (s²)")
    faithful = axis_labels("old-faithful")
    assert faithful.t.endswith("(min)")
    assert faithful.loss.endswith("(min²)")


@pytest.mark.parametrize("data", names("regression"))
def test_every_regression_data_set_has_labels(data: str) -> None:
    labels = axis_labels(data)
    assert all(labels)
    assert labels.x != labels.t
    unit = labels.t.rpartition(" (")[2].removesuffix(")") if "(" in labels.t else ""
    assert labels.loss == ("Mean squared loss" + (f" ({unit}²)" if unit else ""))


def test_without_a_data_set_labels_are_symbols() -> None:
    assert axis_labels(None) == ("x", "t", "Mean squared loss")
    assert plane_labels(None, standardised=True) == ("$x_1$", "$x_2$")


def test_standardised_points_have_no_units() -> None:
    assert "eruption" in load("old-faithful").columns
    plain = plane_labels("old-faithful", standardised=False)
    assert all(name.endswith("(min)") for name in plain)
    bare = [name.removesuffix(" (min)") for name in plain]
    assert plane_labels("old-faithful", standardised=True) == tuple(
        f"{name} (standardised)" for name in bare
    )
