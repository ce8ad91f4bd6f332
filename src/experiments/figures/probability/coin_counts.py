"""Predictions of the tosses by a coin or priors; likelihoods; marginal likelihoods."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import shared_legend, subplots
from bythebook.experiments.plotting.clustering import integer_ticks
from bythebook.experiments.plotting.regression import fill_band
from bythebook.experiments.studies.probability.coin_counts import CoinCounts


def draw(study: CoinCounts, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    draws = {
        "heads": _heads_by_priors if study.alphas else _heads_of_a_game,
        "likelihood": _likelihood,
        "contours": _contours,
        "simulation": _simulation,
    }
    for name in study.show:
        yield name, draws[name](study, outcome)


def _heads_of_a_game(study: CoinCounts, outcome: Outcome) -> Figure:
    y, p = outcome["game_chance"].coord("game_heads"), outcome["game_chance"].values
    won, r = y <= study.win_at_most, outcome["r_of_the_coin"].item
    win = outcome["win_probability_of_r"].sel(r=r).values
    figure, ax = subplots()
    ax.bar(y[won], p[won], color="C0", label=f"game won, {win:.4f}")
    ax.bar(y[~won], p[~won], color="C1", hatch="//", label=f"game lost, {1 - win:.4f}")
    ax.set(xlabel=f"heads in {study.game_tosses} tosses", ylabel=f"probability for r = {r:g}")
    if len(y) <= 21:
        ax.set_xticks(y)
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def _heads_by_priors(study: CoinCounts, outcome: Outcome) -> Figure:
    """Predictions of each prior; the height at the observed count is its evidence."""
    evidence, seen = outcome["evidence"], study.heads[0]
    figure, ax = subplots()
    for k, (prior, curve) in enumerate(zip(study.labels, evidence.values, strict=True)):
        label = f"{prior}, {curve[seen]:.4f}"
        ax.plot(evidence.coord("heads"), curve, "os^Dv"[k % 5] + "-", color=f"C{k}", label=label)
    ax.axvline(seen, color="black", linewidth=1, linestyle=":", label=f"{seen} heads were seen")
    ax.set(
        xlabel=f"heads in {study.tosses[0]} tosses", ylabel="marginal likelihood", ylim=(0, None)
    )
    integer_ticks(ax)
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def _likelihood(study: CoinCounts, outcome: Outcome) -> Figure:
    r, curves = outcome["likelihood"].coord("r"), outcome["likelihood"].values
    some = slice(None, None, max(1, len(r) // 1000))  # as many as can be seen
    r, curves = r[some], curves[:, some]
    figure, ax = subplots()
    for k, (y, n) in enumerate(zip(study.heads, study.tosses, strict=True)):
        ax.plot(r, curves[k], "-" if k % 2 == 0 else "--", label=f"{y} heads in {n} tosses")
        ends = (outcome[f"not_negligible_{end}"].values[k] for end in ("from", "to"))
        for low, high in zip(*ends, strict=True):
            fill_band(
                ax, r, curves[k], 0, where=(r >= low) & (r <= high), color=f"C{k}", alpha=0.05
            )
    ax.set(xlabel="probability of a head, r", ylabel="likelihood of r", ylim=(0, None))
    shares = ", ".join(f"{share:g}" for share in study.negligible)
    ax.set_title(f"shaded: above {shares} of the maximum", fontsize="small")
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def _contours(study: CoinCounts, outcome: Outcome) -> Figure:
    surface = outcome["evidence_of_parameters"]
    alpha, beta = surface.coord("alpha"), surface.coord("beta")
    i, j = np.unravel_index(surface.values.argmax(), surface.values.shape)
    figure, ax = subplots()
    filled = ax.contourf(alpha, beta, surface.values.T, levels=12)
    ax.contour(filled, colors="white", linewidths=0.5)
    figure.colorbar(filled, ax=ax, label="marginal likelihood")
    best, look = f"best: {alpha[i]}, {beta[j]}", {"color": "C1", "markeredgecolor": "black"}
    ax.plot(alpha[i], beta[j], "o", markersize=10, clip_on=False, zorder=5, label=best, **look)
    ax.set(xlabel="α (heads)", ylabel="β (tails)")
    ax.grid(visible=False)
    figure.legend(loc="outside lower center")
    return figure


def _simulation(study: CoinCounts, outcome: Outcome) -> Figure:
    count = np.bincount(outcome["drawn_heads"].values, minlength=study.tosses[0] + 1)
    seen = count > 0
    y = outcome["chance"].coord("heads")[seen]
    figure, axes = subplots(1, 3)
    axes[0].bar(y, count[seen] / count.sum(), color="0.7", label="simulated")
    axes[0].plot(y, outcome["chance"].values[seen], "k.", label="binomial")
    axes[0].set(ylabel="share of the sets")
    axes[0].legend(loc="upper left", handlelength=1)
    for ax, what in zip(axes[1:], ("win_probability", "evidence"), strict=True):
        for i, curve in enumerate(outcome[what].values):
            label, line = f"prior {study.labels[i]}", ("-", "--", "-.", ":")[i % 4]
            ax.plot(y, curve[seen], line, color=f"C{i}", label=label)
    true = outcome["win_probability_of_r"].sel(r=outcome["r_of_the_coin"].item).item
    axes[1].axhline(true, color="black", linewidth=1)
    axes[1].set(ylabel="probability of winning\n(line: with the true coin)", ylim=(0, 1))
    axes[2].set(ylabel="marginal likelihood", ylim=(0, None))
    for ax in axes:
        ax.set(xlabel=f"heads in {study.tosses[0]} tosses")
    shared_legend(figure, axes[1], len(study.labels))
    return figure
