"""Predictions with their error bars, or functions drawn from the fits."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, band, line, point


def bars(power: float = 1) -> Iterator[Panel]:
    """Predictions plus and minus their variance, or another power of it; the first data set."""
    bar = f"first(variance, over='repetition') ** {power}"
    yield Panel(
        band(f"prediction + {bar}", low=f"prediction - {bar}", x="x", color="C0", alpha=0.3),
        line("prediction", x="x", color="C0"),
        line("truth", color="black", linewidth=1, linestyle="--", optional=True),
        point("targets", x="inputs", color="C1", markersize=3),
        facet="order",
        title="order {}",
        x="{input}",
        y="{target}",
        ylimits="targets",
        share="xy",
    )


def functions(low: float | None = None, high: float | None = None) -> Iterator[Panel]:
    """Functions drawn from the fits to the first data set, between two inputs."""
    seen = "coordinates(functions, over='x')"
    zoom = None if low is None else f"({seen} >= {low}) * ({seen} <= {high}) > 0"
    shown = "functions" if zoom is None else f"where(functions, {zoom})"
    yield Panel(
        line("functions", x="x", where=zoom, color="C0", linewidth=0.9, alpha=0.6),
        line("truth", color="black", linewidth=2.2, optional=True),
        point("targets", x="inputs", color="C1", markersize=3),
        facet="order",
        title="{functions} functions of order {}",
        x="{input}",
        y="{target}",
        xlimits=None if low is None else (low, high),
        ylimits=(f"min({shown})", f"max({shown})"),
        share="xy",
    )
