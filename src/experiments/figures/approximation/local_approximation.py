"""Densities and their Laplace approximations, as curves or contours."""

from collections.abc import Iterator

from matplotlib.axes import Axes

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.marks import Panel, line

LEVELS = [-8.0, -4.5, -2.0, -0.5]  # below the mode: 4, 3, 2, 1 standard deviations


def densities(variable: str = "y", columns: int = 2) -> Iterator[Panel]:
    """Each density with its Gaussian, as in FCML Figure 4.5."""
    yield Panel(
        line("exp(log_density[:, 'exact'])", x="place[:, 1]", color="C0", label="density"),
        line(
            "exp(log_density[:, 'laplace'])",
            x="place[:, 1]",
            color="C1",
            linestyle="--",
            label="Laplace approximation",
        ),
        facet="case",
        title="{}",
        x=variable,
        y="density",
        columns=columns,
        ylimits=(0, None),
    )


def posterior() -> Iterator[Panel]:
    """The Gaussian alone, and with the unnormalised posterior, as in FCML Figure 4.6."""
    for title, finish in (
        ("Laplace approximation", _gaussian),
        ("with the unnormalised posterior", _both),
    ):
        yield Panel(x="w₁", y="w₂", title=title, share="xy", finish=finish)


def _gaussian(ax: Axes, found: Outcome) -> None:
    w1, w2 = found["place"].values[0]
    q = found["log_density"].sel(method="laplace").values[0]
    # wide, to be seen below the other one
    ax.contour(w1, w2, q - q.max(), levels=LEVELS, colors="C0", linewidths=4, linestyles="solid")
    ax.plot(*found["mode"].values[0], "+", color="black", markersize=9)


def _both(ax: Axes, found: Outcome) -> None:
    _gaussian(ax, found)
    w1, w2 = found["place"].values[0]
    p = found["log_density"].sel(method="exact").values[0]
    ax.contour(w1, w2, p - p.max(), levels=LEVELS, colors="k", linewidths=1.2, linestyles="dashed")
    ax.plot([], [], "C0", linewidth=4.0, label="Laplace")
    ax.plot([], [], "k--", linewidth=1.2, label="posterior")
    ax.legend(loc="lower right")
