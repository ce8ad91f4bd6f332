"""Posterior densities of a coin in several parameters, each with its own mode."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line, rule


def modes() -> Iterator[Panel]:
    """Densities of several parameters over the probability, each divided by its maximum."""
    density = "exp(penalised) / jacobian"
    yield Panel(
        line(f"{density} / max({density}, over='r')", x="r", by="parameter", label="{}"),
        rule(x="first(best_penalised)", color="0.6", linestyle="--", label="penalised likelihood"),
        x="probability of heads r",
        y="posterior density over its maximum",
    )
