"""What each prior expects of the tosses; marginal likelihoods over parameters and simulations."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import panels
from experiments.drawing.clusters import whole_steps
from experiments.studies.probability.coin_evidence import CoinEvidence


def draw(study: CoinEvidence, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    draws = {"heads": _heads, "contours": _contours, "simulation": _simulation}
    for name in study.show:
        yield name, draws[name](study, outcome)


def _heads(study: CoinEvidence, outcome: Outcome) -> Figure:
    """What each prior expected; the height at the observed count is its evidence."""
    evidence = outcome["evidence"]
    figure, ax = panels()
    for k, (prior, curve) in enumerate(zip(study.labels, evidence.values, strict=True)):
        label = f"{prior}, {curve[study.heads]:.4f}"
        ax.plot(evidence.along("heads"), curve, "os^Dv"[k % 5] + "-", color=f"C{k}", label=label)
    seen = f"{study.heads} heads were seen"
    ax.axvline(study.heads, color="black", linewidth=1, linestyle=":", label=seen)
    ax.set(xlabel=f"heads in {study.tosses} tosses", ylabel="marginal likelihood", ylim=(0, None))
    whole_steps(ax)
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def _contours(study: CoinEvidence, outcome: Outcome) -> Figure:
    surface = outcome["evidence_of_parameters"]
    alpha, beta = surface.along("alpha"), surface.along("beta")
    i, j = np.unravel_index(surface.values.argmax(), surface.values.shape)
    figure, ax = panels()
    filled = ax.contourf(alpha, beta, surface.values.T, levels=12)
    ax.contour(filled, colors="white", linewidths=0.5)
    figure.colorbar(filled, ax=ax, label="marginal likelihood")
    ax.plot(
        alpha[i],
        beta[j],
        "o",
        color="C1",
        markersize=10,
        markeredgecolor="black",
        clip_on=False,
        zorder=5,
        label=f"best: {alpha[i]}, {beta[j]}",
    )
    ax.set(xlabel="α (heads)", ylabel="β (tails)")
    ax.grid(visible=False)
    figure.legend(loc="outside lower center")
    return figure


def _simulation(study: CoinEvidence, outcome: Outcome) -> Figure:
    count = np.bincount(outcome["drawn_heads"].values, minlength=study.tosses + 1)
    seen = count > 0
    y = outcome["chance"].along("heads")[seen]
    figure, axes = panels(1, 3)
    axes[0].bar(y, count[seen] / count.sum(), color="0.7", label="simulated")
    axes[0].plot(y, outcome["chance"].values[seen], "k.", label="binomial")
    axes[0].set(ylabel="share of the sets")
    axes[0].legend(loc="upper left", handlelength=1)
    for ax, what in zip(axes[1:], ("win_probability", "evidence"), strict=True):
        for i, curve in enumerate(outcome[what].values):
            label = f"prior {study.labels[i]}" if ax is axes[1] else None
            ax.plot(y, curve[seen], ("-", "--", "-.", ":")[i % 4], color=f"C{i}", label=label)
    axes[1].axhline(outcome["true_win_probability"].item, color="black", linewidth=1)
    axes[1].set(ylabel="probability of winning\n(line: with the true coin)", ylim=(0, 1))
    axes[2].set(ylabel="marginal likelihood", ylim=(0, None))
    for ax in axes:
        ax.set(xlabel=f"heads in {study.tosses} tosses")
    figure.legend(
        *axes[1].get_legend_handles_labels(), loc="outside lower center", ncols=len(study.labels)
    )
    return figure
