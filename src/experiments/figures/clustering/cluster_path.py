"""The steps panel by panel, their objective, and the iterations of other starts."""

from collections.abc import Iterator
from functools import partial
from string import ascii_lowercase

import numpy as np
from matplotlib.axes import Axes

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.clustering import MARKERS, plot_mixture
from bythebook.experiments.plotting.marks import Panel, hist, line, point, rule


def steps(*half_steps: int) -> Iterator[Panel]:
    """Half steps of K-means: 2t - 1 is the E step of iteration t, 2t its M step, 0 the start."""
    for letter, step in zip(ascii_lowercase, half_steps, strict=False):
        name = f"{'ME'[step % 2]} step {(step + 1) // 2}" if step else "start"
        yield Panel(
            x="{x1}",
            y="{x2}",
            title=f"({letter}) {name}",
            finish=partial(_half_step, step=step),
            share="xy",
            columns=3,
        )


def _half_step(ax: Axes, outcome: Outcome, step: int) -> None:
    X, path, labels = (outcome[name].values for name in ("points", "means", "labels"))
    means = path[min(step // 2, len(path) - 1)]
    if not step:
        ax.plot(*X.T, "o", color="0.6", markersize=2.2)
    for k, centre in enumerate(means):
        if step:
            members = labels[min((step - 1) // 2, len(labels) - 1)] == k
            ax.plot(*X[members].T, MARKERS[k % 8], color=f"C{k}", markersize=2.2)
        ax.plot(*centre, "X", color=f"C{k}", markersize=9, markeredgecolor="black", zorder=4)
    ends = np.stack([X.min(axis=0) - 0.4, X.max(axis=0) + 0.4, *(means - 0.3), *(means + 0.3)])
    if step % 2 and len(means) == 2:
        across = means[1] - means[0]
        middle, along = means.mean(axis=0), np.array([-across[1], across[0]]) * 10
        ax.plot(*np.stack([middle - along, middle + along]).T, color="C3")
    ax.set(xlim=(ends[:, 0].min(), ends[:, 0].max()), ylim=(ends[:, 1].min(), ends[:, 1].max()))


def cost() -> Iterator[Panel]:
    """The distortion after each half step."""
    yield Panel(
        line("distortion", color="0.6"),
        point("distortion", color="C0", marker="o"),
        x="half step of K-means",
        y="distortion J",
        ylimits=(0, None),
    )


def starts() -> Iterator[Panel]:
    """M steps of K-means until nothing changes, from each start."""
    yield Panel(
        hist("cycles - 1"),
        rule(x="last(coordinates(means, over='iteration')) - 1", color="C1", label="start shown"),
        x="M steps until nothing changes",
        y="starts",
    )


def path(*iterations: int) -> Iterator[Panel]:
    """Components and responsibilities after some iterations of EM, with the start."""
    titles = ["start", "first E step", *(f"after {n} iterations" for n in iterations)]
    titles = ["after 1 iteration" if title == "after 1 iterations" else title for title in titles]
    shown = [None, 0, *iterations]
    for letter, title, step in zip(ascii_lowercase, titles, shown, strict=False):
        yield Panel(
            x="{x1}",
            y="{x2}",
            title=f"({letter}) {title}",
            finish=partial(_components, step=step),
            share="xy",
            columns=3,
        )


def _components(ax: Axes, outcome: Outcome, step: int | None) -> None:
    gamma, at = outcome["responsibilities"], min(step or 0, len(outcome["means"]) - 1)
    shares = None if step is None else gamma.values[gamma.coord("snapshot").tolist().index(step)]
    means, covariances = (outcome[name].values[at] for name in ("means", "covariances"))
    plot_mixture(ax, outcome["points"].values, shares, means, covariances)


def objective() -> Iterator[Panel]:
    """The log likelihood and the bound after each iteration of EM but the start."""
    yield Panel(
        line("log_likelihood[1:]", linestyle="--", marker="o", ms=4, label="log likelihood"),
        line("bound[1:]", label="bound after the M step"),
        x="iteration",
        y="nats",
    )
