"""The mixture after some iterations of EM, and the log likelihood with its bound."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import panels
from experiments.drawing.clusters import grid, mixture_panel, spare, whole_steps
from experiments.drawing.labels import plane_names
from experiments.studies.clustering.mixture_path import MixturePath


def draw(study: MixturePath, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    yield "path", _path(study, outcome)
    yield "objective", _objective(outcome)


def _path(study: MixturePath, outcome: Outcome) -> Figure:
    T = len(outcome["log_likelihood"]) - 1
    drawn = outcome["responsibilities"].along("snapshot")
    X, gamma = outcome["points"].values, outcome["responsibilities"].values
    mu, Sigma = (outcome[name].values[np.minimum(drawn, T)] for name in ("means", "covariances"))
    # The start is drawn without and with its responsibilities.
    cells = [("start", 0, None), ("first E step", 0, gamma[0])]
    for i, step in enumerate(drawn[1:], start=1):
        cells.append((f"converged, L = {T}" if step >= T else f"L = {step}", i, gamma[i]))
    reach = np.sqrt(np.diagonal(Sigma, axis1=2, axis2=3))
    ranges = np.ptp(np.concatenate([X, *(mu - reach), *(mu + reach)]), axis=0)
    ratio = min(float(ranges[1] / ranges[0]) + 0.1, 1.4)
    figure, axes = grid(-(-len(cells) // 3), 3, ratio, sharex=True, sharey=True)
    for ax, letter, (title, i, ink) in zip(axes.ravel(), "abcdefghijkl", cells, strict=False):
        mixture_panel(ax, X, ink, mu[i], Sigma[i])
        ax.set_title(f"({letter}) {title}")
    spare(axes.ravel()[len(cells) :])
    x, y = plane_names(study.data, standardised=study.standardise)
    figure.supxlabel(x)
    figure.supylabel(y)
    return figure


def _objective(outcome: Outcome) -> Figure:
    L, bound = outcome["log_likelihood"].values, outcome["bound_after_m"].values
    steps = range(1, len(L))  # the start is so low that nothing else would be seen
    figure, ax = panels()
    ax.plot(steps, L[1:], "--", marker="o", markersize=4, color="C1", label="log likelihood")
    ax.plot(steps, bound[1:], color="C0", label="bound after the M step")
    ax.set(xlabel="Iteration", ylabel="Natural log units", title=f"From {L[0]:.1f} at the start")
    whole_steps(ax)
    ax.legend(loc="lower right")
    return figure
