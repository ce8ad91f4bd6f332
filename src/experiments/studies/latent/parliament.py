"""The votes of a parliament: attendance, PCA, and probit PCA that knows of absences (FCML 7.7)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar
from experiments.contract.study import Study, knob
from models.datasets import load
from models.latent.pca import pca
from models.latent.probit_ppca import fit, most_probable
from models.standins import PARTIES
from models.types import Bools, Floats, Ints

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAIN = (0, 1, 2)  # the three main parties, by their place in PARTIES
SMALL = (3, 4, 5, 6)
FIGURES = ("map", "small-parties", "uncertain", "divisions")


@dataclass
class Votes:
    """Knobs of the data: the votes and the parties of the MPs. A base."""

    votes: str = knob("fcml-votes", "a row a division, a column an MP", dataset=True)
    party: str = knob("fcml-votes-party", "the party of each MP", dataset=True)

    def house(self) -> tuple[Floats, Ints]:
        """Votes (N, M) of N MPs in M divisions, and their parties (N,)."""
        return load(self.votes).matrix.T.copy(), load(self.party).matrix[:, 0].astype(np.int64)


@dataclass
class VoteAttendance(Votes, Study):
    """How often MPs vote; and the shares that a text's counts amount to."""

    divisions: int = knob(1288, "divisions of the text", at_least=1)
    counts: list[int] = knob([853, 1237, 20], "votes of the text: mean, most, fewest", at_least=0)

    def run(self, rng: Generator) -> Outcome:
        Y, party = self.house()
        attended = (Y != 0).sum(axis=1)
        metrics: dict[str, Scalar] = {
            "n_members": len(Y),
            "n_divisions": Y.shape[1],
            "mean_votes": float(attended.mean()),
            "mean_share": float(attended.mean() / Y.shape[1]),
            "largest_share": float(attended.max() / Y.shape[1]),
            "smallest_share": float(attended.min() / Y.shape[1]),
            "share_of_main_parties": float(np.isin(party, MAIN).mean()),
        }
        for i, count in enumerate(self.counts, start=1):
            metrics[f"percent_{i}"] = 100 * count / self.divisions
        return Outcome(metrics, arrays={"attended": attended, "divisions": np.array(Y.shape[1])})

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        figure, ax = panels()
        share = 100 * outcome.arrays["attended"] / outcome.arrays["divisions"]
        ax.hist(share, bins=np.arange(0, 101, 5), color="C0", edgecolor="white")
        ax.set(xlabel="Divisions attended (%)", ylabel="MPs")
        return {"attendance": figure}


@dataclass
class VotePca(Votes, Study):
    """Plain PCA with zeros for absences: the distance from the origin measures attendance."""

    def run(self, rng: Generator) -> Outcome:
        Y, party = self.house()
        found = pca(Y)
        X, attended = found.X[:, :2], (Y != 0).sum(axis=1)
        share = found.eigenvalues / found.eigenvalues.sum()
        metrics: dict[str, Scalar] = {
            "variance_explained_1": float(share[0]),
            "variance_explained_2": float(share[1]),
            **_party_statements(X, party),
            **_attendance(X, party, attended),
        }
        arrays = {"X": X, "party": party, "attended": attended}
        return Outcome(metrics, arrays=arrays)

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        return {"map": _draw_map(outcome, "Principal component")}


