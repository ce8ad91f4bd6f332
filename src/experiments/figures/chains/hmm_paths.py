"""The most probable path and the most probable states over the posterior marginals."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, image, line, point


def path() -> Iterator[Panel]:
    """Posterior marginals of a sequence whose most probable states are an impossible path."""
    yield Panel(
        image("marginal", x="step", limits=(0, 1), cmap="Greys", label="posterior probability"),
        line("path + 0.06", x="step", marker="o", label="most probable path"),
        line("modes - 0.06", x="step", marker="D", linestyle="--", label="most probable states"),
        point(
            "modes",
            x="step",
            where="transition == 0",
            marker="X",
            ms=9,
            color="black",
            label="after an impossible step",
        ),
        y="state",
        ylimits=(0.5, "max(coordinates(marginal, over='state')) + 1.7"),
    )
