"""The mean of a sigmoid under Gaussians, and its approximations."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line

LABELS = {"integral": "integral", "moderated": "moderated output", "best_bound": "best bound"}


def means(*variances: float) -> Iterator[Panel]:
    """The integral and its approximations against the mean of the activation."""
    yield Panel(
        line("plug_in", x="mean_of_a", color="0.6", label="without uncertainty"),
        *(
            line(name, x="mean_of_a", color=f"C{k}", label=label)
            for k, (name, label) in enumerate(LABELS.items())
        ),
        facet="variance",
        only=variances,
        title="variance {}",
        x="mean of the activation",
        y="mean of the sigmoid",
        share="y",
    )
