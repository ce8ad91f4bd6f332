"""The bound after half steps and for any q; passes; K-means as a limit; log likelihoods."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.plotting.clustering import column_panels, legend_below
from bythebook.experiments.studies.clustering.em_theory import EmTheory
from bythebook.models.types import Floats

TITLES = {
    "mixture": "Gaussian mixture",
    "factors": "factor analysis",
    "ppca": "probabilistic PCA",
    "bernoulli": "Bernoulli mixture",
    "hmm": "hidden Markov model",
    "lds": "linear dynamical system",
}


def draw(study: EmTheory, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if study.models:
        yield "climb", _climb(study, outcome)
    elif study.epsilons:
        yield "limit", _limit(outcome)
    elif study.orders:
        yield "passes", _passes(study, outcome)
    else:
        yield "bound", _bound(outcome)
        yield "any_q", _any_q(outcome)


def _path(outcome: Outcome) -> Floats:
    """The log likelihood at the start and after each iteration."""
    L = outcome["log_likelihood"].values
    return np.concatenate([L[:1, 0], L[:, 1]])


def _bound(outcome: Outcome) -> Figure:
    iterations = outcome["bound"].coord("iteration")
    shown = min(len(iterations), 12)  # later steps are too small to see
    figure, (climb, gap) = subplots(1, 2)
    steps = np.repeat(np.arange(1, shown + 1), 2) + np.tile([-0.5, 0.0], shown)
    zigzag = outcome["bound"].values.ravel()[: 2 * shown]
    climb.plot(steps, zigzag, color="0.6", linewidth=1.2)
    likelihood = _path(outcome)[: shown + 1]
    climb.plot(range(shown + 1), likelihood, "D", color="C2", label="log likelihood")
    climb.plot(steps[::2], zigzag[::2], "o", color="C0", label="bound after the E step")
    climb.plot(steps[1::2], zigzag[1::2], "s", color="C1", label="bound after the M step")
    climb.set(xlabel="Iteration", ylabel="Natural log units", title="The bound increases")
    climb.legend(loc="lower right")
    reopened = np.maximum(outcome["divergence"].values[:, 1], 1e-16)
    gap.plot(iterations, reopened, color="C1", marker="s", markersize=3)
    gap.set(xlabel="Iteration", ylabel="KL after the M step", yscale="log")
    gap.set_title("The gap it leaves")
    return figure


def _any_q(outcome: Outcome) -> Figure:
    figure, ax = subplots()
    gaps = outcome["random_divergence"].values
    ends = np.array([0.0, gaps.max()])
    ax.plot(ends, _path(outcome)[0] - ends, color="C1", label="log likelihood less the divergence")
    ax.plot(gaps, outcome["random_bound"].values, "o", markersize=3, label="an arbitrary q")
    ax.set(xlabel="KL(q || posterior)", ylabel="Bound L(q, θ)")
    ax.legend()
    return figure


def _passes(study: EmTheory, outcome: Outcome) -> Figure:
    figure, ax = subplots()
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


def _limit(outcome: Outcome) -> Figure:
    complete, J = outcome["expected_complete"], outcome["distortion"].values[-1]
    epsilon = complete.coord("epsilon")
    figure, axes = subplots(1, 2)
    for name, mark, label in (
        ("difference", "o", "largest distance from the K-means centres"),
        ("label_doubt", "s", "largest doubt about a label"),
    ):
        values = np.maximum(outcome[name].values.max(axis=1), 1e-17)
        axes[0].plot(epsilon, values, marker=mark, label=label)
    axes[0].set(xscale="log", yscale="log", ylabel="Difference from K-means")
    legend_below(axes[0], 1)
    axes[1].plot(epsilon, epsilon * complete.values, marker="o", label="ε E[ln p(X, Z)]")
    axes[1].axhline(-J / 2, color="C1", linestyle="--", label="-J / 2")
    # Linear about the limit, decades for the broad components far below it.
    axes[1].set(xscale="log", ylabel="Natural log units times ε")
    axes[1].set_yscale("symlog", linthresh=1.5 * J, linscale=2.5)
    lowest = (epsilon * complete.values).min()
    ticks = [*([lowest] if lowest < -2 * J else []), -1.5 * J, -J, -J / 2, 0]
    axes[1].set_yticks(ticks, [f"{tick:.0f}" for tick in ticks])
    axes[1].set_ylim(1.5 * min(-1.5 * J, lowest), 0)
    axes[1].minorticks_off()
    legend_below(axes[1], 2)
    for ax in axes:
        ax.set_xlabel("Variance ε of the components")
        ax.invert_xaxis()
    return figure


def _climb(study: EmTheory, outcome: Outcome) -> Figure:
    figure, axes = column_panels(len(study.models), 3, 0.8)
    for ax, name in zip(axes, study.models, strict=True):
        L = outcome["climb"].sel(model=name).values
        for climb, taken in zip(L, outcome["climb_iterations"].sel(model=name).values, strict=True):
            ax.plot(climb[: taken + 1], linewidth=1, color="C0", alpha=0.6)
        # The first steps are so large that nothing else would be seen.
        high, low = L.max(), L[:, 1].min()
        room = 0.05 * (high - low)
        ax.set(title=TITLES[name], ylim=(low - room, high + room))
    figure.supxlabel("Iteration")
    figure.supylabel("Log likelihood")
    return figure
