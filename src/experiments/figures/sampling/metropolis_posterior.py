"""Samples of two weights: in the plane, their marginals and trace, and predictions."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.plotting.classification import lines_through_origin, probability_lines
from bythebook.experiments.plotting.clustering import panel_grid
from bythebook.experiments.studies.sampling.metropolis_posterior import MetropolisPosterior

KEEP = 1000  # samples of the first chain that are shown


def draw(study: MetropolisPosterior, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    draws = {
        "samples": _samples,
        "marginals": _marginals,
        "trace": _trace,
        "predictive": _predictive,
    }
    for name in study.show:
        yield name, draws[name](study, outcome)


def _samples(study: MetropolisPosterior, outcome: Outcome) -> Figure:
    figure, ax = subplots()
    first = outcome["path"].values[study.burn_in :]
    thin = first[:: max(1, len(first) // KEEP)]
    ax.plot(*thin.T, ".", color="C0", markersize=2.5, label="samples")
    levels = [-8.0, -4.5, -2.0, -0.5]
    for name, colour, dash in (("posterior", "black", "solid"), ("Laplace", "C1", "dashed")):
        density = outcome[f"log_{name.lower()}"]
        w1, w2, values = density.coord("w1"), density.coord("w2"), density.values
        look = {"levels": levels, "colors": colour, "linestyles": dash}
        ax.contour(w1, w2, values - values.max(), **look)
        ax.plot([], [], color=colour, linestyle=dash, label=name)
    ax.set(xlabel="$w_1$", ylabel="$w_2$", xlim=w1[[0, -1]], ylim=w2[[0, -1]])
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def _marginals(study: MetropolisPosterior, outcome: Outcome) -> Figure:
    figure, axes = panel_grid(1, 2, 0.75)
    first, density = outcome["path"].values[study.burn_in :], outcome["kernel_density"]
    bins = np.linspace(first.min(), first.max(), 21)
    axes[0, 0].hist(list(first.T), bins=list(bins), label=["$w_1$", "$w_2$"])
    axes[0, 0].set(xlabel="weight", ylabel="samples")
    for i, dash in ((0, "-"), (1, "--")):
        label = f"$w_{i + 1}$"
        axes[0, 1].plot(density.coord("w"), density.values[i], dash, color=f"C{i}", label=label)
    axes[0, 1].set(xlabel="weight", ylabel="density", ylim=(0, None))
    for ax in axes[0]:
        ax.legend(loc="upper right")
    return figure


def _trace(study: MetropolisPosterior, outcome: Outcome) -> Figure:
    figure, ax = subplots()
    ax.plot(outcome["path"].values[:, 0], linewidth=0.4)
    ax.set(xlabel="sample s", ylabel="$w_1$")
    return figure


def _predictive(study: MetropolisPosterior, outcome: Outcome) -> Figure:
    X, t, lines = (outcome[name].values for name in ("inputs", "targets", "boundary"))
    figure, axes = panel_grid(1, 2, 1.02)
    levels = [0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99]
    averaged = outcome["predictive"].sel(method="samples")
    probability_lines(axes[0, 0], averaged, levels, colors="0.25", linewidths=1)
    lines_through_origin(axes[0, 1], lines, color="0.45", linewidth=0.8)
    for ax in axes[0]:
        ax.plot(*X[t == 0].T, "o", color="C0", markersize=4, clip_on=False, label="t = 0")
        ax.plot(*X[t == 1].T, "s", color="C1", markersize=4, clip_on=False, label="t = 1")
        ax.set(xlabel="$x_1$", ylabel="$x_2$", aspect="equal", xlim=(-5, 5), ylim=(-5, 5))
        ax.plot(*study.new, "*", color="black", markersize=9, clip_on=False, label="new object")
    axes[0, 0].set_title("P(T = 1 | x), averaged over samples")
    axes[0, 1].set_title(f"boundaries of {len(lines)} samples")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
