"""Errors of each approximate posterior, and its predictions."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line

NAMES = {"laplace": "Laplace", "variational": "variational", "ep": "EP", "plug-in": "mode alone"}
COLOURS = {"laplace": "C3", "variational": "C2", "ep": "C0", "plug-in": "0.2"}


def accuracy() -> Iterator[Panel]:
    """Median total variation and error of the mean against the number of points."""
    for quantity, label in (
        ("total_variation", "total variation"),
        ("mean_error", "error of the mean"),
    ):
        yield Panel(
            *(
                line(
                    f"median({quantity}[:, '{m}'], over='repetition')",
                    x="points",
                    color=COLOURS[m],
                    marker="o",
                    label=NAMES[m],
                )
                for m in ("laplace", "variational", "ep")
            ),
            x="number of points",
            y=f"{label}, median",
            yscale="log",
        )


def predictions() -> Iterator[Panel]:
    """Median error of the predictions with the smallest number of points."""
    yield Panel(
        *(
            line(
                f"median(abs(first(predicted['{m}'] - predicted['exact'], over='points')),"
                " over='repetition')",
                x="input",
                color=COLOURS[m],
                label=name,
            )
            for m, name in NAMES.items()
        ),
        x="input",
        y="error of a prediction, {points[0]} points",
        yscale="log",
    )
