"""Heads in a game, predictions of priors, likelihoods, and marginal likelihoods."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.marks import Panel, bar, line, rule


def game() -> Iterator[Panel]:
    """The probability of each number of heads in a game of the coin."""
    yield Panel(
        bar("game_chance"),
        x="heads in {game_tosses} tosses (the game is won with {win_at_most} or fewer)",
        y="probability",
    )


def predictions(*heads: int) -> Iterator[Panel]:
    """The probability of each count under each prior, with lines at the counts that were seen."""
    yield Panel(
        line("evidence", by="prior", marker="o", label="prior {}"),
        *(rule(x=float(count), color="black", linestyle=":") for count in heads),
        x="heads in {tosses[0]} tosses",
        y="marginal likelihood",
        ylimits=(0, None),
    )


def likelihoods() -> Iterator[Panel]:
    """The likelihoods of r."""
    yield Panel(
        line("likelihood", by="seen", label="{} heads"),
        x="probability of a head, r",
        y="likelihood of r",
        ylimits=(0, None),
        finish=_not_negligible,
    )


def contours() -> Iterator[Panel]:
    """The marginal likelihood over the parameters of the prior."""
    yield Panel(x="α (heads)", y="β (tails)", finish=_surface)


def simulation() -> Iterator[Panel]:
    """Simulated counts, and what each count means for the game and for the priors."""
    yield Panel(line("chance", label="binomial"), x="heads", y="probability", title="counts")
    yield Panel(
        line("win_probability", by="prior", label="prior {}"),
        x="heads",
        y="probability of winning",
        ylimits=(0, 1),
        title="the game",
    )
    yield Panel(
        line("evidence", by="prior", label="prior {}"),
        x="heads",
        y="marginal likelihood",
        title="the priors",
    )


def _not_negligible(ax: Axes, outcome: Outcome) -> None:
    """A tint where the likelihood is above each share of its maximum."""
    curves = outcome["likelihood"]
    r = curves.coord("r")
    for k, curve in enumerate(curves.values):
        ends = (outcome[f"range_{end}"].values[k] for end in ("low", "high"))
        for low, high in zip(*ends, strict=True):
            inside = (r >= low) & (r <= high)
            ax.fill_between(r, curve, where=inside, color=f"C{k}", alpha=0.05, linewidth=0)


def _surface(ax: Axes, outcome: Outcome) -> None:
    surface = outcome["evidence_of_parameters"]
    alpha, beta = surface.coord("alpha"), surface.coord("beta")
    i, j = np.unravel_index(surface.values.argmax(), surface.values.shape)
    filled = ax.contourf(alpha, beta, surface.values.T, levels=12)
    ax.contour(filled, colors="white", linewidths=0.5)
    ax.figure.colorbar(filled, ax=ax, label="marginal likelihood")
    look: dict[str, Any] = {
        "color": "C1",
        "markeredgecolor": "black",
        "markersize": 10,
        "clip_on": False,
    }
    ax.plot(alpha[i], beta[j], "o", zorder=5, **look)
    ax.set_title(f"best: {alpha[i]}, {beta[j]}")
    ax.grid(visible=False)
