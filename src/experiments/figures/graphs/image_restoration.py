"""The original, the noisy and the restored images; agreement over all draws."""

from collections.abc import Iterator
from typing import Any

from bythebook.experiments.plotting.marks import Panel, image, point

TITLES = {
    "original": "original",
    "noisy": "noisy",
    "modes": "iterated conditional modes",
    "messages": "max-product",
    "cut": "graph cut",
}


def _bare(ax: Any, _: Any) -> None:
    ax.set_axis_off()
    ax.set_aspect("equal")


def images() -> Iterator[Panel]:
    """The images of the first draw."""
    for name, title in TITLES.items():
        yield Panel(
            image(f"picture['{name}']", limits=(-1, 1), cmap="cividis"),
            title=title,
            columns=3,
            finish=_bare,
        )


def agreement() -> Iterator[Panel]:
    """The share of pixels that agree with the original image, for each draw."""
    yield Panel(
        point("method", x="100 * agreement", alpha=0.7),
        x="pixels that agree with the original, %",
        y="",
    )
