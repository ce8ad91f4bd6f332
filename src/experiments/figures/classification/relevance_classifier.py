"""The boundaries of both machines with their vectors."""

from collections.abc import Iterator
from typing import Any

from bythebook.experiments.plotting.marks import Panel, contour, point

TITLES = {"relevance": "relevance vector machine", "support": "support vector machine"}


def machines() -> Iterator[Panel]:
    """The boundary and the vectors of both machines, in the first data set."""
    looks: list[dict[str, Any]] = [{"marker": "o", "color": "C0"}, {"marker": "^", "color": "C1"}]
    for name, title in TITLES.items():
        yield Panel(
            contour(f"plane_output['{name}']", levels=[0], colors="C2"),
            *(
                point(
                    "points[:, 2]",
                    x="points[:, 1]",
                    where=f"labels == {k}",
                    ms=3,
                    label=f"class {k}",
                    **look,
                )
                for k, look in enumerate(looks)
            ),
            point(
                "points[:, 2]",
                x="points[:, 1]",
                where=f"vectors['{name}']",
                marker="o",
                ms=8,
                mfc="none",
                color="0.3",
                label="vectors",
            ),
            title=title,
            x="$x_1$",
            y="$x_2$",
            share="xy",
        )
