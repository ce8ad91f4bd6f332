"""Committees: what averaging many models gains, and when (PRML 14.2)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar, Series, Table
from experiments.contract.study import Study, knob
from experiments.studies.regression.curve_data import SyntheticCurve
from models.regression.bias_variance import (
    bootstrap_predictions,
    committee_errors,
    committee_ratio,
    correlated_errors,
    ridge_predictions,
)
from models.regression.curves import DESIGNS
from models.types import Bools, Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure


_GROUPS = 20  # committees whose members have data sets of their own


@dataclass
class Bagging(SyntheticCurve, Study):
    """Committees of polynomials fitted to bootstrap data sets, and to data sets of their own."""

    n: int = knob(25, "points in a data set", at_least=2)
    design: str = knob("uniform", "inputs equally spaced or drawn uniformly", choices=DESIGNS)
    orders: list[int] = knob(
        [1, 3, 5, 9], "orders of the polynomials", at_least=0, at_most=20, distinct=True
    )
    members: list[int] = knob(
        [1, 5, 20, 100], "sizes of the committee", at_least=1, at_most=1000, distinct=True
    )
    penalty: float = knob(
        1e-6,
        "on the squared weights of 1, x, x^2, ...: a bootstrap set may leave some free",
        above=0,
    )
    repetitions: int = knob(100, "data sets, each with its committee", at_least=2, at_most=10_000)

    def run(self, rng: Generator) -> Outcome:
        x, t = self.sample(rng, self.repetitions)
        grid, sizes = self.grid(101), sorted(self.members)
        x_own, t_own = self.sample(rng, _GROUPS * sizes[-1])  # a data set for every member
        h = self.truth(grid)
        columns = ("order", "members", "average", "committee", "gain", "single", "independent")
        table: Table = {name: [] for name in columns}
        metrics: dict[str, Scalar] = {}
        never_worse, arrays = True, {"grid": grid, "truth": h, "x": x[0], "t": t[0]}
        for order in sorted(self.orders):
            Phi, Phi_grid = self._design(x, order), self._design(grid, order)
            y = bootstrap_predictions(Phi, t, Phi_grid, sizes[-1], rng, self.penalty)
            alone = ridge_predictions(Phi, t, Phi_grid, self.penalty)[0]  # (repetitions, grid)
            single = np.mean((alone - h) ** 2, axis=-1)
            own = ridge_predictions(self._design(x_own, order), t_own, Phi_grid, self.penalty)[0]
            own = own.reshape(_GROUPS, sizes[-1], len(grid))
            for size in sizes:
                found = committee_errors(y[:, :size], h)
                # E_AV - E_COM is a variance: a negative one is at most rounding.
                never_worse &= bool(np.all(found.committee <= found.average * (1 + 1e-12)))
                independent = np.median(committee_errors(own[:, :size], h).committee)
                row: tuple[Any, ...] = (order, size)
                row += (np.median(found.average), np.median(found.committee))
                gain = np.median(found.average / found.committee)
                row += (gain, np.median(single), independent)
                for name, value in zip(columns, row, strict=True):
                    table[name].append(value)
            metrics |= {f"{name}_order_{order}": table[name][-1] for name in columns[2:]}
            metrics[f"correlation_order_{order}"] = _correlation(
                found.committee / found.average, size
            )
            arrays |= {f"members_order_{order}": y[0, :20], f"mean_order_{order}": y[0].mean(0)}
        metrics |= self._statements(metrics) | {"committee_never_worse": never_worse}
        last = [i for i, size in enumerate(table["members"]) if size == sizes[-1]]
        series = {"gain": Series(sorted(self.orders), [table["gain"][i] for i in last])}
        return Outcome(metrics, series, {"errors": table}, arrays)

    def _design(self, x: Floats, order: int) -> Floats:
        return np.asarray(x[..., np.newaxis] ** np.arange(order + 1))

    def _statements(self, found: dict[str, Scalar]) -> dict[str, Scalar]:
        orders, M = sorted(self.orders), max(self.members)
        low, high = orders[0], orders[-1]
        gains = [float(found[f"gain_order_{order}"]) for order in orders]
        ratios = [
            float(found[f"committee_order_{k}"]) / float(found[f"single_order_{k}"]) for k in orders
        ]
        own = {k: float(found[f"independent_order_{k}"]) for k in (low, high)}
        return {
            "largest_gain": max(gains),
            "largest_gain_over_members": max(gains) / M,
            "smallest_committee_over_single": min(ratios),
            "independent_gain_of_flexible": float(found[f"single_order_{high}"]) / own[high],
            "flexible_independent_committee_beats_rigid": own[high] < own[low],
        }

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        table = {name: np.array(values) for name, values in outcome.tables["errors"].items()}
        figure, axes = panels(
            -(-len(self.orders) // 2), min(2, len(self.orders)), squeeze=False, sharey=True
        )
        for ax, order in zip(axes.flat, sorted(self.orders), strict=False):
            rows = table["order"] == order
            for i, (name, label) in enumerate(
                (
                    ("average", "members on average"),
                    ("committee", "bootstrap committee"),
                    ("independent", "members with own data sets"),
                )
            ):
                ax.plot(table["members"][rows], table[name][rows], marker="os^"[i], label=label)
            ax.axhline(
                table["single"][rows][0],
                color="black",
                linewidth=1,
                linestyle=":",
                label="one fit to all data",
            )
            ax.set(xlabel="members", xscale="log", yscale="log", title=f"order {order}")
        figure.supylabel("squared error about the true curve", fontsize="medium")
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2)
        return {"errors": figure, "fits": self._draw_fits(outcome)}

    def _draw_fits(self, outcome: Outcome) -> "Figure":
        from experiments.drawing.canvas import panels

        arrays = outcome.arrays
        figure, axes = panels(
            -(-len(self.orders) // 2), min(2, len(self.orders)), squeeze=False, sharey=True
        )
        for ax, order in zip(axes.flat, sorted(self.orders), strict=False):
            members = arrays[f"members_order_{order}"]
            ax.plot(arrays["grid"], members.T, "-", color="C4", linewidth=0.6, alpha=0.6)
            ax.plot([], [], "-", color="C4", linewidth=0.6, label=f"{len(members)} members")
            ax.plot(arrays["x"], arrays["t"], "o", color="0.4", markersize=3, label="data")
            ax.plot(arrays["grid"], arrays["truth"], "-", color="C2", label="true curve")
            mean = arrays[f"mean_order_{order}"]
            ax.plot(arrays["grid"], mean, "--", color="C1", label="committee")
            ax.set(xlabel="x", title=f"order {order}")
        spread = np.ptp(arrays["truth"])
        low, high = arrays["truth"].min(), arrays["truth"].max()
        axes[0, 0].set_ylim(low - 0.5 * spread, high + 0.5 * spread)
        for row in axes:
            row[0].set_ylabel("t")
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4)
        return figure


def _correlation(ratio: Floats, members: int) -> float:
    """The correlation of the members' errors that would give this E_COM / E_AV."""
    return float((np.median(ratio) * members - 1) / (members - 1)) if members > 1 else 1.0


