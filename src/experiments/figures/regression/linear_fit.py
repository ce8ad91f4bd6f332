"""The data and the fitted curve: predictions, errors, a density, simulated data; two lines."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line, point, rule


def fit(start: float | None = None) -> Iterator[Panel]:
    """The data, the fitted curve and its predictions, from an input on."""
    shown = f"where(targets, inputs >= {start})"
    yield Panel(
        line("curve", label="fit"),
        point("targets", x="inputs", color="black", label="data"),
        point("prediction", marker="D", color="C1", label="prediction", optional=True),
        x="{input}",
        y="{target}",
        xlimits=None if start is None else (start, None),
        ylimits=None if start is None else ("min(curve) - 0.1", f"max({shown}) + 0.1"),
    )


def data() -> Iterator[Panel]:
    """The data alone."""
    yield Panel(point("targets", x="inputs"), x="{input}", y="{target}")


def errors() -> Iterator[Panel]:
    """The data and the line, and the errors against the input."""
    yield Panel(
        line("curve", label="line"),
        point("targets", x="inputs", color="black", label="data"),
        x="{input}",
        y="{target}",
    )
    yield Panel(
        rule(0, color="C0"),
        point("errors", x="inputs", color="C1", label="errors"),
        x="{input}",
        y="error",
    )


def density(year: float) -> Iterator[Panel]:
    """The density of the target at an input of the data, with the target that was seen there."""
    yield Panel(
        line("density", x="target"),
        point("max(density)", x="argmax(density)", marker="s", label="most likely, {x:.2f}"),
        point(f"likelihood[{year}]", x=f"targets[{year}]", marker="o", label="seen, {x:.2f}"),
        x="{target}",
        y="density",
    )


def generated() -> Iterator[Panel]:
    """One generated data set, and the data."""
    yield Panel(
        line("generated_from", x="generated_input", label="fit"),
        point("generated", x="generated_input", color="C1", label="generated"),
        x="{input}",
        y="{target}",
        title="noise variance {noise:g}",
        share="xy",
    )
    yield Panel(
        line("fitted", x="inputs", label="fit"),
        point("targets", x="inputs", color="black", label="data"),
        x="{input}",
        y="{target}",
        title="data",
    )


def lines() -> Iterator[Panel]:
    """Both lines with their data, up to where they meet."""
    yield Panel(
        line("curve", color="C0", label="{data}"),
        line("other_curve", color="C1", linestyle="--", label="{other_data}"),
        point("targets", x="inputs", color="C0", markersize=3),
        point("other_targets", x="other_inputs", color="C1", marker="^", markersize=3),
        point("w[0] + w[1] * crossing", x="crossing", color="black", marker="D",
              label="the lines meet in {x:.1f}"),
        x="{input}",
        y="{target}",
    )  # fmt: skip
