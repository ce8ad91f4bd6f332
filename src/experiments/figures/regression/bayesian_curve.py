"""Predictions with error bars as data arrive, posteriors of two weights, kernels."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, band, ellipse, line, point


def prediction() -> Iterator[Panel]:
    """The mean prediction plus and minus one standard deviation, after each number of points."""
    yield Panel(
        band("prediction + prediction_sd", low="prediction - prediction_sd", x="x", color="C1",
             alpha=0.25, label="one standard deviation"),
        line("prediction", x="x", color="C1", label="prediction"),
        line("truth", x="x", color="C2", label="true curve", optional=True),
        point("targets", x="inputs", color="C0", markersize=3, label="all data"),
        facet="observed",
        title="observed points: {}",
        x="{input}",
        y="{target}",
        ylimits="targets",
        share="xy",
    )  # fmt: skip


def weights() -> Iterator[Panel]:
    """The posterior of the first two weights after each number of points."""
    yield Panel(
        ellipse("weight_mean[:, 0:1]", cov="weight_covariance[:, 0:1, 0:1]", color="C1"),
        point("weight_mean[:, 1]", x="weight_mean[:, 0]", marker="+", color="C1", label="mean"),
        facet="observed",
        title="observed points: {}",
        x="$w_0$",
        y="$w_1$",
        share="xy",
    )


def kernel(first: float, *others: float) -> Iterator[Panel]:
    """The equivalent kernel at some inputs."""
    yield Panel(
        *(
            line(f"near(kernel, x={place})", x="target", color=f"C{k}", label=f"x = {place}")
            for k, place in enumerate((first, *others))
        ),
        x="input x' of a target",
        y="equivalent kernel k(x, x')",
    )
