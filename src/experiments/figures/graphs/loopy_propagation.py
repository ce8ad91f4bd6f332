"""Beliefs against the exact probabilities; errors round by round."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, diagonal, line, point


def beliefs(facet: str = "graph") -> Iterator[Panel]:
    """Beliefs after the last round against the exact probabilities, by graph or by coupling."""
    by = "coupling" if facet == "graph" else None
    yield Panel(
        diagonal(),
        point("at(belief, damping=0)", x="exact_belief", ms=3, by=by, label=by and "coupling {}"),
        facet=facet,
        title="{}" if by else "coupling {}",
        x="P(x = 1)",
        y="belief without damping",
        share="xy",
    )


def rounds(facet: str = "graph") -> Iterator[Panel]:
    """The median of the largest error of a belief, round by round, by graph or by damping."""
    yield Panel(
        line(
            "max(median(round_error, over='draw'), 1e-17)",
            x="iteration",
            by="coupling",
            label="coupling {}",
        ),
        facet=facet,
        title="{}" if facet == "graph" else "damping {}",
        x="round",
        y="largest error of a belief, median",
        yscale="log",
        share="xy",
    )
