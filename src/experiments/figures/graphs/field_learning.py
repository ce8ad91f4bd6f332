"""Both estimates against each other, and divergences from the true distribution."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, diagonal, point


def estimates() -> Iterator[Panel]:
    """Weights, fields and divergences of both estimators, and a neighbour that is always right."""
    for name, title in (
        ("estimate", "weights and fields"),
        ("divergence", "divergence from the truth, nats"),
    ):
        yield Panel(
            point(f"{name}['pseudo']", x=f"{name}['likelihood']", ms=2, color="C0"),
            diagonal(),
            x="maximum likelihood",
            y="pseudo-likelihood",
            title=title,
            columns=3,
        )
    yield Panel(
        point("evidence_weight", x="neighbour_weight", by="estimator", ms=4, label="{}"),
        x="weight of the neighbour",
        y="weight of the evidence",
        title="a neighbour that is always right",
    )
