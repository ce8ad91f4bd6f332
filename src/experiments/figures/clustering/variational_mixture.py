"""Components of the best start by iteration, the bound against K, and components left."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, ellipse, hist, line, point


def components(*iterations: int) -> Iterator[Panel]:
    """The components of the best start in some iterations, as in PRML Figure 10.6."""
    yield Panel(
        point("points[:, 2]", x="points[:, 1]", color="0.65", ms=2, markeredgewidth=0),
        ellipse("component_mean", cov="component_covariance", size="component_weight"),
        facet="step",
        only=iterations,
        title="after {} iterations",
        x="{x1}",
        y="{x2}",
        columns=2,
        share="xy",
    )


def bounds() -> Iterator[Panel]:
    """The bound of each start, and of the best one, against the number of components."""
    yield Panel(
        point("bound + log_copies", x="k", marker="+", color="C0", alpha=0.5),
        line("max(bound, over='restart') + log_copies", color="C1"),
        facet="alpha0",
        title="$\\alpha_0$ = {}",
        x="number of components K",
        y="lower bound + ln K! (nats)",
    )


def left() -> Iterator[Panel]:
    """Starts by the number of components left of the last K, and the bound of the best one."""
    yield Panel(
        hist("last(components_left, over='k')", by="alpha0", label="$\\alpha_0$ = {}"),
        x="components with one point or more",
        y="starts",
        xlimits=(0.5, "size(points_taken, over='component') + 0.5"),
    )
    yield Panel(line("history"), x="iteration of the best start", y="lower bound (nats)")


def held_out() -> Iterator[Panel]:
    """Mean log density of points left out, in each split and on average."""
    yield Panel(
        point("held_out", x="k", by="method", alpha=0.4, label=""),
        line("mean(held_out, over='split')", x="k", by="method", label="{}"),
        x="number of components K",
        y="mean log density of held-out points (nats)",
    )
