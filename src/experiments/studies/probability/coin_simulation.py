"""Coin beliefs over many simulated sets of tosses (FCML Exercise 3.8)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar, Table
from experiments.contract.study import Study, knob
from experiments.studies.probability.coin_game import BetaPriors
from models.probability import coin

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass
class CoinSimulation(BetaPriors, Study):
    """Posteriors, winning probabilities and evidences of simulated tosses (FCML Exercise 3.8)."""

    alphas: list[float] = knob([1.0, 50.0, 5.0], "first parameter of each prior (heads)", above=0)
    betas: list[float] = knob([1.0, 50.0, 1.0], "second parameter of each prior (tails)", above=0)
    r: float = knob(0.7, "the coin's probability of a head", above=0, below=1)
    tosses: int = knob(100, "tosses in a set", at_least=1, at_most=10_000)
    repetitions: int = knob(10_000, "sets of tosses", at_least=100, at_most=1_000_000)

    def run(self, rng: Generator) -> Outcome:
        y = np.arange(self.tosses + 1)  # all the sets there are: only the number of heads matters
        chance = np.exp(coin.log_binomial(y, self.tosses, self.r))
        belief = coin.update(self.prior, y, self.tosses)  # (P, N + 1)
        found = {
            "mean": coin.mean(belief),
            "win": coin.expected_win_probability(belief, self.game_tosses, self.win_at_most),
            "evidence": np.exp(coin.log_beta_binomial(y, self.tosses, self.prior)),
        }
        best = np.argmax(found["evidence"], axis=0)
        heads = rng.binomial(self.tosses, self.r, self.repetitions)
        metrics: dict[str, Scalar] = {
            "true_win": float(coin.win_probability(self.r, self.game_tosses, self.win_at_most))
        }
        arrays = {"y": y, "chance": chance, "heads": heads}
        arrays |= {f"{what}_by_heads": values for what, values in found.items()}
        agrees = True
        for i, name in enumerate(self.names):
            for what, values in found.items():
                exact, draws = float(values[i] @ chance), values[i][heads]
                error = np.sqrt((values[i] - exact) ** 2 @ chance / self.repetitions)
                agrees &= bool(abs(draws.mean() - exact) <= 4 * error + 1e-12)
                metrics |= {f"{what}_{name}": exact, f"simulated_{what}_{name}": draws.mean()}
                arrays[f"{what}_draws_{name}"] = draws
            metrics[f"share_best_{name}"] = float((best == i) @ chance)
            metrics[f"evidence_range_{name}"] = float(np.ptp(found["evidence"][i]))
            bias = found["win"][i] @ chance - metrics["true_win"]
            metrics[f"win_bias_{name}"] = float(bias)
        metrics["simulation_agrees"] = agrees
        table: Table = {"prior": self.names}
        for what in (*found, "share_best"):
            table[what] = [metrics[f"{what}_{name}"] for name in self.names]
        return Outcome(metrics, tables={"averages": table}, arrays=arrays)

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        arrays = outcome.arrays
        count = np.bincount(arrays["heads"], minlength=self.tosses + 1)
        seen = count > 0
        figure, axes = panels(1, 3)
        axes[0].bar(arrays["y"][seen], count[seen] / count.sum(), color="0.7", label="simulated")
        axes[0].plot(arrays["y"][seen], arrays["chance"][seen], "k.", label="binomial")
        axes[0].set(ylabel="share of the sets")
        axes[0].legend(loc="upper left", handlelength=1)
        looks = ("-", "--", "-.", ":")
        for ax, what in zip(axes[1:], ("win", "evidence"), strict=True):
            for i, label in enumerate(self.labels):
                curve = arrays[f"{what}_by_heads"][i][seen]
                name = f"prior {label}" if what == "win" else None
                ax.plot(arrays["y"][seen], curve, looks[i % 4], color=f"C{i}", label=name)
        axes[1].axhline(outcome.metrics["true_win"], color="black", linewidth=1)
        axes[1].set(ylabel="probability of winning\n(line: with the true coin)", ylim=(0, 1))
        axes[2].set(ylabel="marginal likelihood", ylim=(0, None))
        for ax in axes:
            ax.set(xlabel=f"heads in {self.tosses} tosses")
        figure.legend(
            *axes[1].get_legend_handles_labels(), loc="outside lower center", ncols=len(self.names)
        )
        return {"simulation": figure}
