"""The posterior and its factors stage by stage; precisions against variances."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, contour, line, rule

MEAN, TAU, SPREAD, PRECISION = (
    f"first({name}, over='points')[0]"
    for name in ("q_mean", "tau_mean", "tau_variance", "q_precision")
)
WIDTH = f"6 / sqrt({PRECISION})"
LEVELS = [0.0111, 0.1353, 0.6065]  # of the largest: 3, 2 and 1 standard deviations


def stages() -> Iterator[Panel]:
    """The exact posterior and q(mu) q(tau) of the first data set, as in PRML Figure 10.4."""
    yield Panel(
        contour("posterior / max(posterior)", levels=LEVELS, colors="C2"),
        contour(
            "factorised / max(max(factorised, over='mu'), over='tau')", levels=LEVELS, colors="C0"
        ),
        rule(-1, color="C2", label="posterior"),  # below the panel, for the legend
        rule(-1, color="C0", label="q(μ) q(τ)"),
        facet="stage",
        title="{}",
        x="μ",
        y="τ",
        columns=2,
        share="xy",
        xlimits=(f"{MEAN} - {WIDTH}", f"{MEAN} + {WIDTH}"),
        ylimits=(0, f"{TAU} + 5 * sqrt({SPREAD})"),
    )


def variances() -> Iterator[Panel]:
    """One over the expected precision, and the variance of maximum likelihood."""
    yield Panel(
        line("mean(1 / tau_mean, over='repetition')", x="points", marker="o", label="1 / E[τ]"),
        line(
            "mean(biased_variance, over='repetition')",
            x="points",
            linestyle="--",
            color="C3",
            label="maximum likelihood",
        ),
        rule(1, color="0.6"),
        x="points",
        y="variance, mean over data sets",
        xscale="log",
    )
