"""Posterior means and uncertainty of three objects; both treatments by missing share."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import shared_legend, subplots
from bythebook.experiments.plotting.clustering import MARKERS, covariance_contour, panel_grid
from bythebook.experiments.plotting.latent import plot_objects
from bythebook.experiments.studies.latent.missing_values import MissingValues

LABELS = {"switches": "left out", "latent": "as latent variables"}
CASES = ("both seen", "$y_2$ missing", "both missing")


def draw(study: MissingValues, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if len(study.treatments) == 2:
        yield "treatments", _treatments(study, outcome)
    figure, axes = panel_grid(1, 3, 0.95)
    before, after, three = axes[0]
    means = outcome["posterior_means"].values
    plot_objects(before, outcome["points"].values, study.labels, "Values before removal", "y_%d")
    plot_objects(after, means, study.labels, "Posterior means")
    plot_objects(three, means, study.labels, "Uncertainty of three objects")
    for line in three.lines:
        line.set(alpha=0.25)
    for i, covariance in enumerate(outcome["posterior_covariance"].values):
        covariance_contour(three, means[i], covariance, "k", linestyle=("-", "--", ":")[i])
        three.lines[-2].set_label(CASES[i])
    shared_legend(figure, three, 3)
    yield "missing", figure


def _treatments(study: MissingValues, outcome: Outcome) -> Figure:
    figure, ax = subplots()
    for i, treatment in enumerate(study.treatments):
        scores, label = outcome["score"].values[i], f"missing values {LABELS[treatment]}"
        ax.plot(sorted(study.probabilities), scores, marker=MARKERS[i], label=label)
    ax.set(xlabel="Probability that a value is missing")
    ax.set(ylabel="Mean log density of a missing value")
    ax.legend()
    return figure
