"""Errors of Laplace and BIC against the number of points, model by model."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line


def errors() -> Iterator[Panel]:
    """Mean absolute errors of the log evidence."""
    yield Panel(
        *(
            line(
                f"mean(abs(log_evidence[:, '{m}'] - log_evidence[:, 'exact']), over='repetition')",
                x="points",
                marker="o",
                color=color,
                label=label,
            )
            for m, label, color in (("laplace", "Laplace", "C0"), ("bic", "BIC", "C3"))
        ),
        facet="model",
        title="{}",
        x="number of points",
        y="error of the log evidence (nats)",
        xscale="log",
        yscale="log",
    )


def variations() -> Iterator[Panel]:
    """Mean total variation of Laplace's Gaussian from the posterior."""
    yield Panel(
        line(
            "mean(total_variation, over='repetition')",
            x="points",
            by="model",
            marker="o",
            label="{}",
        ),
        x="number of points",
        y="total variation from the posterior",
        xscale="log",
        yscale="log",
    )
