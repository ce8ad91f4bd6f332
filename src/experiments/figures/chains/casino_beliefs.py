"""Beliefs about each die of a game; sampled paths under their marginals; predictions."""

from collections.abc import Iterator
from typing import Any

from bythebook.experiments.plotting.marks import Mark, Panel, band, image, line, point, rule

P = "probability of the loaded die"


def _used() -> Mark:
    """Grey where the loaded die was used, as in MLAPP Figure 17.10."""
    look: dict[str, Any] = {"color": "0.82", "alpha": 1, "step": "mid", "label": "loaded die used"}
    return band("truly_loaded * 1", low=0, optional=True, **look)


def decoding() -> Iterator[Panel]:
    """Filtered and smoothed probabilities of the loaded die, and the most probable path."""
    yield Panel(
        _used(),
        line("loaded", x="roll", color="C0", linewidth=1.2),
        facet="belief",
        y=P,
        share="x",
        columns=1,
        height=0.45,
    )
    yield Panel(
        _used(),
        line("path_loaded * 1", x="roll", color="C0", drawstyle="steps-mid"),
        y="loaded die",
        title="most probable path",
        ylimits=(-0.1, 1.1),
    )


def samples() -> Iterator[Panel]:
    """The share of the loaded die in sampled paths, and some of these paths."""
    yield Panel(
        _used(),
        line("loaded['smoothed']", x="roll", label="smoothed marginal"),
        point("batch_share", x="roll", ms=2, label="100 sampled paths"),
        y=P,
        ylimits=(0, 1.7),
        share="x",
        columns=1,
        height=0.7,
    )
    yield Panel(
        image("sampled_paths * 1", x="roll", cmap="Greys", limits=(0, 1.6)),
        title="sampled paths (grey: loaded die)",
    )


def prediction() -> Iterator[Panel]:
    """Predictions from the belief after the last roll, and from a last die that is known."""
    labels: dict[str, Any] = {"by": "start", "label": "from: {}"}
    yield Panel(
        line("predicted_loaded", x="horizon", **labels),
        rule("stationary_loaded", linestyle=":", label="stationary"),
    )
    yield Panel(
        line("predicted_six", x="horizon", **labels),
        rule("1 / 6 + stationary_loaded / 3", linestyle=":", label="stationary"),
    )
