"""A probability as the share of random points that hit: darts, and pi (FCML 4.5.1, EX 4.4)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome
from experiments.contract.study import Study, knob
from models.sampling.monte_carlo import running_mean
from models.sampling.region import Game, double_twenty, quarter_circle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

_GAMES = ("double-20", "quarter-circle")


@dataclass
class HitProbability(Study):
    """The share of throws that hit, as throws are added (FCML 4.5.1, exercise 4.4)."""

    game: str = knob("double-20", "what is to be hit", choices=_GAMES)
    skills: list[float] = knob(
        [10.0, 30.0, 90.0],
        "standard deviations of a throw at double 20, mm",
        above=0,
        distinct=True,
    )
    times: float = knob(1.0, "the share is multiplied by this: 4 makes pi of a quarter", above=0)
    throws: int = knob(10_000, "throws of a sequence", at_least=10, at_most=1_000_000)
    sequences: int = knob(200, "independent sequences", at_least=20, at_most=10_000)
    look_at: list[int] = knob([100, 10_000], "sizes to report", at_least=1, distinct=True)

    def problems(self) -> "Iterator[str]":
        if max(self.look_at) > self.throws:
            yield f"study.look_at={self.look_at}; allowed: <= {self.throws}, the throws made"
        if self.throws * self.sequences > 10_000_000:
            yield "study.throws times study.sequences; allowed: <= 10000000"

    def games(self) -> dict[str, Game]:
        """What is played, by the name that metrics carry."""
        if self.game == "quarter-circle":
            return {"": quarter_circle()}
        return {f"_sd_{sd:g}": double_twenty(sd) for sd in self.skills}

    def run(self, rng: Generator) -> Outcome:
        sizes = np.unique(np.geomspace(1, self.throws, 60).round().astype(int))
        sizes = np.union1d(sizes, self.look_at)
        metrics: dict[str, Any] = {}
        arrays: dict[str, Any] = {"sizes": sizes}
        for name, game in self.games().items():
            y = game.throw((self.sequences, self.throws), rng)
            share = running_mean(game.hit(y).astype(np.float64))[:, sizes - 1]  # FCML 4.16
            exact = self.times * game.probability
            estimate = self.times * share
            rms = np.sqrt(np.mean((estimate - exact) ** 2, axis=0))
            sd = self.times * np.sqrt(game.probability * (1 - game.probability) / sizes)
            late = sizes * game.probability >= 10  # a rare hit needs many throws
            metrics |= {
                f"exact{name}": exact,
                f"rate_of_decay{name}": np.polyfit(np.log(sizes[late]), np.log(rms[late]), 1)[0],
                f"errors_as_theory{name}": bool(  # the rms of K errors is off by 1 / sqrt(2 K)
                    np.all(np.abs(rms / sd - 1)[late] < 4.5 / np.sqrt(2 * self.sequences))
                ),
            }
            arrays |= {f"one{name}": estimate[0], f"rms{name}": rms, f"sd{name}": sd}
            arrays[f"points{name}"] = y[0, :500]
            for S in self.look_at:
                at = estimate[:, sizes == S][:, 0]
                metrics[f"mean_estimate{name}_{S}"] = at.mean()
                metrics[f"rms_error{name}_{S}"] = rms[sizes == S][0]
                arrays[f"estimates{name}_{S}"] = at
        if self.game == "double-20":
            best_first = [metrics[f"exact_sd_{sd:g}"] for sd in sorted(self.skills)]
            metrics["skill_helps"] = bool(np.all(np.diff(best_first) < 0))
        return Outcome(metrics, arrays=arrays)

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        arrays, sizes = outcome.arrays, outcome.arrays["sizes"]
        figure, axes = panels(1, 2)
        for k, name in enumerate(self.games()):
            label = f"sd {name.rpartition('_')[2]} mm" if name else f"{self.times:g} × share"
            exact = outcome.metrics[f"exact{name}"]
            axes[0].plot(sizes, arrays[f"one{name}"], color=f"C{k % 8}", label=label)
            axes[0].axhline(exact, color=f"C{k % 8}", linestyle=":", linewidth=1.2)
            axes[1].plot(sizes, arrays[f"rms{name}"], "o", color=f"C{k % 8}", markersize=3)
            axes[1].plot(sizes, arrays[f"sd{name}"], "--", color=f"C{k % 8}", linewidth=1)
        axes[0].set(ylabel="estimate" if self.times != 1 else "share of throws that hit")
        axes[0].plot([], [], ":", color="black", label="exact")
        axes[1].set(ylabel="root mean square error", yscale="log")
        axes[1].plot([], [], "o", color="black", markersize=3, label=f"{self.sequences} sequences")
        axes[1].plot([], [], "--", color="black", linewidth=1, label="√(P (1 − P) / S)")
        for ax in axes:
            ax.set(xscale="log", xlabel="throws S")
            ax.legend()
        return {"convergence": figure}
