"""The bound after each half step, and for any q; passes over the data, whole and point by point."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import panels
from experiments.studies.clustering.em_bound import EmBound
from models.types import Floats


def draw(study: EmBound, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if study.orders:
        yield "passes", _passes(study, outcome)
    else:
        yield "bound", _bound(outcome)
        yield "any_q", _any_q(outcome)


def _path(outcome: Outcome) -> Floats:
    """The log likelihood at the start and after each iteration."""
    L = outcome["log_likelihood"].values
    return np.concatenate([L[:1, 0], L[:, 1]])


def _bound(outcome: Outcome) -> Figure:
    iterations = outcome["bound"].along("iteration")
    shown = min(len(iterations), 12)  # later steps are too small to see
    figure, (climb, gap) = panels(1, 2)
    steps = np.repeat(np.arange(1, shown + 1), 2) + np.tile([-0.5, 0.0], shown)
    zigzag = outcome["bound"].values.ravel()[: 2 * shown]
    climb.plot(steps, zigzag, color="0.6", linewidth=1.2)
    likelihood = _path(outcome)[: shown + 1]
    climb.plot(range(shown + 1), likelihood, "D", color="C2", label="log likelihood")
    climb.plot(steps[::2], zigzag[::2], "o", color="C0", label="bound after the E step")
    climb.plot(steps[1::2], zigzag[1::2], "s", color="C1", label="bound after the M step")
    climb.set(xlabel="Iteration", ylabel="Natural log units", title="The bound climbs")
    climb.legend(loc="lower right")
    reopened = np.maximum(outcome["divergence"].values[:, 1], 1e-16)
    gap.plot(iterations, reopened, color="C1", marker="s", markersize=3)
    gap.set(xlabel="Iteration", ylabel="KL after the M step", yscale="log")
    gap.set_title("The gap it leaves")
    return figure


def _any_q(outcome: Outcome) -> Figure:
    figure, ax = panels()
    gaps = outcome["random_divergence"].values
    ends = np.array([0.0, gaps.max()])
    ax.plot(ends, _path(outcome)[0] - ends, color="C1", label="log likelihood less the divergence")
    ax.plot(gaps, outcome["random_bound"].values, "o", markersize=3, label="an arbitrary q")
    ax.set(xlabel="KL(q || posterior)", ylabel="Bound L(q, θ)")
    ax.legend()
    return figure


def _passes(study: EmBound, outcome: Outcome) -> Figure:
    figure, ax = panels()
    maximum = outcome["maximum"].values
    shown = 3 + max(outcome[name].values.max() for name in ("batch_passes", "incremental_passes"))
    below = maximum - outcome["incremental_log_likelihood"].values
    ax.plot(np.maximum(below, 1e-12).T[:shown], color="C1", alpha=0.35, linewidth=1)
    ax.plot([], [], color="C1", label="point by point, each order")
    below = np.maximum(maximum - _path(outcome), 1e-12)
    ax.plot(below[:shown], color="C0", marker="o", label="batch")
    ax.axhline(study.close, color="0.4", linestyle="--", linewidth=1, label="close")
    ax.set(xlabel="Passes over the data", ylabel="Log likelihood below the maximum")
    ax.set(yscale="log", ylim=(study.close / 1000, None))
    ax.legend(loc="lower left")
    return figure
