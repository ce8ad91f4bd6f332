"""Posterior of a model by number of points, next to its weight in a mixture."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line


def paths() -> Iterator[Panel]:
    """The posterior in the first data set from each distribution."""
    yield Panel(
        line("first_posterior", x="point", by="model", label="{}"),
        facet="truth",
        title="data: {}",
        x="points seen",
        y="posterior of the model",
        xscale="log",
        ylimits=(-0.03, 1.03),
    )


def shares() -> Iterator[Panel]:
    """The largest posterior probability and the largest weight, means over the data sets."""
    for name, title in (("posterior", "posterior"), ("mixture_weight", "weight in the mixture")):
        yield Panel(
            line(
                f"mean(max({name}, over='model'), over='repetition')",
                x="n",
                by="truth",
                marker="o",
                label="data: {}",
            ),
            title=title,
            x="points n",
            y="largest share",
            xscale="log",
            ylimits=(0, 1.03),
        )
