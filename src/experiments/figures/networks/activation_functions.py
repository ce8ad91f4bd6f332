"""Activation functions and their slopes."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line


def activations() -> Iterator[Panel]:
    """Both functions, as MLAPP Figure 16.16, and their slopes."""
    for name, label in (("activation", "g(a)"), ("slope", "g'(a)")):
        yield Panel(line(name, by="function", label="{}"), x="a", y=label)
