"""The posterior of a coin against its weight, and the cost against the number of settings."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line, point, rule


def posterior() -> Iterator[Panel]:
    """The posterior probability of heads of a coin, for the weights in turn and random ones."""
    yield Panel(
        point("weight_posterior['draw 1':]", x="weight", color="0.6", ms=3),
        line("weight_posterior['cycle']", x="weight", marker="o", label="weights in turn"),
        rule(0.5, color="0.4", linestyle=":", label="before the sum is known"),
        x="weight of a coin",
        y="P(heads | sum = {total})",
        ylimits=(0, 1),
    )


def cost() -> Iterator[Panel]:
    """The number of settings with the sum and of additions, as powers of two."""
    yield Panel(
        point("log2_ways", x="weights", label="settings with the sum"),
        point("log(additions) / log(2)", x="weights", label="additions"),
        x="",
        y="binary logarithm; of all settings {coins}",
        ylimits=(0, None),
        finish=lambda ax, _: ax.tick_params("x", labelrotation=90),
    )
