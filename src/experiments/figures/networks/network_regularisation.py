"""Errors against hidden units for each decay, fits with and without, and errors over epochs."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, band, line, point, rule


def hidden() -> Iterator[Panel]:
    """Root mean squared errors against the number of hidden units, medians for each decay."""
    for name in ("training", "test"):
        yield Panel(
            line(
                f"sqrt(median({name}_loss, over='network'))",
                x="hidden",
                by="decay",
                marker="o",
                label="$\\lambda$ = {}",
            ),
            x="hidden units",
            y=f"{name} error, RMS",
            xscale="log",
        )


def fits() -> Iterator[Panel]:
    """The first data set, and the largest network without decay and with the chosen one."""
    yield Panel(
        line("truth", color="C2", label="true curve"),
        line("curve[0]", color="C1", label="no decay"),
        line("curve[chosen_decay]", color="C0", ls="--", label="chosen decay"),
        point("targets", x="inputs", color="black", ms=4, label="data"),
        x="x",
        y="t",
        ylimits="targets",
    )


def epochs() -> Iterator[Panel]:
    """Root mean squared errors over the epochs of gradient descent, medians and quartiles."""
    marks = []
    for name, color in (("training", "C0"), ("validation", "C1")):
        rms = f"sqrt({name}_path)"
        epoch = f"1 + coordinates({name}_path, over='shown_epoch')"  # a log axis has no epoch 0
        marks += [
            line(f"median({rms}, over='network')", x=epoch, color=color, label=f"{name}, median"),
            band(
                f"quantile({rms}, 0.75, over='network')",
                low=f"quantile({rms}, 0.25, over='network')",
                x=epoch,
                color=color,
                alpha=0.25,
            ),
        ]
    yield Panel(
        *marks,
        rule(x="median(stopping_epoch)", color="black", ls=":", label="median stopping epoch"),
        x="epochs",
        y="error, RMS",
        xscale="log",
        optional=True,
    )