_LOSSES: dict[str, Callable[[Floats], Floats]] = {  # convex in the error
    "square": np.square,
    "absolute": np.abs,
    "fourth_power": lambda e: e**4,
    "exponential": np.exp,
}


@dataclass
class CommitteeError(Study):
    """The error of a committee against that of its members, by correlation (PRML 14.8-14.14)."""

    members: list[int] = knob(
        [1, 2, 5, 10, 50], "sizes of the committee", at_least=1, distinct=True
    )
    correlations: list[float] = knob(
        [0.0, 0.2, 0.5, 0.9], "of two members' errors", at_least=0, at_most=1, distinct=True
    )
    points: int = knob(100_000, "inputs to average over", at_least=100, at_most=1_000_000)

    def problems(self) -> "Iterator[str]":
        if max(self.members) >= self.points:
            yield f"study.members={self.members}; allowed: < study.points={self.points}"

    def run(self, rng: Generator) -> Outcome:
        table: Table = {"correlation": [], "members": [], "ratio": [], "expected": [], "z": []}
        zero = np.zeros(self.points)
        for rho in self.correlations:
            for M in sorted(self.members):
                errors = correlated_errors(rho, M, self.points, rng)
                found = committee_errors(errors, zero)
                ratio, expected = found.committee / found.average, committee_ratio(rho, M)
                # Mean squares of Gaussians: relative variance 2 / points above, no more below.
                z = (ratio / expected - 1) / np.sqrt(4 / self.points)
                for name, value in zip(table, (rho, M, ratio, expected, z), strict=True):
                    table[name].append(float(value) if name != "members" else M)
        metrics: dict[str, Scalar] = {
            f"gain_{M}_members_correlation_{rho:g}": 1 / ratio
            for rho, M, ratio in zip(
                table["correlation"], table["members"], table["ratio"], strict=True
            )
        }
        exact = [_uncorrelated_gap(M, self.points, rng) for M in self.members]
        metrics |= {
            "uncorrelated_gap": max(exact),
            "division_by_members_holds": max(exact) < 1e-12,
            "largest_z": max(map(abs, table["z"])),
            "simulation_agrees": max(map(abs, table["z"])) < 4,
        }
        metrics |= _convex_losses(max(self.members), rng) | _weighted_committees(rng)
        series = {
            f"ratio_correlation_{rho:g}": Series(
                sorted(self.members),
                [r for r, c in zip(table["ratio"], table["correlation"], strict=True) if c == rho],
            )
            for rho in self.correlations
        }
        return Outcome(metrics, series, {"ratios": table})

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        figure, ax = panels()
        for i, rho in enumerate(self.correlations):
            members, ratio = outcome.series[f"ratio_correlation_{rho:g}"]
            expected = [committee_ratio(rho, m) for m in members]
            ax.plot(members, expected, "-", color=f"C{i}")
            ax.plot(members, ratio, "os^Dv<>p"[i % 8], color=f"C{i}", label=rf"$\rho$ = {rho:g}")
        ax.plot([], [], "-", color="0.4", label=r"$\rho + (1 - \rho) / M$")
        ax.set(xlabel="members M", ylabel=r"$E_{COM}\, /\, E_{AV}$", xscale="log", yscale="log")
        ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
        return {"ratio": figure}


