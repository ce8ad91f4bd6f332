"""Held-out bits against the weight, and the weight of each context; or prior means of words."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, bar, line, point, rule


def weights() -> Iterator[Panel]:
    """Bits of held-out symbols against the weight of interpolation, and weights by context."""
    yield Panel(
        line("weight_bits", x="weight", color="0.6", linewidth=0.7),
        *(
            rule(f"mean(held_bits['{name}'])", color=f"C{k}", linestyle="--", label=name)
            for k, name in enumerate(("add-one", "interpolated", "fitted"))
        ),
        columns=2,
    )
    yield Panel(point("context_weight", x="context_count", ms=4), xscale="symlog")


def means() -> Iterator[Panel]:
    """The probability of some words after a new context, by prior mean."""
    yield Panel(
        bar("prior_mean", x="symbol", by="mean_of", label="{}"),
        y="probability after a new context",
        ylimits=(0, "1.4 * max(prior_mean)"),
    )
