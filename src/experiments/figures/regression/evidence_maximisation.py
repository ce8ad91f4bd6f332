"""Evidence along ln alpha with gamma and alpha m^T m, predictions, and the remaining kernels."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, band, hist, line, point, rule


def evidence() -> Iterator[Panel]:
    """Gamma, alpha m^T m and the evidence along ln alpha; the rule is where a search ends."""
    best = rule(x="log(first(searched_alpha))", color="0.5", linestyle="--", label="search")
    yield Panel(
        line("curve_gamma", color="C0", label=r"$\gamma$"),
        line("curve_fit", color="C1", label=r"$\alpha\, m^T m$"),
        best,
        y="weights",
        ylimits=(0, "1.6 * max(curve_gamma)"),
    )
    yield Panel(line("curve_log_evidence", color="C2"), best, y="log evidence (nats)")


def prediction() -> Iterator[Panel]:
    """The prediction at the precisions that a search finds, first data set."""
    mean, sd = "prediction['searched']", "prediction_sd['searched']"
    yield Panel(
        band(f"{mean} + {sd}", low=f"{mean} - {sd}", x="x", color="C1", alpha=0.25),
        line(mean, x="x", color="C1", label="prediction, one standard deviation"),
        line("truth", color="C2", label="true curve"),
        point("targets", x="inputs", color="C0", markersize=4, label="data"),
        x="x",
        y="t",
    )


def agreement() -> Iterator[Panel]:
    """The distance of each method's alpha from the search's, in each data set."""
    yield Panel(
        point("abs(log(alpha / searched_alpha)) + 1e-12", x="repetition", by="method", label="{}"),
        x="data set",
        y="distance of ln alpha from the search's",
        yscale="log",
    )


def relevance() -> Iterator[Panel]:
    """The fit to the first data set, and the number of weights that are left."""
    yield Panel(
        line("curve", x="x", by="method", label="{}"),
        line("truth", color="black", linestyle="--", label="true curve"),
        point("targets", x="inputs", color="black", markersize=4, label="data"),
        x="x",
        y="t",
    )
    yield Panel(
        hist("count(first(relevance, over='method') > 0, over='weight')"),
        x="weights that are left",
        y="data sets",
    )
