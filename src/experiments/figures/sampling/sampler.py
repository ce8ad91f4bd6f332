"""Chains step by step, their agreement by length, and the effect of the step size."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.plotting.clustering import MARKERS, hide_unused, panel_grid
from bythebook.experiments.plotting.ellipses import ellipse
from bythebook.experiments.studies.sampling.sampler import Sampler

ACCEPTED = 300  # samples of a first chain to draw
RINGS = (0.5, 1.0, 1.5, 2.0, 2.5)  # standard deviations


def draw(study: Sampler, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    draws = {
        "steps": _steps,
        "convergence": _convergence,
        "walks": _walks,
        "densities": _densities,
        "walk": _one_walk,
    }
    for name in study.show:
        yield name, draws[name](study, outcome)


def _steps(study: Sampler, outcome: Outcome) -> Figure:
    """The first samples of a chain, one by one; and its first accepted ones."""
    figure, axes = panel_grid(2, 2, 0.85, sharex=True, sharey=True)
    counts = sorted({1, min(3, study.early), study.early})
    for ax, upto in zip(axes.flat, counts, strict=False):
        _walk(ax, outcome, upto)
        ax.set_title(f"{upto} sample{'s' if upto > 1 else ''}")
    last, shown = axes.flat[len(counts)], axes.flat[: len(counts) + 1]
    w, accepted = outcome["path"].values[0, 0], outcome["accepted"].values[0, 0]
    first = w[1:][accepted][:ACCEPTED]
    last.plot(*first.T, ".", color="C0", markersize=3)
    last.set_title(f"first {len(first)} accepted samples")
    for ax in shown:
        _rings(ax, next(iter(study.parts.values())), RINGS, color="0.7", linewidth=0.8, zorder=0)
    hide_unused(axes.flat[len(counts) + 1 :])
    for ax in axes[-1]:
        ax.set_xlabel("$w_1$")
    for ax in axes[:, 0]:
        ax.set_ylabel("$w_2$")
    _legend(figure, axes[0, 0], "density contours")
    return figure


def _one_walk(study: Sampler, outcome: Outcome) -> Figure:
    """The beginning of a chain in the one standard deviation contour of its target."""
    figure, ax = subplots()
    _walk(ax, outcome, study.early, marker="")
    _rings(ax, next(iter(study.parts.values())), (1.0,), color="0.7", zorder=0)
    ax.set(xlabel="$z_1$", ylabel="$z_2$", aspect="equal")
    _legend(figure, ax, "one standard deviation")
    return figure


def _walk(ax: Axes, outcome: Outcome, upto: int, **options: Any) -> None:
    """The first samples, with all accepted and rejected proposals."""
    w, proposed, accepted = (outcome[n].values[0, 0] for n in ("path", "proposed", "accepted"))
    ax.plot(*w[:1].T, "o", color="C0", markersize=4)
    for s in range(upto - 1):
        look: Any = (
            {"color": "C0", "marker": "o"} if accepted[s] else {"color": "C1", "marker": "x"}
        )
        dash = "-" if accepted[s] else "--"
        ends = np.stack([w[s], proposed[s]], axis=-1)
        look |= {"linestyle": dash, "linewidth": 1.2, "markersize": 4, "markevery": [1]} | options
        ax.plot(*ends, **look)


def _legend(figure: Figure, ax: Axes, contours: str) -> None:
    ax.plot([], [], "o-", color="C0", label="accepted")
    ax.plot([], [], "x--", color="C1", label="rejected")
    ax.plot([], [], color="0.7", label=contours)
    figure.legend(loc="outside lower center", ncols=3)


def _rings(ax: Axes, parts: list[list[float]], radii: Any, **look: Any) -> None:
    """Contours of Gaussians at some standard deviations from their means."""
    for x, y, a, b, c in parts:
        for r in radii:
            ax.plot(*ellipse(np.array([x, y]), np.array([[a, b], [b, c]]), r, 120), **look)


def _convergence(study: Sampler, outcome: Outcome) -> Figure:
    means, R = outcome["chain_mean"], outcome["scale_reduction"]
    length, every = means.coord("length"), -(-study.chains // 5)
    figure, axes = panel_grid(1, 2, 0.8)
    axes[0, 0].plot(length, means.values[0, 0, ::every, :, 0].T, linewidth=1)
    mean = next(iter(study.parts.values()))[0][0]
    axes[0, 0].axhline(mean, color="black", linestyle="--", linewidth=1)
    axes[0, 0].set(ylabel="mean of $w_1$ so far", title="chains from different starts")
    axes[0, 1].plot(length, R.values[0, 0].max(-1), "o-", markersize=3)
    axes[0, 1].axhline(1, color="black", linestyle="--", linewidth=1)
    axes[0, 1].set(ylabel="potential scale reduction R", title=f"{study.chains} chains")
    for ax in axes[0]:
        ax.set(xscale="log", xlabel="samples of a chain")
    return figure


def _walks(study: Sampler, outcome: Outcome) -> Figure:
    """The first chain of each step variance."""
    figure, ax = subplots()
    for k, variance in enumerate(study.step_variances):
        path, mark = outcome["path"].values[0, k], MARKERS[k % len(MARKERS)]
        ax.plot(*path.T, f"{mark}-", color=f"C{k % 8}", label=f"Σ = {variance:g} I")
        ax.plot(*path[0], mark, color="black", zorder=3)
    ax.plot([], [], "o", color="black", label="start")
    ax.set(xlabel="$w_1$", ylabel="$w_2$")
    ax.set_aspect("equal", adjustable="datalim")
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def _densities(study: Sampler, outcome: Outcome) -> Figure:
    """Targets above; below, the quality of chains on them by size of the steps."""
    parts, rejected = list(study.parts.items()), outcome["rejected"]
    acceptance = (1 - rejected.values[..., -1] / (study.samples - 1)).mean(-1)  # (target, step)
    all_found = (outcome["parts_visited"].values == len(parts[0][1])).mean(-1)
    step = np.sqrt(study.step_variances)
    figure, axes = panel_grid(2, 2, 0.8)
    for ax, (name, shape) in zip(axes[0], parts, strict=False):
        (_, _, a, b, c), alone = shape[0], len(shape) == 1
        radii = np.sqrt(-2 * np.log([0.02, 0.1, 0.3, 0.6, 0.9]))  # at shares of the height
        _rings(ax, shape, radii, color="C0")
        title = f"correlation {b / np.sqrt(a * c):g}" if alone else name
        ax.set(xlabel="$w_1$", ylabel="$w_2$", title=title)
    axes[1, 0].plot(step, all_found[0], "s-", color="C1", label="finds other mode")
    axes[1, 0].plot(step, acceptance[0], "o--", color="C0", label="acceptance")
    axes[1, 0].set_ylabel("share of chains; of proposals")
    for i, look in ((1, "o-"), (2, "s--")):
        axes[1, 1].plot(step, acceptance[i], look, color=f"C{2 * i - 2}", label=parts[i][0])
    axes[1, 1].set_ylabel("share of proposals accepted")
    for ax in axes[1]:
        ax.set(xscale="log", xlabel="standard deviation of a step", ylim=(-0.03, 1.03))
        ax.legend()
    return figure
