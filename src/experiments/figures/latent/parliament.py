"""MPs by party, their attendance, the most uncertain ones, and divisions with boundaries."""

from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import shared_legend, subplots
from bythebook.experiments.plotting.clustering import (
    MARKERS,
    column_panels,
    covariance_contour,
    legend_below,
    panel_grid,
)
from bythebook.experiments.studies.latent.parliament import FIGURES, MAIN, Parliament
from bythebook.models.standins import PARTIES
from bythebook.models.types import AnyArray

SMALL = PARTIES[3:7]
VOTES = ((0, ".", "0.8", "absent"), (1, "o", "C0", "for"), (-1, "s", "C1", "against"))


def draw(study: Parliament, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    drawn = dict(zip(FIGURES, (_attendance, _map, _small, _uncertain, _divisions), strict=True))
    for name in study.show:
        yield name, drawn[name](outcome)


def _parties(ax: Axes, X: AnyArray, party: AnyArray, names: tuple[str, ...]) -> None:
    rest = ~np.isin(party, names)
    ax.plot(X[rest, 0], X[rest, 1], ".", color="0.75", markersize=3, label="others")
    for i, name in enumerate(names):
        own = X[party == name]
        ax.plot(*own.T, MARKERS[i], color=f"C{i}", markersize=4, alpha=0.8, label=name)


def _attendance(outcome: Outcome) -> Figure:
    figure, ax = subplots()
    share = 100 * outcome["votes_cast"].values / outcome["divisions"].item
    ax.hist(share, bins=np.arange(0, 101, 5), color="C0", edgecolor="white")
    ax.set(xlabel="Divisions attended (%)", ylabel="MPs")
    return figure


def _map(outcome: Outcome) -> Figure:
    X, norm = (outcome[name].values[-1] for name in ("position", "distance_from_origin"))
    party, attended = outcome["member_party"].values, outcome["votes_cast"].values
    what = "Latent dimension" if "bound" in outcome else "Principal component"
    figure, axes = panel_grid(1, 2, 0.85)
    _parties(axes[0, 0], X, party, MAIN)
    axes[0, 0].set(xlabel=f"{what} 1", ylabel=f"{what} 2", title="MPs by party")
    legend_below(axes[0, 0], 4)
    for i, name in enumerate(MAIN):
        own = party == name
        axes[0, 1].plot(attended[own], norm[own], MARKERS[i], color=f"C{i}", markersize=4)
    axes[0, 1].set(xlabel="Votes cast", ylabel="Distance from the origin", ylim=(0, None))
    axes[0, 1].set_title("Attendance and distance")
    return figure


def _small(outcome: Outcome) -> Figure:
    figure, axes = panel_grid(1, 2, 0.85)
    titles = ("PCA", "Probit PCA")
    for ax, X, title in zip(axes[0], outcome["position"].values, titles, strict=True):
        _parties(ax, X, outcome["member_party"].values, SMALL)
        ax.set(xlabel="First dimension", ylabel="Second dimension", title=title)
    legend_below(axes[0, 0], 5)
    return figure


def _uncertain(outcome: Outcome) -> Figure:
    figure, ax = subplots()
    X, least = outcome["position"].values[-1], outcome["uncertain_member"].values
    ax.plot(X[:, 0], X[:, 1], ".", color="0.75", markersize=3)
    for place, covariance in zip(X[least], outcome["uncertain_covariance"].values, strict=True):
        covariance_contour(ax, place, covariance, "C1", linewidth=1)
    ax.set(xlabel="Latent dimension 1", ylabel="Latent dimension 2")
    ax.set_title(f"The {len(least)} least certain MPs, one standard deviation")
    return figure


def _divisions(outcome: Outcome) -> Figure:
    X, votes = outcome["position"].values[-1], outcome["division_votes"]
    figure, axes = column_panels(votes.values.shape[1], 2, 0.75, sharex=True, sharey=True)
    reach = 1.1 * np.abs(X).max()
    for ax, division in zip(axes, votes.coord("division"), strict=True):
        for vote, symbol, colour, name in VOTES:
            own = X[votes.sel(division=division).values == vote]
            ax.plot(*own.T, symbol, color=colour, markersize=3.5, label=name)
        w = outcome["boundary"].sel(division=division).values
        right = outcome["division_share_right"].sel(division=division).item
        along = 3 * reach * np.array([-w[1], w[0]]) / np.linalg.norm(w)
        ax.plot(*np.stack([-along, along]).T, color="black", label="boundary")
        ax.set(xlim=(-reach, reach), ylim=(-reach, reach))
        ax.set_title(f"Division {division}: {right:.0%} right")
        ax.set(xlabel="Latent dimension 1", ylabel="Latent dimension 2")
        ax.label_outer()
    shared_legend(figure, axes[0], 4)
    return figure
