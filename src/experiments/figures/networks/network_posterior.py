"""Predictions with error bars or sampled curves; or the precision of each input's weights."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line, point

DATA = point("targets[0]", x="inputs[0]", color="black", ms=4, label="data")
TRUTH = line("truth", color="C2", ls="--", label="truth")


def error_bars() -> Iterator[Panel]:
    """The prediction of the first data set and one standard deviation, as Figure 16.19 (a)."""
    yield Panel(
        TRUTH,
        line("predicted[0]", color="C1", label="mean"),
        line("predicted[0] + deviation[0]", color="C0", ls=":", label="one standard deviation"),
        line("predicted[0] - deviation[0]", color="C0", ls=":"),
        DATA,
        x="x",
        y="y",
        ylimits=(-3, 3),
        optional=True,
    )


def samples() -> Iterator[Panel]:
    """Functions sampled by a Hamiltonian chain, and their mean, as Figure 16.19 (b)."""
    yield Panel(
        TRUTH,
        line("sample", x="x", color="C0", ls=":", linewidth=0.7, label="samples"),
        line("sampled_mean[0]", color="C1", label="mean"),
        DATA,
        x="x",
        y="y",
        ylimits=(-3, 3),
        optional=True,
    )


def precisions() -> Iterator[Panel]:
    """The precision of each group of weights, in every data set and in the middle of them."""
    yield Panel(
        line("alpha", x="group", color="0.7", linewidth=0.5),
        line("median(alpha, over='repetition')", color="black", marker="o", label="median"),
        x="group of weights",
        y="precision",
        yscale="log",
    )