def _uncorrelated_gap(members: int, points: int, rng: Generator) -> float:
    """(14.14) for errors whose means and products vanish exactly, relative gap."""
    v = rng.standard_normal((points, members))
    Q, _ = np.linalg.qr(np.column_stack([np.ones(points), v]))  # (14.12), (14.13)
    found = committee_errors(Q[:, 1:].T * rng.uniform(0.5, 2, (members, 1)), np.zeros(points))
    return abs(float(found.committee * members / found.average) - 1)


def _convex_losses(members: int, rng: Generator) -> dict[str, Scalar]:
    """1000 committees with skewed errors, under convex losses and one that is not convex."""
    errors = rng.gamma(1.0, size=(1000, max(members, 2), 20)) - rng.uniform(0, 2, (1000, 1, 1))
    mean = errors.mean(1)
    held = {
        name: bool(np.all(loss(mean).mean(-1) <= loss(errors).mean((1, 2)) * (1 + 1e-12)))
        for name, loss in _LOSSES.items()
    }
    root = np.sqrt(np.abs(mean)).mean(-1) <= np.sqrt(np.abs(errors)).mean((1, 2))
    metrics: dict[str, Scalar] = {f"never_worse_{name}": value for name, value in held.items()}
    return metrics | {
        "never_worse_any_convex": all(held.values()),
        "never_worse_root": bool(np.all(root)),  # not convex
    }


def _weighted_committees(rng: Generator, trials: int = 2000, members: int = 4) -> dict[str, Scalar]:
    """Ex. 14.5: weighted means stay between the members' extremes if and only if (14.57)."""
    convex = rng.dirichlet(np.ones(members), trials)
    stay = _between(convex, rng.standard_normal((trials, members)))
    # A third sums to anything, a third to one with any signs, a third obeys the rule.
    weights = rng.normal(1 / members, 0.5, (trials, members))
    weights[trials // 3 :] /= weights[trials // 3 :].sum(-1, keepdims=True)
    weights[2 * trials // 3 :] = convex[2 * trials // 3 :]
    obeys = np.all(weights >= 0, axis=-1) & (np.abs(weights.sum(-1) - 1) < 1e-9)
    # Two sets of predictions that find out: all 1, and 1 at the least weight and 0 elsewhere.
    least = (weights == weights.min(-1, keepdims=True)).astype(np.float64)
    held = _between(weights, np.ones((trials, members))) & _between(weights, least)
    return {
        "convex_weights_stay_inside": bool(np.all(stay)),
        "weights_stay_inside_only_if_convex": bool(np.array_equal(held, obeys)),
    }


def _between(weights: Floats, y: Floats) -> Bools:
    """Is y_min <= y_COM <= y_max (14.56), up to rounding?"""
    mean = np.sum(weights * y, axis=-1)
    return np.asarray((y.min(-1) - 1e-9 <= mean) & (mean <= y.max(-1) + 1e-9))
