"""The steps panel by panel, their objective, and the iterations of other starts."""

from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.plotting.clustering import (
    MARKERS,
    integer_ticks,
    panel_sequence,
    plot_mixture,
)
from bythebook.experiments.plotting.labels import plane_labels
from bythebook.experiments.studies.clustering.cluster_path import ClusterPath
from bythebook.models.types import Floats, Ints


def draw(study: ClusterPath, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if study.model == "mixture":
        yield "path", _mixtures(study, outcome)
        yield "objective", _objective(outcome)
        return
    if study.show:
        yield "steps", _half_steps(study, outcome)
    yield "cost", _cost(outcome)
    yield "starts", _starts(outcome)


def _half_steps(study: ClusterPath, outcome: Outcome) -> Figure:
    """Half step 2t - 1 of K-means is the t-th E step, half step 2t the t-th M step."""
    X, means, labels = (outcome[name].values for name in ("points", "means", "labels"))
    shown = [step for step in sorted(study.show) if step <= 2 * (len(labels) - 1)]
    titles = [f"{'ME'[step % 2]} step {(step + 1) // 2}" if step else "start" for step in shown]
    names = plane_labels(study.data, standardised=study.standardise)
    figure, axes = panel_sequence(titles, names)
    for ax, step in zip(axes, shown, strict=True):
        members = labels[(step - 1) // 2] if step else None
        _clusters(ax, X, means[step // 2], members, bisector=step % 2 == 1)
    return figure


def _clusters(ax: Axes, X: Floats, means: Floats, labels: Ints | None, *, bisector: bool) -> None:
    if labels is None:
        ax.plot(*X.T, "o", color="0.6", markersize=2.2)
    for k, centre in enumerate(means):
        if labels is not None:
            ax.plot(*X[labels == k].T, MARKERS[k % 8], color=f"C{k}", markersize=2.2)
        ax.plot(*centre, "X", color=f"C{k}", markersize=9, markeredgecolor="black")
    if bisector and len(means) == 2:
        middle, across = means.mean(axis=0), means[1] - means[0]
        along = np.array([-across[1], across[0]]) * 10
        ax.plot(*np.stack([middle - along, middle + along]).T, color="C3")
    ends = np.stack([X.min(axis=0) - 0.4, X.max(axis=0) + 0.4, *(means - 0.3), *(means + 0.3)])
    ax.set(xlim=(ends[:, 0].min(), ends[:, 0].max()), ylim=(ends[:, 1].min(), ends[:, 1].max()))


def _cost(outcome: Outcome) -> Figure:
    J = outcome["distortion"].values
    steps = np.arange(1, len(J) + 1)
    figure, ax = subplots()
    ax.plot(steps, J, color="0.6", zorder=1)
    ax.plot(steps[::2], J[::2], "o", color="C0", markersize=7, label="after an E step")
    ax.plot(steps[1::2], J[1::2], "s", color="C1", markersize=7, label="after an M step")
    ax.set(xlabel="Half step", ylabel="Distortion J", ylim=(0, None))
    ax.set_xticks(steps, outcome["distortion"].coord("half_step"))
    ax.legend()
    return figure


def _starts(outcome: Outcome) -> Figure:
    counts = np.bincount(outcome["cycles"].values - 1)  # the last cycle changes nothing
    places = list(range(len(counts)))
    figure, ax = subplots()
    ax.bar(places, counts / counts.sum(), color="C0")
    chosen = len(outcome["means"]) - 2
    ax.plot(chosen, 0, "D", color="C1", clip_on=False, label="the start that is drawn")
    ax.set(xlabel="M steps until nothing changes", ylabel="Share of the starts", xticks=places)
    ax.legend()
    return figure


def _mixtures(study: ClusterPath, outcome: Outcome) -> Figure:
    X, gamma = outcome["points"].values, outcome["responsibilities"]
    steps, T = gamma.coord("snapshot"), len(outcome["means"]) - 1
    mu, Sigma = (outcome[name].values[np.minimum(steps, T)] for name in ("means", "covariances"))
    titles = [f"converged, L = {T}" if step >= T else f"L = {step}" for step in steps[1:]]
    reach = np.sqrt(np.diagonal(Sigma, axis1=2, axis2=3))
    ranges = np.ptp(np.concatenate([X, *(mu - reach), *(mu + reach)]), axis=0)
    ratio = min(float(ranges[1] / ranges[0]) + 0.1, 1.4)
    names = plane_labels(study.data, standardised=study.standardise)
    figure, axes = panel_sequence(["start", "first E step", *titles], names, ratio)
    plot_mixture(axes[0], X, None, mu[0], Sigma[0])  # the start without its responsibilities
    for ax, *theta in zip(axes[1:], gamma.values, mu, Sigma, strict=True):
        plot_mixture(ax, X, *theta)
    return figure


def _objective(outcome: Outcome) -> Figure:
    L, bound = outcome["log_likelihood"].values, outcome["bound_after_m"].values
    steps = range(1, len(L))  # the start is so low that nothing else would be seen
    figure, ax = subplots()
    ax.plot(steps, L[1:], "--", marker="o", markersize=4, color="C1", label="log likelihood")
    ax.plot(steps, bound[1:], color="C0", label="bound after the M step")
    ax.set(xlabel="Iteration", ylabel="Natural log units", title=f"From {L[0]:.1f} at the start")
    integer_ticks(ax)
    ax.legend(loc="lower right")
    return figure
