"""Posterior means and uncertainty of three objects; both treatments by missing share."""

from collections.abc import Iterator

from bythebook.experiments.plotting.latent import cluster_points
from bythebook.experiments.plotting.marks import Panel, ellipse, line

LABELS = {"switches": "left out", "latent": "latent variables"}
CASES = {"both seen": "-", "second missing": "--", "both missing": ":"}


def objects() -> Iterator[Panel]:
    """Values before removal, posterior means, and the covariances of three objects."""
    means = "latent_means[:, 0]", "latent_means[:, 1]"
    labels = {"x": "⟨x₁⟩", "y": "⟨x₂⟩"}
    yield Panel(
        *cluster_points("points[:, 0]", "points[:, 1]"),
        x="y₁",
        y="y₂",
        title="values before removal",
        columns=3,
    )
    yield Panel(*cluster_points(*means), title="posterior means", **labels)  # type: ignore[arg-type]
    yield Panel(
        *cluster_points(*means),
        *(
            ellipse(
                f"latent_means[{k}]",
                cov=f"latent_covariance['{case}']",
                color="black",
                linestyle=style,
                label=case,
            )
            for k, (case, style) in enumerate(CASES.items())
        ),
        title="uncertainty of three objects",
        **labels,  # type: ignore[arg-type]
    )


def treatments() -> Iterator[Panel]:
    """The mean log density of a missing value under each treatment."""
    yield Panel(
        *(
            line(f"score['{name}']", x="probability", marker="o", color=f"C{k}", label=label)
            for k, (name, label) in enumerate(LABELS.items())
        ),
        x="probability that a value is missing",
        y="mean log density of a missing value (nats)",
    )
