"""Restarts on one data set with their averages; losses of both kinds of average."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, diagonal, line, point


def restarts() -> Iterator[Panel]:
    """The restarts of the first data set and their averages; the losses of all data sets."""
    yield Panel(
        line("fit", x="x", color="0.7", linewidth=0.6),
        line("mean(fit, over='restart')", label="mean of the outputs"),
        line("of_mean_weights", label="of the mean weights"),
        line("truth", color="black", ls=":", label="truth"),
        x="x",
        y="output",
        ylimits=(-2.5, 2.5),
    )
    yield Panel(
        point("averaged_weights_loss", x="averaged_outputs_loss"),
        diagonal(color="0.6"),
        x="squared error of the mean output",
        y="squared error of the mean weights",
        xscale="log",
        yscale="log",
    )
