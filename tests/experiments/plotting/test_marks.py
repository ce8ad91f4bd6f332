"""Marks and panels keep their channels and properties."""

import pytest

from bythebook.experiments.plotting import marks
from bythebook.experiments.plotting.marks import Mark, Panel


@pytest.mark.parametrize(
    "kind",
    [
        *("line", "point", "step", "bar", "hist", "band", "rule"),
        *("diagonal", "image", "contour", "hinton", "ellipse", "graph", "text"),
    ],
)
def test_each_mark_has_its_function(kind: str) -> None:
    mark = getattr(marks, kind)("loss", label="a loss", marker="s")
    assert isinstance(mark, Mark)
    assert (mark.kind, mark.y, mark.label, mark.look) == (kind, "loss", "a loss", {"marker": "s"})


def test_expressions_are_the_channels_with_text() -> None:
    mark = marks.band("high", x="z", low="low", where="z > 0", by="pair", label="a band")
    assert mark.expressions == ["high", "z", "low", "z > 0"]
    assert marks.rule(0.5).expressions == []


def test_a_panel_keeps_its_marks_limits_and_scales() -> None:
    mark = marks.line("loss")
    panel = Panel(mark, x="order", ylimits=(0, None), xscale="log", only=[1, 2])
    assert panel.marks == (mark,)
    assert (panel.x, panel.y) == ("order", None)
    assert panel.limits == {"x": None, "y": (0, None)}
    assert panel.scales == {"x": "log", "y": "linear"}
    assert panel.only == (1, 2)
