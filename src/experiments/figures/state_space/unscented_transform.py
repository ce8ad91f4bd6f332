"""Samples and sigma points before and after; the Gaussians that tangent and points make of them."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Mark, Panel, ellipse, hist, line, point, rule

LOOKS = {"exact": ("-", "C2"), "unscented": ("--", "C1"), "tangent": (":", "C0")}


def plane() -> Iterator[Panel]:
    """Samples and sigma points of two inputs, and the Gaussians of the two outputs."""
    yield Panel(
        point("sample_input[:, 2]", x="sample_input[:, 1]", color="0.75", ms=1.5),
        point("point_input[:, 2]", x="point_input[:, 1]", color="C1", label="sigma points"),
        x="range",
        y="angle (radians)",
        columns=2,
        ylimits=("min(sample_input[:, 2])", "max(sample_input[:, 2]) + 0.5"),
    )
    yield Panel(
        point("sample_output[:, 2]", x="sample_output[:, 1]", color="0.75", ms=1.5),
        point("point_output[:, 2]", x="point_output[:, 1]", color="C1"),
        *(_gaussian(way) for way in LOOKS),
        x="first output",
        y="second output",
        ylimits=("min(sample_output[:, 2])", "max(sample_output[:, 2]) + 0.35"),
    )


def _gaussian(way: str) -> Mark:
    dash, colour = LOOKS[way]
    return ellipse(
        f"output_mean['{way}']",
        cov=f"output_covariance['{way}']",
        color=colour,
        linestyle=dash,
        linewidth=1.5,
        label=way,
    )


def line_of_one() -> Iterator[Panel]:
    """Samples of one output with the means of all rules, and errors of the mean by spread."""
    yield Panel(
        hist("where(sample_output, sample_output < 8)", color="0.8"),
        *(
            rule(x=f"output_mean['{way}', 1]", color=colour, linestyle=dash, label=f"mean, {way}")
            for way, (dash, colour) in LOOKS.items()
        ),
        x="output",
        y="samples",
        columns=2,
    )
    yield Panel(
        line("mean_error", x="spread", by="approximation", marker="o", label="{}"),
        x="standard deviation of the prior",
        yscale="log",
    )