@dataclass
class VoteProbit(Votes, Study):
    """Probit PCA by variational Bayes, where absences are absences; each division is a line."""

    iterations: int = knob(40, "iterations", at_least=1, at_most=1000)
    uncertain: int = knob(20, "MPs to name as least certain", at_least=1, at_most=1000)
    show: list[str] = knob(list(FIGURES), "figures", choices=FIGURES, distinct=True)
    shown: int = knob(4, "divisions to draw", at_least=1, at_most=9)

    def run(self, rng: Generator) -> Outcome:
        Y, party = self.house()
        done = fit(Y, 2, rng, max_iter=self.iterations)
        q = done.q
        attended, observed = (Y != 0).sum(axis=1), Y != 0
        plain = pca(Y).X[:, :2]
        volume = np.linalg.slogdet(q.Sigma_x)[1]
        least = np.argsort(-volume)[: self.uncertain]
        fewest = np.argsort(attended, kind="stable")[: self.uncertain]
        right = (most_probable(q) == Y) & observed
        by_division = right.sum(axis=0) / np.maximum(observed.sum(axis=0), 1)
        before, after = _attendance(plain, party, attended), _attendance(q.mu_x, party, attended)
        norm = np.linalg.norm(q.mu_x, axis=1)
        metrics: dict[str, Scalar] = {
            "bound_never_falls": bool((np.diff(done.bound) > -1e-9 * abs(done.bound[-1])).all()),
            "share_right": float(right.sum() / observed.sum()),
            "most_but_not_all_right": bool(0.8 < right.sum() / observed.sum() < 1),
            "uncertain_are_rare_voters": float(np.isin(least, fewest).mean()),
            "distance_of_uncertain": float(norm[least].mean() / norm.mean()),
            "uncertain_not_at_origin": bool(norm[least].mean() > norm.mean() / 2),
            "attendance_matters_less": bool(
                after["mean_attendance_correlation"] < before["mean_attendance_correlation"] / 2
            ),
            "mean_attendance_correlation_pca": before["mean_attendance_correlation"],
            **_party_statements(q.mu_x, party),
            **after,
            **_small_parties(q.mu_x, party),
        }
        chosen = _worth_seeing(Y, by_division, self.shown)
        return Outcome(
            metrics,
            series={"bound": done.bound},
            arrays={
                "X": q.mu_x,
                "pca": plain,
                "party": party,
                "attended": attended,
                "least": least,
                "least_covariance": q.Sigma_x[least],
                "w": q.mu_w[chosen],
                "chosen": chosen + 1,
                "chosen_votes": Y[:, chosen],
                "chosen_right": by_division[chosen],
                "share_right": by_division,
            },
        )

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        drawn = {
            "map": lambda: _draw_map(outcome, "Latent dimension"),
            "small-parties": lambda: _draw_small(outcome),
            "uncertain": lambda: _draw_uncertain(outcome),
            "divisions": lambda: _draw_divisions(outcome),
        }
        return {name: drawn[name]() for name in self.show}


def _worth_seeing(Y: Floats, right: Floats, shown: int) -> Ints:
    """Contested divisions, from one of the worst classified to the median, places (shown,)."""
    in_favour, cast = (Y > 0).sum(axis=0), (Y != 0).sum(axis=0)
    share = in_favour / np.maximum(cast, 1)
    contested = np.flatnonzero((np.abs(share - 0.5) < 0.35) & (cast > len(Y) / 4))
    if len(contested) < shown:
        contested = np.arange(Y.shape[1])
    order = contested[np.argsort(right[contested], kind="stable")]
    places = np.linspace(0.02, 0.5, shown) * (len(order) - 1)
    return np.asarray(order[places.astype(int)])


def _party_statements(X: Floats, party: Ints) -> dict[str, Scalar]:
    """How well the nearest centre tells the three main parties apart."""
    main = np.isin(party, MAIN)
    centres = np.stack([np.median(X[party == k], axis=0) for k in MAIN])
    nearest = np.square(X[main][:, None] - centres).sum(axis=2).argmin(axis=1)
    share = float(np.mean(np.array(MAIN)[nearest] == party[main]))
    return {"nearest_centre_is_own_party": share}


def _attendance(X: Floats, party: Ints, attended: Ints) -> dict[str, float]:
    """Correlation of votes cast and distance from the origin, within each main party."""
    norm = np.linalg.norm(X, axis=1)
    found = {}
    for k in MAIN:
        own: Bools = party == k
        value = float(np.corrcoef(norm[own], attended[own])[0, 1])
        found[f"attendance_correlation_{PARTIES[k].lower()}"] = value
    found["mean_attendance_correlation"] = float(np.mean(list(found.values())))
    return found


def _small_parties(X: Floats, party: Ints) -> dict[str, Scalar]:
    """Whether small parties stick together, away from the main ones; SNP and PC as one."""
    centre = {k: np.median(X[party == k], axis=0) for k in range(len(PARTIES))}

    def apart(a: int, b: int) -> float:
        return float(np.linalg.norm(centre[a] - centre[b]))

    nationalists = apart(3, 4)
    con = X[party == 1] - centre[1]
    spread = float(np.median(np.linalg.norm(con, axis=1)))
    return {
        "distance_snp_pc": nationalists,
        "distance_snp_ldem": apart(3, 2),
        "snp_and_pc_together": bool(nationalists < min(apart(3, k) for k in MAIN)),
        "distance_dup_con": apart(5, 1),
        "spread_con": spread,
        "dup_away_from_con": bool(apart(5, 1) > 2 * spread),
    }


