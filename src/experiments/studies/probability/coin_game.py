"""Beliefs about a coin, toss by toss, and the bet they advise (FCML 3.1.2-3.3)."""

from dataclasses import dataclass
from itertools import combinations, permutations
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar, Table
from experiments.contract.study import Study, knob
from models.datasets import load
from models.probability import coin
from models.probability.coin import Beta
from models.types import Floats, Ints

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

_SHOWN = ("stages", "overlay", "path", "win", "tosses")
_UNIFORM = Beta(np.ones(1), np.ones(1))


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
        return [f"Beta({a:g}, {b:g})" for a, b in zip(self.alphas, self.betas, strict=True)]

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
        found = list(self._toss_problems())
        yield from found
        known = [] if found else self._counts()[0].tolist()
        if known and (self.stages != sorted(set(self.stages)) or not set(self.stages) <= {*known}):
            allowed = f"0 to {known[-1]}" if len(known) > 2 else f"0 and {known[-1]}"
            yield f"study.stages={self.stages}; allowed: ascending, from {allowed}"

    def _toss_problems(self) -> "Iterator[str]":
        if self.data is None:
            if self.heads is None or self.tosses is None or self.customers:
                yield "study.data=null needs study.heads and study.tosses, and no customers"
            elif self.heads > self.tosses:
                yield f"study.heads={self.heads}; allowed: at most study.tosses={self.tosses}"
            if {"path", "tosses"} & set(self.show):
                yield f"study.show={self.show} needs study.data: each toss, not only their count"
            return
        if self.heads is not None or self.tosses is not None:
            yield "study.heads and study.tosses are for study.data=null"
        columns = load(self.data).columns
        if not set(np.unique(list(columns.values())[-1])) <= {0.0, 1.0}:
            yield f"study.data={self.data} has no tosses: its last column is not 0 and 1"
        known = np.unique(columns.get("customer", np.array([]))).astype(int).tolist()
        if not set(self.customers) <= set(known):
            yield f"study.customers={self.customers}; allowed with {self.data}: {known}"

    def _tosses(self) -> list[Floats]:
        """The tosses of each customer, head = 1."""
        assert self.data is not None
        columns = load(self.data).columns
        head = list(columns.values())[-1]
        return [head[columns["customer"] == c] for c in self.customers] or [head]

    def _counts(self) -> tuple[Ints, Floats]:
        """Tosses N and heads y_N: from none on, toss by toss where the tosses are known."""
        if self.data is None:
            return np.array([0, self.tosses or 0]), np.array([0.0, self.heads or 0])
        head = np.concatenate(self._tosses())
        return np.arange(len(head) + 1), np.concatenate([[0.0], np.cumsum(head)])

    def run(self, rng: Generator) -> Outcome:
        steps, heads = self._counts()
        at = np.searchsorted(steps, self.stages)
        path = coin.update(self.prior, heads, steps)  # (P, T)
        belief = coin.update(self.prior, heads[at], steps[at])  # (P, S)
        found = self._reported(belief, heads[at], steps[at])
        metrics: dict[str, Scalar] = {
            f"{name}_{prior}_n_{n}": float(values[i, s])
            for name, values in found.items()
            for i, prior in enumerate(self.names)
            for s, n in enumerate(self.stages)
        }
        metrics |= {f"heads_n_{n}": int(heads[k]) for n, k in zip(self.stages, at, strict=True)}
        metrics |= self._comparisons(found)
        metrics |= self._checks(found, heads[at], steps[at], belief)
        arrays = self._curves(path, belief, at)
        if self.data is not None:
            customers = self._tosses()
            arrays["customer_ends"] = np.cumsum([len(tosses) for tosses in customers])
            for c, tosses in zip(self.customers, customers, strict=False):
                metrics[f"heads_customer_{c}"] = int(tosses.sum())
            metrics |= self._path_metrics(path, heads, steps)
        rows: Table = {
            "prior": [name for name in self.names for _ in at],
            "tosses": self.stages * len(self.names),
            "heads": heads[at].tolist() * len(self.names),
        }
        rows |= {name: values.ravel().tolist() for name, values in found.items()}
        along: Table = {"tosses": steps.tolist(), "heads": heads.tolist()}
        for name, m, v in zip(self.names, coin.mean(path), coin.variance(path), strict=True):
            along |= {f"mean_{name}": m.tolist(), f"variance_{name}": v.tolist()}
        return Outcome(metrics, tables={"beliefs": rows, "path": along}, arrays=arrays)

    def _reported(self, belief: Beta, heads: Floats, tosses: Ints) -> dict[str, Floats]:
        """What is known at each stage under each prior, all (P, S)."""
        bet = self.game_tosses, self.win_at_most
        mean = coin.mean(belief)
        win = coin.expected_win_probability(belief, *bet)
        plugin = coin.win_probability(mean, *bet)
        square = coin.expectation(lambda r: coin.win_probability(r, *bet) ** 2, belief)
        return {
            "posterior_alpha": belief.alpha,
            "posterior_beta": belief.beta,
            "mean": mean,
            "variance": coin.variance(belief),
            "mass_in_interval": coin.mass(belief, *self.interval),
            "mass_above_half": coin.mass(belief, 0.5, 1.0),
            "win": win,
            "lose": 1 - win,
            "plugin_win": plugin,
            "plugin_lose": 1 - plugin,
            "gap": np.abs(win - plugin),
            "profit": 2 * win - 1,
            "win_standard_deviation": np.sqrt(np.maximum(square - win**2, 0)),
            "evidence": np.exp(coin.log_beta_binomial(heads, tosses, self.prior)),
        }

    def _checks(
        self, found: dict[str, Floats], heads: Floats, tosses: Ints, belief: Beta
    ) -> dict[str, Scalar]:
        """The closed forms against quadrature, and equation 3.6 with its exponent as printed."""
        bet = self.game_tosses, self.win_at_most
        mean = coin.expectation(lambda r: r, belief)
        prior = Beta(*(np.broadcast_to(part, mean.shape) for part in self.prior))
        y, n = heads[:, None], tosses[:, None]
        by_quadrature = {
            "mean": mean,
            "variance": coin.expectation(lambda r: (r - mean[..., None]) ** 2, belief),
            "win": coin.expectation(lambda r: coin.win_probability(r, *bet), belief),
            "evidence": coin.expectation(lambda r: np.exp(coin.log_binomial(y, n, r)), prior),
        }
        area = coin.expectation(lambda r: 1 - r, belief)[:, -1]  # one factor of 1 - r too many
        checks: dict[str, Scalar] = {
            "quadrature_agrees": all(
                np.allclose(found[name], value, rtol=1e-9, atol=0)
                for name, value in by_quadrature.items()
            ),
            "equation_3_6_as_printed_is_a_density": bool(np.allclose(area, 1, rtol=0, atol=1e-6)),
        }
        r = np.linspace(0.01, 0.99, 99)
        for i, (name, alpha) in enumerate(zip(self.names, self.alphas, strict=True)):
            if self.betas[i] == 1:
                density = np.exp(coin.log_density(Beta(*(part[i] for part in self.prior)), r))
                same = np.allclose(density, alpha * r ** (alpha - 1), rtol=1e-9, atol=0)
                checks[f"prior_is_power_of_r_{name}"] = bool(same)
        return checks | {
            f"equation_3_6_area_{name}_n_{self.stages[-1]}": value
            for name, value in zip(self.names, area.tolist(), strict=True)
        }

    def _comparisons(self, found: dict[str, Floats]) -> dict[str, Scalar]:
        """Priors against each other, stages against each other."""
        mean, sd, gap = found["mean"], np.sqrt(found["variance"]), found["gap"]
        metrics: dict[str, Scalar] = {}
        for s, n in enumerate(self.stages):
            for (i, one), (j, other) in combinations(enumerate(self.names), 2):
                metrics[f"sd_apart_{one}_{other}_n_{n}"] = abs(mean[i, s] - mean[j, s]) / sd[i, s]
            for what, values in (("evidence", -found["evidence"]), ("variance", found["variance"])):
                order = np.argsort(values[:, s], kind="stable").tolist()
                metrics |= {f"{what}_rank_{self.names[i]}_n_{n}": k for k, i in enumerate(order, 1)}
            for i, name in enumerate(self.names):
                higher = found["plugin_win"][i, s] > found["win"][i, s]
                metrics[f"plugin_is_higher_{name}_n_{n}"] = bool(higher)
        for (i, one), (j, other) in permutations(enumerate(self.names), 2):
            metrics[f"gap_smaller_{one}_than_{other}"] = bool(gap[i, -1] < gap[j, -1])
        for i, name in enumerate(self.names):
            metrics[f"gap_falls_{name}"] = bool(np.all(np.diff(gap[i]) < 0))
        metrics["means_draw_together"] = bool(np.all(np.diff(np.ptp(mean, axis=0)) < 0))
        return metrics

    def _path_metrics(self, path: Beta, heads: Floats, steps: Ints) -> dict[str, Scalar]:
        """How mean and variance go along the tosses."""
        mean, variance = coin.mean(path), coin.variance(path)
        uniform = coin.update(_UNIFORM, heads, steps)
        free = np.ptp(coin.mean(uniform)), np.ptp(coin.variance(uniform))
        tail = np.diff(heads) == 0
        metrics: dict[str, Scalar] = {}
        for name, m, v in zip(self.names, mean, variance, strict=True):
            rises = np.diff(v) > 1e-12 * v[:-1]
            moves = np.ptp(m), np.ptp(v)
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

    def _curves(self, path: Beta, belief: Beta, at: Ints) -> dict[str, Floats]:
        """Densities over r, (P, 1, r) of the priors and (P, S, r) of the stages."""
        before = np.maximum(at - 1, 0)
        shown = {
            "prior_density": self.prior,
            "previous_density": Beta(path.alpha[:, before], path.beta[:, before]),
            "density": belief,
        }
        r = np.linspace(0, 1, 501)
        densities = {
            name: np.exp(coin.log_density(Beta(alpha[..., None], beta[..., None]), r))
            for name, (alpha, beta) in shown.items()
        }
        return {"r": r, **densities}

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing import coins as drawing

        draws = {
            "stages": self._draw_stages,
            "overlay": self._draw_overlay,
            "path": lambda found: drawing.path(found, self.names, self.labels),
            "win": lambda found: drawing.win(found, self.labels),
            "tosses": drawing.tosses,
        }
        return {name: draws[name](outcome) for name in self.show}

    def _draw_stages(self, outcome: Outcome) -> "Figure":
        """A panel a stage: every prior's posterior, or a single one with where it came from."""
        from experiments.drawing.coins import densities

        arrays, labels = outcome.arrays, self.labels
        curves = np.moveaxis(arrays["density"], 0, 1)  # (S, P, r)
        if len(labels) == 1:
            prior = np.broadcast_to(arrays["prior_density"], arrays["density"].shape)
            curves = np.stack([arrays["density"][0], prior[0], arrays["previous_density"][0]], 1)
            labels = ["posterior", f"prior {labels[0]}", "one toss earlier"]
        titles = [f"after {n} toss{'es' if n > 1 else ''}" if n else "prior" for n in self.stages]
        columns = min(len(titles), 3 if len(titles) > 4 else 2)
        return densities(arrays["r"], curves, titles, labels, columns)

    def _draw_overlay(self, outcome: Outcome) -> "Figure":
        """A panel a prior: the posteriors of all stages."""
        from experiments.drawing.coins import densities

        labels = [f"after {n} tosses" if n else "prior" for n in self.stages]
        columns = min(len(self.names), 3)
        titles = [f"prior {label}" for label in self.labels]
        return densities(outcome.arrays["r"], outcome.arrays["density"], titles, labels, columns)
