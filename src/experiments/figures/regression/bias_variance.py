"""The parts of the expected loss against flexibility, and fits of three models."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line


def decomposition(scale: str = "linear") -> Iterator[Panel]:
    """Squared bias, variance, their sum and the loss on new data, for each size of data set."""
    yield Panel(
        line("bias2", marker="o", label="bias$^2$"),
        line("variance", marker="s", label="variance"),
        line("bias2 + variance", marker="^", label="bias$^2$ + variance"),
        line("test_loss", marker="D", label="test loss, with noise"),
        facet="n",
        title="N = {}",
        y="squared error",
        yscale=scale,
        ylimits=("min(variance) / 3", None) if scale == "log" else (0, None),
        share="y",
    )


def fits() -> Iterator[Panel]:
    """Fits of a rigid, the best and a flexible model, with their mean and the true curve."""
    yield Panel(
        line("fits", x="x", color="C0", linewidth=0.7, alpha=0.4, label="fits"),
        line("mean_fit", x="x", color="C1", linestyle="--", label="mean of all fits"),
        line("truth", x="x", color="C2", label="true curve"),
        facet="shown",
        title="{}",
        x="x",
        y="t",
        ylimits="1.4 * truth",
        share="xy",
    )
