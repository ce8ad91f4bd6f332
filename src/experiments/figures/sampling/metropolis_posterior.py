"""Samples of two weights: in the plane, their marginals and trace, and predictions."""

from collections.abc import Iterator
from typing import Any

from bythebook.experiments.plotting.classification import lines_through_origin
from bythebook.experiments.plotting.marks import Panel, contour, hist, line, point

LEVELS = [-8.0, -4.5, -2.0, -0.5]  # below the maximum of the log density
S = "coordinates(path, over='sample')"
EVERY_TENTH = f"round({S} / 10) == {S} / 10 and {S} >= {{}}"
SHARES = [0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99]


def samples(burn_in: int = 0) -> Iterator[Panel]:
    """Samples of the first chain, with the contours of the posterior and its approximation."""
    yield Panel(
        point("path[:, 2]", x="path[:, 1]", where=EVERY_TENTH.format(burn_in), ms=1.5,
              color="0.6", label="samples"),
        contour("log_posterior - max(log_posterior)", levels=LEVELS, colors="black",
                linestyles="-"),
        contour("log_laplace - max(log_laplace)", levels=LEVELS, colors="C1", linestyles="--"),
        line("max(path)", x="max(path)", color="black", label="posterior"),
        line("max(path)", x="max(path)", color="C1", linestyle="--", label="Laplace"),
        x="$w_1$",
        y="$w_2$",
        xlimits=("min(coordinates(log_laplace, over='w1'))",
                 "max(coordinates(log_laplace, over='w1'))"),
        ylimits=("min(coordinates(log_laplace, over='w2'))",
                 "max(coordinates(log_laplace, over='w2'))"),
    )  # fmt: skip


def marginals(burn_in: int = 0) -> Iterator[Panel]:
    """Histograms of the samples of the first chain, and density estimates from all chains."""
    yield Panel(
        hist(f"path[{burn_in}:]", by="weight", label="$w_{}$"),
        x="weight",
        y="samples",
    )
    yield Panel(
        line("kernel_density", by="weight", label="$w_{}$"),
        x="weight",
        y="density",
        ylimits=(0, None),
    )


def trace() -> Iterator[Panel]:
    """The first weight along the first chain."""
    yield Panel(line("path[:, 1]", x="sample", linewidth=0.4), x="sample s", y="$w_1$")


def predictions() -> Iterator[Panel]:
    """Probability contours averaged over the samples, and boundaries of some samples."""
    look: Any = {"x": "$x_1$", "y": "$x_2$", "xlimits": (-5, 5), "ylimits": (-5, 5)}
    data = (
        point("inputs[:, 2]", x="inputs[:, 1]", where="targets == 0", color="C0", label="t = 0"),
        point(
            "inputs[:, 2]",
            x="inputs[:, 1]",
            where="targets == 1",
            color="C1",
            marker="s",
            label="t = 1",
        ),
    )
    yield Panel(
        contour("predictive['samples']", levels=SHARES, colors="0.25", linewidths=1),
        *data,
        title="P(T = 1 | x), averaged over samples",
        **look,
    )
    yield Panel(
        *data,
        title="boundaries of some samples",
        finish=lambda ax, outcome: lines_through_origin(
            ax, outcome["boundary"].values, color="0.45", linewidth=0.8
        ),
        **look,
    )
