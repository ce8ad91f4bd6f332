"""Channels of marks as arrays on common axes, with labels and colours by place."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from matplotlib import rcParams
from numpy.random import Generator

from bythebook.experiments.core.alignment import ExpressionError
from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.plotting import canvas
from bythebook.experiments.plotting.channels import (
    Cell,
    NotRecorded,
    Series,
    mark_series,
    places_on,
    plain,
    positions,
)
from bythebook.experiments.plotting.marks import Mark, Panel, line, point

ORDER, DRAW, SHAPE = axis("order", [1, 3, 8]), axis("draw", 2), axis("shape", ["tree", "chain"])
LOSS = np.array([[1.0, 2.0], [3.0, 5.0], [8.0, 13.0]])
OUTCOME = Outcome(
    loss=over(LOSS, ORDER, DRAW),
    weight=ORDER.of([0.5, -1.0, 2.0]),
    kept=DRAW.of([True, False]),
    error=SHAPE.of([0.1, 0.2]),
    total=7.0,
)


@dataclass
class Toy(Study):
    """A study that declares a part of what it computes."""

    quantities: ClassVar[Any] = {"loss": quantity("mean squared error", "order draw", unit="s²")}
    axes: ClassVar[Any] = {"order": axis_of("polynomial order")}
    more_quantities: ClassVar[bool] = True
    data: str | None = knob("olympics-100m-men", "the data", dataset="regression")
    root: str = knob("x3", "a node")

    def run(self, rng: Generator) -> Outcome:
        return OUTCOME


def cell(strict: bool = True, **at: Any) -> Cell:
    return Cell(Panel(), at, Toy(), OUTCOME, strict)


def series(mark: Mark, strict: bool = True, **at: Any) -> list[Series]:
    with canvas.style("screen"):
        return mark_series(cell(strict, **at), mark, 0)[0]


def test_a_mark_is_drawn_along_the_last_axis_once_for_each_place_of_the_others() -> None:
    (found,) = series(line("loss"))
    assert np.array_equal(found.arrays["y"], LOSS)
    assert np.array_equal(found.arrays["x"], [[0, 1]] * 3)


def test_an_axis_as_x_is_the_axis_along_which_a_mark_is_drawn() -> None:
    (found,) = series(line("loss", x="order"))
    assert np.array_equal(found.arrays["y"], LOSS.T)
    assert np.array_equal(found.arrays["x"], [[1, 3, 8]] * 2)


def test_an_axis_as_y_gives_the_rows_of_text_coordinates() -> None:
    (found,) = series(point("shape", x="error"))
    assert np.array_equal(found.arrays["y"], [[0, 1]])
    assert np.array_equal(found.arrays["x"], [[0.1, 0.2]])


def test_axes_of_channels_are_matched_by_name() -> None:
    (found,) = series(point("loss", x="weight", where="kept"))
    x, y = found.points()
    assert y.tolist() == [1, 3, 8]
    assert x.tolist() == [0.5, -1.0, 2.0]


def test_by_gives_a_series_for_each_place_and_only_some() -> None:
    assert [s.arrays["y"].tolist() for s in series(line("loss", by="order"))] == LOSS[
        :, None
    ].tolist()
    (found,) = series(line("loss", by="order", only=[8], label="order {}"))
    assert found.arrays["y"].tolist() == [[8, 13]]
    assert found.label == "order 8"


def test_a_facet_selects_its_coordinate_in_every_channel() -> None:
    (found,) = series(point("loss", x="weight"), order=3)
    assert found.arrays["y"].tolist() == [[3, 5]]
    assert found.arrays["x"].tolist() == [[-1, -1]]


def test_numbers_are_single_points_with_their_values_in_the_label() -> None:
    (found,) = series(point("total", x="argmin(weight)", label="lowest: order {x}, {y:g}"))
    assert found.points() == ([3], [7])
    assert found.label == "lowest: order 3, 7"


def test_a_place_has_one_colour_whichever_others_are_drawn() -> None:
    colours = {s.label: s.look["color"] for s in series(line("loss", by="order"))}
    assert len(set(colours.values())) == 3
    for only in ([8], [8, 1], [3, 8]):
        for found in series(point("loss", by="order", only=only)):
            assert found.look["color"] == colours[found.label]


def test_more_places_than_colours_have_other_dashes_and_symbols() -> None:
    many = axis("many", 20)
    with canvas.style("print"):
        of = Cell(Panel(), {}, Toy(), Outcome(q=over(np.zeros((20, 2)), many, DRAW)), True)
        looks = [s.look for s in mark_series(of, line("q", by="many"), 0)[0]]
        symbols = [s.look for s in mark_series(of, point("q", by="many"), 0)[0]]
        own = mark_series(of, line("q", color="C1"), 0)[0][0].look
        cycle = rcParams["axes.prop_cycle"].by_key()
    assert len({(look["color"], look["linestyle"]) for look in looks}) == 20
    assert len({(look["color"], look["marker"]) for look in symbols}) == 20
    first = [(look["color"], look["linestyle"]) for look in looks[:8]]
    assert first == list(zip(cycle["color"], cycle["linestyle"], strict=True))
    assert (own["color"], own["linestyle"]) == first[1]


def test_labels_are_those_of_declared_quantities_and_axes() -> None:
    assert cell().quantity_label("loss") == "mean squared error (s²)"
    assert cell().axis_label("order") == "polynomial order"
    assert cell().axis_label("draw") == "draw"
    assert cell().quantity_label("abs(weight)") == "abs(weight)"
    assert series(line("loss", by="order"))[0].label == "polynomial order 1"
    assert series(line("error", by="shape"))[0].label == "tree"


def test_words_of_labels_are_those_of_the_data_and_the_parameters() -> None:
    assert cell().format("{input}, {target}, {loss}") == (
        "Year, Winning time (s), Mean squared loss (s²)"
    )
    assert cell(order=3).format("to {root}, {}") == "to x3, 3"
    with pytest.raises(ExpressionError, match=r"\{rot\} is unknown; allowed: data, root"):
        cell().format("{rot}")


def test_missing_places_are_refused_or_left_out() -> None:
    with pytest.raises(NotRecorded, match="axis order has no coordinate 9"):
        series(line("loss", by="order", only=[1, 9]))
    assert len(series(line("loss", by="order", only=[1, 9]), strict=False)) == 1
    with pytest.raises(NotRecorded, match="none of the coordinates"):
        places_on(ORDER, [9], strict=False)
    with pytest.raises(NotRecorded, match="by='shape' is no axis of loss"):
        series(line("loss", by="shape"))


def test_text_coordinates_have_positions_and_floats_few_digits() -> None:
    assert positions(SHAPE).tolist() == [0, 1]
    assert positions(ORDER).tolist() == [1, 3, 8]
    assert plain(1.5229979744712629e-08) == "1.523e-08"
    assert plain("tree") == "tree"
