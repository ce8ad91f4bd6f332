"""A class inside another, decisions of machines with Gaussian kernels, and ROC curves."""

from collections.abc import Iterator, Sequence
from typing import Any

from bythebook.experiments.plotting.marks import Mark, Panel, contour, diagonal, line, point

CIRCLES: dict[str, Any] = {"where": "label == -1", "marker": "o", "color": "C0", "ms": 4}
SQUARES: dict[str, Any] = {"where": "label == 1", "marker": "s", "color": "C1", "ms": 4}


LABELS = ("circles (−1)", "squares (+1)")


def _points(y: str, x: str, labels: Sequence[str] = LABELS) -> list[Mark]:
    return [
        point(y, x=x, label=label, **look)
        for label, look in zip(labels, (CIRCLES, SQUARES), strict=True)
    ]


def data() -> Iterator[Panel]:
    """The training points, and their class against the squared distance from the origin."""
    yield Panel(*_points("inputs[:, 2]", "inputs[:, 1]", ("", "")), x="$x_1$", y="$x_2$")
    yield Panel(
        *_points("label", "squared_distance"),
        x="$z = x_1^2 + x_2^2$",
        y="class t",
        ylimits=(-2, 2),
    )


def boundaries() -> Iterator[Panel]:
    """The decision boundary and the support vectors for each kernel."""
    yield Panel(
        contour("1 * region", levels=[0.5], colors="0.15", zorder=4),
        *_points("inputs[:, 2]", "inputs[:, 1]"),
        point(
            "inputs[:, 2]",
            x="inputs[:, 1]",
            where="support",
            marker="o",
            ms=8,
            mfc="none",
            color="0.3",
            label="support vectors",
        ),
        facet="gamma",
        title="γ = {}",
        x="$x_1$",
        y="$x_2$",
        share="xy",
    )


def roc() -> Iterator[Panel]:
    """The ROC curve of each machine on the test points."""
    yield Panel(
        line("roc[:, 'sensitivity']", x="roc[:, 'false positive']", by="gamma", label="γ = {}"),
        diagonal(),
        x="false positive rate, 1 − specificity",
        y="sensitivity",
    )
