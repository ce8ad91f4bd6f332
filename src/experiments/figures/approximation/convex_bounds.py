"""Functions with their bounds, and the heights of all tangents at one place."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line, rule


def tangents(*contacts: float) -> Iterator[Panel]:
    """Each function with bounds that touch it at some places."""
    yield Panel(
        line("value", x="x", color="0.7", linewidth=4, label="function"),
        line("tangent", x="x", by="contact", only=contacts, label="bound with contact {}"),
        facet="bound",
        title="{}",
        x="x",
        ylimits="value",
    )


def heights(contact: float = 1.0) -> Iterator[Panel]:
    """The height at a contact of the tangent of exp(-x) with each slope, as in PRML 10.10."""
    place = "coordinates(height, over='x')"
    yield Panel(
        line(f"height['below exp(-x)', {contact}]", x=f"-exp(-{place})", color="C0"),
        rule(x=f"-exp(-{contact})", color="0.5", linestyle="--"),
        x="slope λ",
        y="λξ - g(λ)",
        xlimits=(-1, 0),
        ylimits=(0, 0.5),
        title=f"ξ = {contact:g}",
    )
