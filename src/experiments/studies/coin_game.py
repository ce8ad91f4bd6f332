"""Beliefs about a coin, toss by toss, and the bet they advise (FCML 3.1.2-3.3)."""

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from experiments.outcome import Scalar, Table
from experiments.studies._drawing import grid, whole_steps
from experiments.study import Outcome, Study, knob
from models import coin
from models.coin import Beta
from models.datasets import load
from models.types import Floats, Ints

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SHOWN = ("stages", "overlay", "path", "win", "tosses")
_UNIFORM = Beta(np.ones((1, 1)), np.ones((1, 1)))
_LINES = ("-", "--", "-.", ":")


@dataclass
class BetaPriors:
    """Knobs of one or several beta priors, and of the bet. A base for studies of the coin."""

    alphas: list[float] = knob([1.0], "first parameter of each prior (heads)", above=0)
    betas: list[float] = knob([1.0], "second parameter of each prior (tails)", above=0)
    game_tosses: int = knob(10, "tosses in a game", at_least=1, at_most=1000)
    win_at_most: int = knob(6, "the game is won by this many heads or fewer", at_least=0)

    def problems(self) -> "Iterator[str]":
        if len(self.alphas) != len(self.betas):
            yield f"study.alphas={self.alphas}, study.betas={self.betas}; allowed: equally many"
        elif len(set(self.names)) < len(self.names):
            yield f"study.alphas={self.alphas}, study.betas={self.betas} repeat a prior"
        if self.win_at_most >= self.game_tosses:
            yield f"study.win_at_most={self.win_at_most}; allowed: < {self.game_tosses} tosses"

    @property
    def names(self) -> list[str]:
        """The priors in the names of metrics: `prior_50_50`."""
        return [f"prior_{a:g}_{b:g}" for a, b in zip(self.alphas, self.betas, strict=True)]

    @property
    def labels(self) -> list[str]:
        """The priors in figures."""
        return [f"prior Beta({a:g}, {b:g})" for a, b in zip(self.alphas, self.betas, strict=True)]

    @property
    def prior(self) -> Beta:
        """All priors, parameters of shape (P, 1)."""
        return Beta(np.array(self.alphas)[:, None], np.array(self.betas)[:, None])