def _parties(ax: "Axes", X: Floats, party: Ints, places: tuple[int, ...]) -> None:
    from experiments.drawing.clusters import SYMBOLS

    rest = ~np.isin(party, places)
    ax.plot(X[rest, 0], X[rest, 1], ".", color="0.75", markersize=3, label="others")
    for i, k in enumerate(places):
        own = X[party == k]
        ax.plot(*own.T, SYMBOLS[i], color=f"C{i}", markersize=4, alpha=0.8, label=PARTIES[k])


def _draw_map(outcome: Outcome, axis: str) -> "Figure":
    from experiments.drawing.clusters import SYMBOLS, grid, legend_below

    X, party, attended = (outcome.arrays[name] for name in ("X", "party", "attended"))
    figure, axes = grid(1, 2, 0.85)
    _parties(axes[0, 0], X, party, MAIN)
    axes[0, 0].set(xlabel=f"{axis} 1", ylabel=f"{axis} 2", title="MPs by party")
    legend_below(axes[0, 0], 4)
    norm = np.linalg.norm(X, axis=1)
    for i, k in enumerate(MAIN):
        own = party == k
        axes[0, 1].plot(attended[own], norm[own], SYMBOLS[i], color=f"C{i}", markersize=4)
    axes[0, 1].set(xlabel="Votes cast", ylabel="Distance from the origin", ylim=(0, None))
    axes[0, 1].set_title("Attendance and distance")
    return figure


def _draw_small(outcome: Outcome) -> "Figure":
    from experiments.drawing.clusters import grid, legend_below

    figure, axes = grid(1, 2, 0.85)
    for ax, name, title in zip(axes[0], ("pca", "X"), ("PCA", "Probit PCA"), strict=True):
        _parties(ax, outcome.arrays[name], outcome.arrays["party"], SMALL)
        ax.set(xlabel="First dimension", ylabel="Second dimension", title=title)
    legend_below(axes[0, 0], 5)
    return figure


def _draw_uncertain(outcome: Outcome) -> "Figure":
    from experiments.drawing.canvas import panels
    from experiments.drawing.clusters import contour

    figure, ax = panels()
    X, least = outcome.arrays["X"], outcome.arrays["least"]
    ax.plot(X[:, 0], X[:, 1], ".", color="0.75", markersize=3)
    for place, covariance in zip(X[least], outcome.arrays["least_covariance"], strict=True):
        contour(ax, place, covariance, "C1", linewidth=1)
    ax.set(xlabel="Latent dimension 1", ylabel="Latent dimension 2")
    ax.set_title(f"The {len(least)} least certain MPs, one standard deviation")
    return figure


def _draw_divisions(outcome: Outcome) -> "Figure":
    from experiments.drawing.clusters import grid, spare

    X, votes = outcome.arrays["X"], outcome.arrays["chosen_votes"]
    n = votes.shape[1]
    columns = 2 if n > 1 else 1
    figure, axes = grid(-(-n // columns), columns, 0.75, sharex=True, sharey=True)
    cells = axes.ravel()
    reach = 1.1 * np.abs(X).max()
    for i, ax in enumerate(cells[:n]):
        for vote, symbol, colour, name in (
            (0, ".", "0.8", "absent"),
            (1, "o", "C0", "for"),
            (-1, "s", "C1", "against"),
        ):
            own = X[votes[:, i] == vote]
            ax.plot(*own.T, symbol, color=colour, markersize=3.5, label=name)
        w = outcome.arrays["w"][i]
        along = 3 * reach * np.array([-w[1], w[0]]) / np.linalg.norm(w)
        ax.plot(*np.stack([-along, along]).T, color="black", label="boundary")
        right = outcome.arrays["chosen_right"][i]
        ax.set(xlim=(-reach, reach), ylim=(-reach, reach))
        ax.set_title(f"Division {outcome.arrays['chosen'][i]}: {right:.0%} right")
    spare(cells[n:])
    for ax in axes[-1]:
        ax.set_xlabel("Latent dimension 1")
    for ax in axes[:, 0]:
        ax.set_ylabel("Latent dimension 2")
    handles, names = cells[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4)
    return figure
