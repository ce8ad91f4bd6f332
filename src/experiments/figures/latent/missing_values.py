"""Posterior means and the uncertainty of three objects; both treatments against what is missing."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import legend_of, panels
from experiments.drawing.clusters import SYMBOLS, contour, grid
from experiments.drawing.latent import objects
from experiments.studies.latent.missing_values import MissingValues

LABELS = {"switches": "left out", "latent": "as latent variables"}
CASES = ("both seen", "$y_2$ missing", "both missing")


def draw(study: MissingValues, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if len(study.treatments) == 2:
        yield "treatments", _treatments(study, outcome)
    figure, axes = grid(1, 3, 0.95)
    before, after, three = axes[0]
    means = outcome["posterior_means"].values
    objects(before, outcome["points"].values, study.labels, "Values before removal", "y_%d")
    objects(after, means, study.labels, "Posterior means")
    objects(three, means, study.labels, "Uncertainty of three objects")
    for line in three.lines:
        line.set(alpha=0.25)
    for i, covariance in enumerate(outcome["posterior_covariance"].values):
        contour(three, means[i], covariance, "k", linestyle=("-", "--", ":")[i])
        three.lines[-2].set_label(CASES[i])
    legend_of(figure, three, 3)
    yield "missing", figure


def _treatments(study: MissingValues, outcome: Outcome) -> Figure:
    figure, ax = panels()
    for i, treatment in enumerate(study.treatments):
        scores, label = outcome["score"].values[i], f"missing values {LABELS[treatment]}"
        ax.plot(sorted(study.probabilities), scores, marker=SYMBOLS[i], label=label)
    ax.set(xlabel="Probability that a value is missing")
    ax.set(ylabel="Mean log density of a missing value")
    ax.legend()
    return figure
