"""Objectives, iterations and rates of the best optimum, by kind of start and number of clusters."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, band, bar, line, point

LOWEST = "min(min(distortion, over='restart'), over='start')"
LARGEST = "max(max(log_likelihood, over='restart'), over='start')"
SOUND = "log_likelihood > -inf"


def distortion() -> Iterator[Panel]:
    """The distortion of each run of K-means, as in FCML Figure 6.3."""
    yield Panel(
        band(
            "quantile(log(distortion), 0.75, over='restart')",
            low="quantile(log(distortion), 0.25, over='restart')",
            x="k",
            color="C1",
            label="25 % to 75 %",
        ),
        point("log(distortion)", x="k", color="C0", ms=3, alpha=0.3),
        line("median(log(distortion), over='restart')", x="k", color="C1", label="median"),
        facet="start",
        title="start: {}",
        x="number of clusters K",
        y="log of the distortion",
        share="y",
    )


def cycles() -> Iterator[Panel]:
    """Iterations of K-means, and how often it ends at the lowest distortion."""
    yield Panel(
        line("mean(iterations, over='restart')", x="k", by="start", marker="o", label="{}"),
        x="number of clusters K",
        y="mean iterations",
        ylimits=(0, None),
    )
    yield Panel(
        line(
            f"share(distortion <= 1.001 * {LOWEST}, over='restart')",
            x="k",
            by="start",
            marker="o",
            label="{}",
        ),
        x="number of clusters K",
        y="share within 0.1 % of the lowest J",
        ylimits=(0, 1.05),
    )


def optima() -> Iterator[Panel]:
    """The log likelihood of each run of EM below the largest that was found."""
    yield Panel(
        point(
            f"log_likelihood - {LARGEST}",
            x="k",
            where=SOUND,
            color="C0",
            ms=4,
            markeredgewidth=0,
            alpha=0.3,
        ),
        facet="start",
        title="start: {}",
        x="number of components K",
        y="log likelihood below the largest (nats)",
        yscale="symlog",
        share="y",
    )


def iterations() -> Iterator[Panel]:
    """Iterations of EM and of K-means from the same centres."""
    yield Panel(
        line("mean(iterations, over='restart')", x="k", by="start", marker="o", label="EM, {}"),
        line(
            "mean(kmeans_iterations, over='restart')",
            x="k",
            by="start",
            marker="o",
            linestyle="--",
            label="K-means, {}",
        ),
        x="number of components K",
        y="mean iterations",
        ylimits=(0, None),
    )


def largest() -> Iterator[Panel]:
    """The largest log likelihood against the number of components."""
    yield Panel(
        line(LARGEST, x="k", marker="o"),
        x="number of components K",
        y="largest log likelihood (nats)",
    )


def ends() -> Iterator[Panel]:
    """The end of each run for one number of components, and how often it is the best."""
    yield Panel(
        point("start", x="log_likelihood", where=SOUND, color="C0", ms=5, alpha=0.3),
        x="final log likelihood (nats)",
        y="",
    )
    yield Panel(
        bar("start", x=f"share(log_likelihood > {LARGEST} - 0.1, over='restart')"),
        x="share that finds the largest",
        y="",
    )
