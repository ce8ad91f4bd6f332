"""Drawn artists have the data of the outcome; axes, legends and limits are those of the panel."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from numpy.random import Generator

from bythebook.experiments.core.alignment import ExpressionError
from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.plotting import canvas, marks
from bythebook.experiments.plotting.channels import NotRecorded
from bythebook.experiments.plotting.marks import Mark, Panel, line, point
from bythebook.experiments.plotting.panels import draw_panels

ORDER, X, RING = axis("order", [1, 3]), axis("x", [0.0, 0.5, 1.0]), axis("ring", ["sum", "max"])
COMPONENT, TWO, OTHER = axis("component", 3), axis("variable", 2), axis("other", 2)
CURVE = np.array([[1.0, 2.0, 3.0], [-4.0, 0.0, 4.0]])
OUTCOME = Outcome(
    curve=over(CURVE, ORDER, X),
    truth=X.of([0.0, 1.0, 0.0]),
    loss=ORDER.of([0.2, 0.1]),
    counts=over([[2, 3, 3], [2, 2, 2]], RING, COMPONENT),
    error=RING.of([0.1, 0.3]),
    centre=over([[0, 0], [1, 2], [5, 5]], COMPONENT, TWO),
    covariance=over(np.broadcast_to(np.eye(2), (3, 2, 2)), COMPONENT, TWO, OTHER),
    coefficient=COMPONENT.of([0.6, 0.4, 0.0]),
    edge=axis("number", 2).of(["x1 -> fa", "fa -> x2"]),
)


@dataclass
class Toy(Study):
    """A study that declares a part of what it computes."""

    quantities: ClassVar[Any] = {"loss": quantity("mean squared error", "order", unit="s²")}
    axes: ClassVar[Any] = {"order": axis_of("polynomial order")}
    more_quantities: ClassVar[bool] = True
    root: str = knob("x2", "a node")

    def run(self, rng: Generator) -> Outcome:
        return OUTCOME


@pytest.fixture(autouse=True)
def screen() -> Iterator[None]:
    with canvas.style("screen"):
        yield


def drawn(*panels: Panel, strict: bool = True) -> Figure:
    figure = draw_panels(panels, Toy(), OUTCOME, strict=strict)
    figure.draw_without_rendering()
    return figure


def axes_of(*some: Mark, **options: Any) -> Axes:
    (ax,) = drawn(Panel(*some, **options)).axes
    return ax


def legend_texts(ax: Any) -> list[str]:
    legend = ax.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


def test_lines_have_the_data_of_their_places() -> None:
    ax = axes_of(line("curve", by="order", label="order {}"))
    assert [np.array(row.get_ydata()).tolist() for row in ax.lines] == CURVE.tolist()
    assert all(np.array_equal(row.get_xdata(), X.values) for row in ax.lines)
    assert legend_texts(ax) == ["order 1", "order 3"]


def test_a_step_keeps_each_value_and_points_have_no_line() -> None:
    ax = axes_of(marks.step("truth"), point("truth"))
    assert ax.lines[0].get_drawstyle() == "steps-post"
    assert ax.lines[1].get_linestyle() == "None"
    assert np.array_equal(ax.lines[1].get_ydata(), [0, 1, 0])


def test_labels_come_from_declarations_unless_the_panel_has_its_own() -> None:
    ax = axes_of(line("loss"))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("polynomial order", "mean squared error (s²)")
    ax = axes_of(line("loss"), x="", y="loss of {root}", title="{root}")
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("", "loss of x2", "x2")
    assert axes_of(line("abs(curve)", by="order")).get_ylabel() == "abs(curve)"


def test_integer_coordinates_have_ticks_and_text_coordinates_their_names() -> None:
    assert axes_of(line("loss")).get_xticks().tolist() == [1, 3]
    ax = axes_of(point("ring", x="error"))
    assert [text.get_text() for text in ax.get_yticklabels()] == ["sum", "max"]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first is above


def test_a_facet_makes_a_panel_for_each_place() -> None:
    figure = drawn(Panel(line("curve"), line("truth"), facet="order", share="y"))
    assert [ax.get_title() for ax in figure.axes] == ["polynomial order 1", "polynomial order 3"]
    for ax, values in zip(figure.axes, CURVE, strict=True):
        assert np.array_equal(ax.lines[0].get_ydata(), values)
        assert np.array_equal(ax.lines[1].get_ydata(), [0, 1, 0])
    assert figure.axes[0].get_ylim() == figure.axes[1].get_ylim()
    (ax,) = drawn(Panel(line("curve"), facet="order", only=[3], title="o = {}")).axes
    assert ax.get_title() == "o = 3"


def test_panels_that_share_their_entries_have_one_legend() -> None:
    figure = drawn(Panel(line("curve", label="fit"), facet="order"))
    assert [legend_texts(ax) for ax in figure.axes] == [[], []]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["fit"]
    figure = drawn(Panel(line("truth", label="truth")), Panel(line("loss", label="loss")))
    assert [legend_texts(ax) for ax in figure.axes] == [["truth"], ["loss"]]
    assert figure.legends == []


def test_a_repeated_entry_is_in_the_legend_once() -> None:
    both = line("curve", by="order", label="{}"), point("curve", by="order", label="{}")
    assert legend_texts(axes_of(*both)) == ["1", "3"]


def test_repeated_axis_labels_are_drawn_once() -> None:
    figure = drawn(Panel(line("curve"), facet="order", x="x", y="height"))
    assert [ax.get_ylabel() for ax in figure.axes] == ["height", ""]
    assert [ax.get_xlabel() for ax in figure.axes] == ["x", "x"]
    figure = drawn(Panel(line("curve"), facet="order", x="x", columns=1))
    assert [ax.get_xlabel() for ax in figure.axes] == ["", "x"]


def test_limits_are_expressions_symmetric_or_the_range_of_an_expression() -> None:
    limits = axes_of(line("curve", by="order"), ylimits=("min(curve)", 10)).get_ylim()
    assert limits == (-4, 10)
    low, high = axes_of(line("curve[1]"), ylimits="symmetric").get_ylim()
    assert low == -high
    assert high >= 3
    assert axes_of(line("curve", by="order"), ylimits="truth").get_ylim() == (-0.25, 1.25)
    assert axes_of(line("truth"), xscale="symlog", yscale="log").get_xscale() == "symlog"


def test_a_band_is_between_its_two_curves() -> None:
    ax = axes_of(marks.band("curve[1]", low="truth"))
    heights = {tuple(v) for v in ax.collections[0].get_paths()[0].vertices.tolist()}
    assert {(0.0, 1.0), (0.5, 2.0), (1.0, 3.0), (0.0, 0.0), (0.5, 1.0)} <= heights


def test_bars_of_places_are_side_by_side_and_along_y_for_an_axis() -> None:
    ax = axes_of(marks.bar("counts", by="ring"))
    assert [bar.get_height() for bar in ax.patches] == [2, 3, 3, 2, 2, 2]
    ends = [bar.get_x() + bar.get_width() for bar in ax.patches[:3]]
    assert np.allclose([bar.get_x() for bar in ax.patches[3:]], ends)
    flat = axes_of(marks.bar("ring", x="error"))
    assert [bar.get_width() for bar in flat.patches] == [0.1, 0.3]


def test_a_histogram_counts_whole_numbers() -> None:
    ax = axes_of(marks.hist("counts", by="ring"))
    heights = [bar.get_height() for bar in ax.patches]
    assert heights == [1, 2, 3, 0]  # twos and threes, for each ring
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("counts", "count")
    assert sum(bar.get_height() for bar in axes_of(marks.hist("curve")).patches) == CURVE.size


def test_rules_and_the_diagonal() -> None:
    ax = axes_of(point("truth", x="truth"), marks.rule("max(curve)"), marks.rule(x=0.5))
    assert ax.lines[1].get_ydata() == [4, 4]
    assert ax.lines[2].get_xdata() == [0.5, 0.5]
    ax = axes_of(marks.diagonal(), point("truth", x="truth"))
    assert np.array_equal(ax.lines[-1].get_xydata(), [[0, 0], [1, 1]])


def test_an_image_has_the_matrix_and_symmetric_colours() -> None:
    figure = drawn(Panel(marks.image("curve", limits="symmetric", label="weight")))
    image = figure.axes[0].images[0]
    assert np.array_equal(image.get_array(), CURVE)
    assert image.get_clim() == (-4, 4)
    assert image.get_extent() == [-0.25, 1.25, 0, 4]
    assert figure.axes[1].get_ylabel() == "weight"
    turned = axes_of(marks.image("curve", x="order")).images[0]
    assert np.array_equal(turned.get_array(), CURVE.T)


def test_a_hinton_diagram_has_areas_in_proportion_and_colours_by_sign() -> None:
    patches = axes_of(marks.hinton("curve")).patches
    areas = np.array([p.get_width() * p.get_height() for p in patches])
    assert np.allclose(areas / areas.max(), abs(CURVE).ravel() / 4)
    assert to_hex(patches[0].get_facecolor()) != to_hex(patches[3].get_facecolor())


def test_a_contour_is_where_the_matrix_has_its_level() -> None:
    ax = axes_of(marks.contour("curve", levels=[2.0]))
    (vertices,) = [path.vertices for path in ax.collections[0].get_paths()]
    assert [0.5, 1.0] in vertices.tolist()


def test_ellipses_are_one_deviation_wide_and_small_ones_are_not_drawn() -> None:
    ax = axes_of(marks.ellipse("centre", cov="covariance", size="coefficient"))
    assert len(ax.lines) == len(ax.patches) == 2
    edge = np.array(ax.lines[1].get_xydata())
    assert np.allclose(np.linalg.norm(edge - [1, 2], axis=1), 1)
    assert [patch.get_alpha() for patch in ax.patches] == [0.6, 0.4]


def test_a_graph_has_nodes_and_numbered_arrows() -> None:
    ax = axes_of(marks.graph("edge", root="{root}", squares="f", first=4))
    assert {text.get_text() for text in ax.texts} == {"x1", "fa", "x2", "4", "5"}
    assert len(ax.patches) == 2
    with pytest.raises(NotRecorded, match="edge: there is no node 'x9'; allowed: x1, fa, x2"):
        axes_of(marks.graph("edge", root="x9"))


def test_texts_are_at_their_points() -> None:
    ax = axes_of(marks.text("loss", x="order", label="{y:.1f}"))
    assert [(text.get_text(), text.xy) for text in ax.texts] == [
        ("0.2", (1, 0.2)),
        ("0.1", (3, 0.1)),
    ]


def test_points_with_sizes_where_a_condition_holds() -> None:
    ax = axes_of(point("coefficient", size="100 * coefficient", where="coefficient > 0"))
    assert ax.collections[0].get_sizes().tolist() == [60, 40]


def test_a_missing_quantity_is_an_error_or_left_out() -> None:
    with pytest.raises(ExpressionError, match="there is no quantity 'lost'"):
        drawn(Panel(line("lost")))
    figure = drawn(Panel(line("lost"), optional=True), Panel(line("loss")))
    assert len(figure.axes) == 1
    (ax,) = drawn(Panel(line("lost", optional=True), line("loss"))).axes
    assert len(ax.lines) == 1
    assert len(drawn(Panel(line("lost")), Panel(line("loss")), strict=False).axes) == 1
    with pytest.raises(NotRecorded, match="no panel"):
        drawn(Panel(line("lost")), strict=False)


def test_an_optional_mark_that_is_missing_leaves_the_colours_of_others() -> None:
    (ax,) = drawn(Panel(line("lost", optional=True), line("loss"))).axes
    assert ax.lines[0].get_color().lower() == to_hex("C1")


def test_finish_is_called_with_the_axes_and_the_outcome() -> None:
    def finish(ax: Axes, outcome: Outcome) -> None:
        ax.set_title(str(outcome["loss"].values[0]))

    assert axes_of(line("loss"), title="loss", finish=finish).get_title() == "0.2"


def test_an_unknown_mark_and_a_matrix_with_other_axes_are_refused() -> None:
    with pytest.raises(ExpressionError, match="mark 'pie' is unknown"):
        axes_of(Mark("pie", "loss"))
    with pytest.raises(ExpressionError, match="loss: image needs two axes, not order"):
        axes_of(marks.image("loss"))
