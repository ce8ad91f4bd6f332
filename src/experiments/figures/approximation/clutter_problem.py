"""Factors with their approximations, errors against operations, and all methods side by side."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line, point

NAMES = {"ep": "EP", "variational": "variational Bayes", "laplace": "Laplace"}
COLOURS = {"ep": "C0", "variational": "C2", "laplace": "C3"}
HEIGHT = "max(factor, over='theta')"


def factors() -> Iterator[Panel]:
    """Two factors of the first data set, with their approximations and scaled contexts."""
    yield Panel(
        line("factor", color="C0", label="factor"),
        line("fitted_factor", color="C3", linestyle="--", label="Gaussian approximation"),
        line(
            f"context / max(context, over='theta') * {HEIGHT}",
            color="C2",
            linestyle=":",
            label="context, scaled",
        ),
        facet="shape",
        title="{}",
        x="θ",
        y="p(x | θ)",
        ylimits=(0, f"1.5 * max({HEIGHT})"),
    )


def accuracy() -> Iterator[Panel]:
    """Median errors of the mean and the log evidence against operations."""
    for quantity, history, what in (
        ("posterior_mean", "mean_history", "mean"),
        ("log_evidence", "evidence_history", "log evidence"),
    ):
        yield Panel(
            *(
                line(
                    f"median(abs({history}[:, '{m}'] - {quantity}[:, 'exact']), over='repetition')",
                    x=f"operations['{m}'] * (coordinates({history}, over='iteration') + 1)",
                    color=COLOURS[m],
                    marker=".",
                    label=name,
                )
                for m, name in NAMES.items()
            ),
            facet="points",
            title="{} points",
            x="operations",
            y=f"error of the {what}",
            xscale="log",
            yscale="log",
            columns=2,
        )


def methods() -> Iterator[Panel]:
    """Total variation from the exact posterior by each method."""
    yield Panel(
        point("total_variation[:, 'ep':]", x="method", alpha=0.3, color="C0", label="data sets"),
        point(
            "median(total_variation[:, 'ep':], over='repetition')",
            x="method",
            color="C1",
            marker="_",
            markersize=20,
            markeredgewidth=2,
            label="median",
        ),
        facet="points",
        title="{} points",
        x="",
        y="total variation from the posterior",
        yscale="log",
        share="y",
    )
