"""One sequence of averages as samples are added, and the error of many with its theory."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line, point, rule

RELATIVE = " / exact"


def convergence() -> Iterator[Panel]:
    """The averages of one sequence, and the errors of all sequences."""
    yield Panel(
        line("estimate[:, 0]", x="n", by="expectation", label="one sequence: {}"),
        rule("exact", linestyle="--", label="exact"),
        x="samples S",
        y="average",
        xscale="log",
    )
    yield from _errors("")


def relative() -> Iterator[Panel]:
    """Averages and errors of several expectations, over their exact values."""
    yield Panel(
        line(f"estimate[:, 0]{RELATIVE}", x="n", by="expectation", label="{}"),
        rule(1, linestyle="--"),
        x="samples S",
        y="average over exact value",
        xscale="log",
    )
    yield from _errors(RELATIVE)


def _errors(over: str) -> Iterator[Panel]:
    yield Panel(
        point(f"rms_error{over}", x="n", by="expectation", ms=3, label="{}"),
        line(f"error_sd{over}", x="n", linestyle="--", color="0.4", linewidth=1,
             label=None if over else "√(var f / S)"),
        x="samples S (dashed: independent samples)" if over else "samples S",
        y="root mean square error" + (" over exact value" if over else ""),
        xscale="log",
        yscale="log",
    )  # fmt: skip