@dataclass
class CoinGame(BetaPriors, Study):
    """The posterior of a coin's bias as it is tossed, and the winning probability (FCML 3.3)."""

    data: str | None = knob(
        "coin-tosses", "the tosses, last column, head = 1; null: only their count", dataset=True
    )
    customers: list[int] = knob(
        [], "whose tosses, in this order; none: all of the data set", may_be_empty=True
    )
    heads: int | None = knob(None, "heads counted, where there are no data", at_least=0)
    tosses: int | None = knob(None, "tosses counted", at_least=1, at_most=1_000_000)
    stages: list[int] = knob([0], "tosses seen when beliefs are reported", at_least=0)
    interval: list[float] = knob([0.4, 0.6], "report the belief in this range of r")
    show: list[str] = knob(["stages"], "what to draw", choices=_SHOWN, distinct=True)

    def problems(self) -> "Iterator[str]":
        yield from super().problems()
        if len(self.interval) != 2 or not 0 <= self.interval[0] < self.interval[1] <= 1:
            yield f"study.interval={self.interval}; allowed: two numbers, 0 <= low < high <= 1"
        if self.data is None and (self.heads is None or self.tosses is None):
            yield "study.data=null needs study.heads and study.tosses"
        elif self.data is None and (self.heads or 0) > (self.tosses or 0):
            yield f"study.heads={self.heads}; allowed: at most study.tosses={self.tosses}"
        if self.data is not None:
            yield from self._data_problems(load(self.data).columns)
        known = self._counts()[0].tolist() if not (self.data is None and not self.tosses) else [0]
        if self.stages != sorted(set(self.stages)) or not set(self.stages) <= set(known):
            allowed = f"0 to {known[-1]}" if len(known) > 2 else f"0 and {known[-1]}"
            yield f"study.stages={self.stages}; allowed: ascending, from {allowed}"

    def _data_problems(self, columns: dict[str, Floats]) -> "Iterator[str]":
        if self.heads is not None or self.tosses is not None:
            yield "study.heads and study.tosses are for study.data=null"
        if not set(np.unique(list(columns.values())[-1])) <= {0.0, 1.0}:
            yield f"study.data={self.data} has no tosses: its last column is not 0 and 1"
        known = np.unique(columns.get("customer", np.array([])))
        if not set(self.customers) <= set(known):
            yield f"study.customers={self.customers}; allowed in {self.data}: {known.tolist()}"

    def _counts(self) -> tuple[Ints, Floats]:
        """Tosses N and heads y_N: from none on, toss by toss where the tosses are known."""
        if self.data is None:
            return np.array([0, self.tosses or 0]), np.array([0.0, self.heads or 0])
        columns = load(self.data).columns
        head = list(columns.values())[-1]
        if self.customers:
            head = np.concatenate([head[columns["customer"] == c] for c in self.customers])
        return np.arange(len(head) + 1), np.concatenate([[0.0], np.cumsum(head)])

    def run(self, rng: Generator) -> Outcome:
        steps, heads = self._counts()
        path = coin.update(self.prior, heads, steps)  # (P, T)
        mean, variance = coin.mean(path), coin.variance(path)
        at = np.searchsorted(steps, self.stages)
        belief = Beta(path.alpha[:, at], path.beta[:, at])  # (P, S)
        bet = self.game_tosses, self.win_at_most
        win = coin.expected_win_probability(belief, *bet)
        plugin = coin.win_probability(mean[:, at], *bet)
        second_moment = coin.expectation(lambda r: coin.win_probability(r, *bet) ** 2, belief)
        reported: dict[str, Floats] = {
            "posterior_alpha": belief.alpha,
            "posterior_beta": belief.beta,
            "mean": mean[:, at],
            "variance": variance[:, at],
            "mass_in_interval": coin.mass(belief, *self.interval),
            "mass_above_half": coin.mass(belief, 0.5, 1.0),
            "win": win,
            "lose": 1 - win,
            "plugin_win": plugin,
            "plugin_lose": 1 - plugin,
            "gap": np.abs(win - plugin),
            "profit": 2 * win - 1,
            "win_standard_deviation": np.sqrt(np.maximum(second_moment - win**2, 0)),
            "evidence": np.exp(coin.log_beta_binomial(heads[at], steps[at], self.prior)),
            "equation_3_6_area": coin.expectation(lambda r: 1 - r, belief),
        }
        rows: dict[str, list[Any]] = {"prior": np.repeat(self.names, len(at)).tolist()}
        rows |= {"tosses": self.stages * len(self.names), "heads": heads[at].tolist() * len(mean)}
        rows |= {name: values.ravel().tolist() for name, values in reported.items()}
        metrics: dict[str, Scalar] = {
            f"{name}_{prior}_n_{n}": float(values[i, s])
            for name, values in reported.items()
            for i, prior in enumerate(self.names)
            for s, n in enumerate(self.stages)
        }
        metrics |= {f"heads_n_{n}": int(heads[k]) for n, k in zip(self.stages, at, strict=True)}
        metrics |= self._heads_by_customer() | self._comparisons(reported)
        metrics |= self._path_metrics(steps, heads, mean, variance)
        metrics["quadrature_agrees"] = self._quadrature_agrees(reported, heads[at], belief)
        metrics["equation_3_6_as_printed_is_a_density"] = bool(
            np.allclose(reported["equation_3_6_area"], 1, rtol=0, atol=1e-6)
        )
        path_table: Table = {"tosses": steps.tolist(), "heads": heads.tolist()}
        path_table |= {f"mean_{name}": m.tolist() for name, m in zip(self.names, mean, strict=True)}
        path_table |= {
            f"variance_{name}": v.tolist() for name, v in zip(self.names, variance, strict=True)
        }
        r = np.linspace(0, 1, 501)
        before = np.maximum(at - 1, 0)
        curves = {
            "prior_density": self._curve(self.prior, r),
            "density": self._curve(belief, r),
            "previous_density": self._curve(Beta(path.alpha[:, before], path.beta[:, before]), r),
        }
        tables = {"beliefs": rows, "path": path_table}
        return Outcome(metrics, tables=tables, arrays={"r": r, **curves})

    def _curve(self, belief: Beta, r: Floats) -> Floats:
        """Densities (P, S, r)."""
        spread = Beta(belief.alpha[..., None], belief.beta[..., None])
        return np.exp(coin.log_density(spread, r))

    def _heads_by_customer(self) -> dict[str, Scalar]:
        if self.data is None or not self.customers:
            return {}
        columns = load(self.data).columns
        counts = {c: columns["head"][columns["customer"] == c].sum() for c in self.customers}
        return {f"heads_customer_{c}": int(count) for c, count in counts.items()}

    def _quadrature_agrees(self, reported: dict[str, Floats], heads: Floats, belief: Beta) -> bool:
        """Are the closed forms what integrating the densities gives?"""
        bet, n = (self.game_tosses, self.win_at_most), np.array(self.stages)
        mean = coin.expectation(lambda r: r, belief)
        centred = coin.expectation(lambda r: (r - mean[..., None]) ** 2, belief)
        win = coin.expectation(lambda r: coin.win_probability(r, *bet), belief)
        prior = Beta(*(np.broadcast_to(part, mean.shape) for part in self.prior))
        likelihood = coin.expectation(
            lambda r: np.exp(coin.log_binomial(heads[:, None], n[:, None], r)), prior
        )
        pairs = {"mean": mean, "variance": centred, "win": win, "evidence": likelihood}
        return all(
            np.allclose(reported[name], value, rtol=1e-9, atol=0) for name, value in pairs.items()
        )

    def _comparisons(self, reported: dict[str, Floats]) -> dict[str, Scalar]:
        """Priors against each other: how far apart, which explains the tosses best."""
        mean, sd = reported["mean"], np.sqrt(reported["variance"])
        metrics: dict[str, Scalar] = {}
        pairs = list(combinations(range(len(self.names)), 2))
        for s, n in enumerate(self.stages):
            for i, j in pairs:
                apart = abs(mean[i, s] - mean[j, s]) / sd[i, s]
                metrics[f"sd_apart_{self.names[i]}_{self.names[j]}_n_{n}"] = apart
            order = np.argsort(-reported["evidence"][:, s], kind="stable")
            metrics |= {
                f"evidence_rank_{self.names[i]}_n_{n}": k for k, i in enumerate(order.tolist(), 1)
            }
        if pairs and len(self.stages) > 1:
            spread = np.ptp(mean, axis=0)
            metrics["means_draw_together"] = bool(np.all(np.diff(spread) < 0))
        for i, name in enumerate(self.names):
            gap = reported["gap"][i]
            metrics[f"gap_falls_{name}"] = bool(np.all(np.diff(gap) < 0))
            metrics[f"plugin_is_higher_{name}_n_{self.stages[0]}"] = bool(
                reported["plugin_win"][i, 0] > reported["win"][i, 0]
            )
            for j, other in enumerate(self.names):
                if i != j:
                    smaller = gap[-1] < reported["gap"][j, -1]
                    metrics[f"gap_smaller_{name}_than_{other}"] = bool(smaller)
        return metrics

    def _path_metrics(
        self, steps: Ints, heads: Floats, mean: Floats, variance: Floats
    ) -> dict[str, Scalar]:
        """How mean and variance go along the tosses."""
        if self.data is None:
            return {}
        reference = coin.update(_UNIFORM, heads, steps)
        free = np.ptp(coin.mean(reference)), np.ptp(coin.variance(reference))
        tail = np.diff(heads) == 0
        metrics: dict[str, Scalar] = {}
        for i, name in enumerate(self.names):
            rises = np.diff(variance[i]) > 1e-12 * variance[i, :-1]
            moves = np.ptp(mean[i]), np.ptp(variance[i])
            metrics |= {
                f"mean_moves_{name}": float(moves[0]),
                f"variance_moves_{name}": float(moves[1]),
                f"moves_less_than_uniform_{name}": bool(moves[0] < free[0] and moves[1] < free[1]),
                f"variance_rises_{name}": int(rises.sum()),
                f"variance_rises_at_every_tail_{name}": bool(np.all(rises[tail])),
                f"variance_rises_only_at_tails_{name}": bool(not np.any(rises[~tail])),
            }
            if rises.any():
                metrics[f"variance_first_rise_{name}"] = int(steps[1:][rises][0])
        return metrics

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        draws = {
            "stages": self._draw_stages,
            "overlay": self._draw_overlay,
            "path": self._draw_path,
            "win": self._draw_win,
            "tosses": self._draw_tosses,
        }
        return {name: draws[name](outcome) for name in self.show}

    def _draw_stages(self, outcome: Outcome) -> "Figure":
        """A panel a stage: all priors; a single one with where it came from."""
        arrays, many = outcome.arrays, len(self.stages)
        columns = min(many, 3 if many > 4 else 2)
        figure, axes = grid(-(-many // columns), columns, 0.75, sharex=True)
        for s, ax in enumerate(axes.flat):
            if s >= many:
                ax.set_axis_off()
                continue
            n = self.stages[s]
            if len(self.names) == 1:
                if n > 1:
                    look = {"linestyle": "-.", "color": "C1", "linewidth": 1.2}
                    ax.plot(arrays["r"], arrays["previous_density"][0, s], **look)
                if n > 0:
                    ax.plot(arrays["r"], arrays["prior_density"][0, 0], "--", color="0.45")
                ax.plot(arrays["r"], arrays["density"][0, s], color="C0")
            else:
                for i in range(len(self.names)):
                    ax.plot(arrays["r"], arrays["density"][i, s], _LINES[i % 4], color=f"C{i}")
            ax.set(title=f"{n} tosses" if n else "before any toss", ylim=(0, None))
            ax.set(xlabel="r" if s >= many - columns else "", xlim=(0, 1))
        for row in axes:
            row[0].set_ylabel("density of r")
        ax = axes.flat[0]
        if len(self.names) == 1:
            ax.plot([], [], color="C0", label="posterior")
            if max(self.stages) > 1:
                ax.plot([], [], "-.", color="C1", linewidth=1.2, label="one toss earlier")
            ax.plot([], [], "--", color="0.45", label=self.labels[0])
        else:
            for i, label in enumerate(self.labels):
                ax.plot([], [], _LINES[i % 4], color=f"C{i}", label=label)
        figure.legend(loc="outside lower center", ncols=3)
        return figure

    def _draw_overlay(self, outcome: Outcome) -> "Figure":
        """A panel a prior: all stages."""
        arrays, many = outcome.arrays, len(self.names)
        columns = min(many, 2)
        figure, axes = grid(-(-many // columns), columns, 0.65, sharex=True)
        for i, ax in enumerate(axes.flat):
            if i >= many:
                ax.set_axis_off()
                continue
            for s, n in enumerate(self.stages):
                label = f"{n} tosses" if n else self.labels[i]
                ax.plot(arrays["r"], arrays["density"][i, s], _LINES[s % 4], label=label)
            ax.set(xlabel="r", ylabel="density of r", xlim=(0, 1), ylim=(0, None))
            if many > 1:
                ax.set_title(self.labels[i])
        handles = axes.flat[0].get_legend_handles_labels()
        figure.legend(*handles, loc="outside lower center", ncols=4)
        return figure

    def _draw_path(self, outcome: Outcome) -> "Figure":
        from experiments.plotting import panels

        table = outcome.tables["path"]
        steps, tail = np.array(table["tosses"]), np.diff(table["heads"]) == 0
        mark = len(steps) <= 40  # the tails among the tosses, while they can be told apart
        figure, axes = panels(1, 2)
        for ax, what in zip(axes, ("mean", "variance"), strict=True):
            for i, name in enumerate(self.names):
                values = np.array(table[f"{what}_{name}"])
                ax.plot(steps, values, _LINES[i % 4], color=f"C{i}", label=self.labels[i])
                if mark:
                    ax.plot(steps[1:][~tail], values[1:][~tail], "o", color=f"C{i}")
                    ax.plot(steps[1:][tail], values[1:][tail], "v", color="C1", markersize=6.5)
            ax.set(xlabel="tosses", ylabel=f"{what} of r")
            whole_steps(ax)
        if mark:
            axes[0].plot([], [], "o", color="0.4", label="after a head")
            axes[0].plot([], [], "v", color="C1", markersize=6.5, label="after a tail")
        handles = axes[0].get_legend_handles_labels()
        figure.legend(*handles, loc="outside lower center", ncols=3)
        return figure

    def _draw_win(self, outcome: Outcome) -> "Figure":
        from experiments.plotting import panels

        rows = outcome.tables["beliefs"]
        place = np.arange(len(rows["win"]))
        figure, ax = panels()
        for k, (column, label) in enumerate(
            (("win", "averaged over the posterior"), ("plugin_win", "at the posterior mean"))
        ):
            style: dict[str, Any] = {"color": f"C{k}", "hatch": "//" * k, "label": label}
            bars = ax.bar(place + 0.4 * k - 0.2, rows[column], width=0.38, **style)
            ax.bar_label(bars, fmt="%.4f", fontsize=8, padding=1)
        ax.axhline(0.5, color="black", linewidth=1, linestyle=":")
        names = [label for label in self.labels for _ in self.stages]
        ticks = [
            f"{name.removeprefix('prior ')}\n{y:g} heads in {n}"
            for name, n, y in zip(names, rows["tosses"], rows["heads"], strict=True)
        ]
        ax.set_xticks(place, ticks)
        ax.set(
            ylabel="probability of winning", ylim=(0, max(rows["win"] + rows["plugin_win"]) + 0.1)
        )
        figure.legend(loc="outside lower center", ncols=2)
        return figure

    def _draw_tosses(self, outcome: Outcome) -> "Figure":
        from experiments.plotting import panels

        table = outcome.tables["path"]
        steps, heads = np.array(table["tosses"]), np.array(table["heads"])
        figure, ax = panels()
        self._mark_tosses(ax, steps, heads)
        ax.set(xlabel="tosses", ylabel="heads so far", ylim=(0, None))
        whole_steps(ax)
        ax.legend(loc="upper left")
        return figure

    def _mark_tosses(self, ax: "Axes", steps: Ints, heads: Floats) -> None:
        tail = np.diff(heads) == 0
        ax.step(steps, heads, where="post", color="0.6", linewidth=1)
        ax.plot(steps[1:][~tail], heads[1:][~tail], "o", color="C0", label="head")
        ax.plot(steps[1:][tail], heads[1:][tail], "v", color="C1", label="tail")
        if self.customers and self.data is not None:
            columns = load(self.data).columns
            ends = np.cumsum([np.sum(columns["customer"] == c) for c in self.customers])
            for end in ends[:-1]:
                ax.axvline(end + 0.5, color="black", linewidth=1, linestyle=":")
