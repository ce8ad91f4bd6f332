"""A bet on a coin of known or estimated bias, and the likelihood of that bias (FCML 3.1)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar
from experiments.contract.study import Study, knob
from models.probability.coin import log_binomial, r_of_win_probability, win_probability
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

_SHOWN = ("heads", "likelihood")


@dataclass
class CoinBet(Study):
    """What a bet on the heads of a coin is worth, and what tosses say of the coin (FCML 3.1)."""

    r: float | None = knob(
        0.5, "probability of a head; null: most likely given the first count", at_least=0, at_most=1
    )
    heads: list[int] = knob([], "heads seen, in each of some counts", at_least=0, may_be_empty=True)
    tosses: list[int] = knob(
        [], "tosses of each count", at_least=1, at_most=100_000, may_be_empty=True
    )
    game_tosses: int = knob(10, "tosses in a game", at_least=1, at_most=1000)
    win_at_most: int = knob(6, "the game is won by this many heads or fewer", at_least=0)
    stake: float = knob(1.0, "cost of a game in pounds", at_least=0)
    payout: float = knob(2.0, "return of a game that is won, in pounds", at_least=0)
    games: int = knob(100, "games to play", at_least=1)
    compared_win: float | None = knob(
        None, "a winning probability to compare with; its r is found", above=0, below=1
    )
    negligible: float = knob(
        0.05, "share of its maximum below which a likelihood counts as zero", above=0, below=1
    )
    show: list[str] = knob(["heads"], "what to draw", choices=_SHOWN, distinct=True)

    def problems(self) -> "Iterator[str]":
        if len(self.heads) != len(self.tosses):
            yield f"study.heads={self.heads}, study.tosses={self.tosses}; allowed: equally many"
        elif any(y > n for y, n in zip(self.heads, self.tosses, strict=True)):
            yield f"study.heads={self.heads}; allowed: at most study.tosses={self.tosses}"
        if self.win_at_most >= self.game_tosses:
            yield f"study.win_at_most={self.win_at_most}; allowed: < {self.game_tosses} tosses"
        if not self.heads and (self.r is None or "likelihood" in self.show):
            yield "study.heads=[]; r=null and the likelihood need a count of heads"

    def run(self, rng: Generator) -> Outcome:
        r = self.heads[0] / self.tosses[0] if self.r is None else self.r  # the maximum of 3.2
        y = np.arange(self.game_tosses + 1)
        p = np.exp(log_binomial(y, self.game_tosses, r))
        win = float(win_probability(r, self.game_tosses, self.win_at_most))
        profit = self.payout * win - self.stake
        metrics: dict[str, Scalar] = {
            "r": r,
            "win_probability": win,
            "expected_return": self.payout * win,
            "profit_per_game": profit,
            f"profit_of_{self.games}_games": self.games * profit,
        }
        metrics |= {f"probability_of_{k}_heads": value for k, value in enumerate(p)}
        if self.compared_win is not None:
            known = r_of_win_probability(self.compared_win, self.game_tosses, self.win_at_most)
            metrics |= {
                "r_of_compared_win": known,
                "win_is_lower_than_compared": win < self.compared_win,
            }
        grid = np.linspace(0, 1, 4001)
        counts = np.array([self.heads, self.tosses], dtype=np.float64).T  # (counts, 2)
        likelihood = np.exp(log_binomial(counts[:, :1], counts[:, 1:], grid))
        metrics |= self._likelihoods(grid, likelihood)
        arrays = {"heads": y, "probability": p, "r": grid, "likelihood": likelihood}
        return Outcome(metrics, tables={"game": {"heads": y, "probability": p}}, arrays=arrays)

    def _likelihoods(self, grid: Floats, likelihood: Floats) -> dict[str, Scalar]:
        """Area, and the range of r in which each likelihood is not negligible."""
        metrics: dict[str, Scalar] = {}
        areas = np.asarray(np.trapezoid(likelihood, grid, axis=-1))
        for y, n, area, curve in zip(self.heads, self.tosses, areas, likelihood, strict=True):
            inside = grid[curve >= self.negligible * curve.max()]
            name = f"{y}_of_{n}"
            metrics |= {f"area_{name}": area, f"low_{name}": inside[0], f"high_{name}": inside[-1]}
        if len(areas):
            metrics["no_area_is_one"] = bool(np.all(np.abs(areas - 1) > 1e-6))
        return metrics

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        draws = {"heads": self._draw_heads, "likelihood": self._draw_likelihood}
        return {name: draws[name](outcome) for name in self.show}

    def _draw_heads(self, outcome: Outcome) -> "Figure":
        from experiments.drawing.canvas import panels

        y, p = outcome.arrays["heads"], outcome.arrays["probability"]
        won = y <= self.win_at_most
        figure, ax = panels()
        win = outcome.metrics["win_probability"]
        ax.bar(y[won], p[won], color="C0", label=f"game won, {win:.4f}")
        ax.bar(y[~won], p[~won], color="C1", hatch="//", label=f"game lost, {1 - win:.4f}")
        ax.set(
            xlabel=f"heads in {self.game_tosses} tosses",
            ylabel=f"probability for r = {outcome.metrics['r']:g}",
        )
        if len(y) <= 21:
            ax.set_xticks(y)
        figure.legend(loc="outside lower center", ncols=2)
        return figure

    def _draw_likelihood(self, outcome: Outcome) -> "Figure":
        from experiments.drawing.canvas import panels

        figure, ax = panels()
        curves = outcome.arrays["likelihood"]
        for k, (y, n) in enumerate(zip(self.heads, self.tosses, strict=True)):
            low, high = (outcome.metrics[f"{end}_{y}_of_{n}"] for end in ("low", "high"))
            (line,) = ax.plot(
                outcome.arrays["r"],
                curves[k],
                "-" if k % 2 == 0 else "--",
                label=f"{y} heads in {n} tosses; not negligible from {low:.2f} to {high:.2f}",
            )
            ax.fill_between(
                outcome.arrays["r"],
                curves[k],
                where=(outcome.arrays["r"] >= low) & (outcome.arrays["r"] <= high),
                color=line.get_color(),
                alpha=0.15,
                linewidth=0,
            )
        ax.set(xlabel="probability of a head, r", ylabel="likelihood of r", ylim=(0, None))
        figure.legend(loc="outside lower center")
        return figure
