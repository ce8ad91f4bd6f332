"""Approximations of the evidence against the exact one, and the models that they prefer."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line, point, rule

EXACT = "first(log_evidence, over='beta_prior')"


def models() -> Iterator[Panel]:
    """Log evidence, bound and likelihood of the largest data sets by number of components."""
    yield Panel(
        line(
            "median(last(log_evidence, over='n'), over='repetition')",
            x="k",
            by="beta_prior",
            marker="o",
            label="evidence, b = {}",
        ),
        line(
            "median(last(first(bound, over='beta_prior'), over='n'), over='repetition')",
            x="k",
            marker="s",
            color="C4",
            label="bound",
        ),
        line(
            "median(last(max_log_likelihood, over='n'), over='repetition')",
            x="k",
            marker="^",
            color="C5",
            label="maximum likelihood",
        ),
        x="number of components K",
        y="log probability of the data (nats)",
    )


def errors() -> Iterator[Panel]:
    """Errors of the bound and of BIC against the exact log evidence."""
    yield Panel(
        point(f"bic - {EXACT}", x=EXACT, ms=3, alpha=0.5, color="C1", label="BIC"),
        point(f"first(bound, over='beta_prior') - {EXACT}", x=EXACT, ms=3, label="bound"),
        rule(0),
        facet="k",
        title="{} components",
        x="log evidence (nats)",
        y="error of its approximation (nats)",
        share="y",
    )


def sampling() -> Iterator[Panel]:
    """The mean error of annealed importance sampling by number of temperatures."""
    yield Panel(
        line(
            f"mean(abs(ais_log_evidence - last({EXACT}, over='k')), over='repetition')",
            x="temperatures",
            by="n",
            marker="o",
            label="{} points",
        ),
        x="temperatures of an annealed run",
        y="mean absolute error (nats)",
        xscale="log",
        yscale="log",
    )
