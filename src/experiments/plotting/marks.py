"""The vocabulary of figures: marks whose channels are expressions, and panels of marks.

    def fits(*orders: int) -> Iterator[Panel]:
        yield Panel(
            line("curve", by="order", only=orders, label="order {}"),
            point("targets", x="inputs", color="black", label="data"),
            x="{input}", y="{target}",
        )

A figure is a function that yields panels; `panels` draws them. The channels y, x, low, cov, size
and where are expressions in the language of claims. y or x may also be the name of an axis of the
other one. A mark is drawn along one axis: along x if it is an axis, else along the last axis of y.
It is drawn once for each coordinate of the axis `by`, and once for each coordinate of all other
axes, in one colour.

In labels and titles, `{}` is the coordinate of `by` or of the panel's `facet`, `{x}` and `{y}` are
the numbers of a mark, `{input}`, `{target}` and `{loss}` are the labels of the study's data, and
any other name is a parameter of the study.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

EXPRESSIONS = ("y", "x", "low", "cov", "size", "where")  # the channels that are expressions
Number = str | float  # an expression, or a number
Limits = tuple[Number | None, Number | None] | str | None
Places = Sequence[Any]


class Mark:
    """A mark: its kind, its channels, and `look`, the properties that Matplotlib knows."""

    def __init__(
        self,
        kind: str,
        y: Number | None = None,
        *,
        x: Number | None = None,
        by: str | None = None,
        only: Places = (),
        where: str | None = None,
        low: Number | None = None,
        cov: str | None = None,
        size: str | None = None,
        label: str | None = None,
        limits: Limits = None,
        optional: bool = False,
        **look: Any,
    ) -> None:
        self.kind = kind
        self.y, self.x, self.low, self.cov, self.size, self.where = y, x, low, cov, size, where
        self.by, self.only = by, tuple(only)
        self.label = label
        self.limits = limits  # of the colours of an image
        self.optional = optional  # not drawn if its quantities are not recorded
        self.look = look

    @property
    def expressions(self) -> list[str]:
        """The channels that are given as text."""
        values = (getattr(self, name) for name in EXPRESSIONS)
        return [value for value in values if isinstance(value, str)]


class Panel:
    """Marks on axes with labels, scales and limits; `facet` makes a panel for each coordinate.

    Limits are two expressions, "symmetric", or one expression whose range they show with a margin.
    `share` (x, y or xy), `columns` and `height` (of a panel, in units of the style's) belong to the
    figure; one of its panels states them. `finish` is called with the axes and the outcome after
    all marks, for what marks cannot express.
    """

    def __init__(
        self,
        *marks: Mark,
        x: str | None = None,
        y: str | None = None,
        title: str | None = None,
        facet: str | None = None,
        only: Places = (),
        xlimits: Limits = None,
        ylimits: Limits = None,
        xscale: str = "linear",
        yscale: str = "linear",
        share: str = "",
        columns: int | None = None,
        height: float = 1.0,
        optional: bool = False,
        finish: Callable[[Any, Any], None] | None = None,
    ) -> None:
        self.marks = marks
        self.x, self.y, self.title = x, y, title
        self.facet, self.only = facet, tuple(only)
        self.limits = {"x": xlimits, "y": ylimits}
        self.scales = {"x": xscale, "y": yscale}
        self.share, self.columns, self.height = share, columns, height
        self.optional = optional  # not drawn if its quantities are not recorded
        self.finish = finish


line = partial(Mark, "line")  # line("loss", by="order")
point = partial(Mark, "point")  # point("targets", x="inputs", size="weight")
step = partial(Mark, "step")  # a line that keeps each value up to the next
bar = partial(Mark, "bar")  # bar("count", by="shape"): bars of different colours side by side
hist = partial(Mark, "hist")  # hist("count(taken >= 1, over='component')")
band = partial(Mark, "band")  # band("upper", low="lower")
rule = partial(Mark, "rule")  # rule(0), rule(x="penalty[0]")
diagonal = partial(Mark, "diagonal")  # diagonal(): where y equals x
image = partial(Mark, "image")  # image("table", limits="symmetric"), over two axes
contour = partial(Mark, "contour")  # contour("density", levels=[0.1, 0.5]), over two axes
hinton = partial(Mark, "hinton")  # squares with the areas and signs of a matrix
ellipse = partial(Mark, "ellipse")  # ellipse("mean", cov="covariance", size="weight")
graph = partial(Mark, "graph")  # graph("edge", root="x1"): texts such as "x1 -> fa", as arrows
text = partial(Mark, "text")  # text("height", x="place", label="{y:.2f}")
