"""Objects drawn from a mixture of Gaussians one by one, and soft against hard labels (FCML 6.3)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator
from scipy.special import xlogy

from experiments.contract.legacy import Outcome, Scalar
from experiments.contract.study import Study, knob

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure


@dataclass
class MixtureSample(Study):
    """Choose a component, then draw from it, again and again (FCML 6.3.1)."""

    weights: list[float] = knob([0.7, 0.3], "probabilities of the components", above=0, below=1)
    means: list[list[float]] = knob([[3.0, 3.0], [1.0, -3.0]], "their means")
    variances: list[list[float]] = knob([[1.0, 2.0], [2.0, 1.0]], "their variances, per variable")
    show: list[int] = knob([1, 5, 10, 50], "objects after which to draw", at_least=1, distinct=True)
    repetitions: int = knob(2000, "samples", at_least=1, at_most=100_000)

    def problems(self) -> "Iterator[str]":
        if abs(sum(self.weights) - 1) > 1e-9:
            yield f"study.weights={self.weights} sum to {sum(self.weights):g}; allowed: 1"
        for name, rows in (("means", self.means), ("variances", self.variances)):
            if len(rows) != len(self.weights) or any(len(row) != 2 for row in rows):
                yield f"study.{name}={rows}: each of {len(self.weights)} components needs 2 numbers"
        if any(value <= 0 for row in self.variances for value in row):
            yield f"study.variances={self.variances}; allowed: numbers > 0"

    def run(self, rng: Generator) -> Outcome:
        N = max(self.show)
        z = rng.choice(len(self.weights), size=(self.repetitions, N), p=self.weights)
        noise = rng.standard_normal((self.repetitions, N, 2))
        X = np.array(self.means)[z] + np.sqrt(np.array(self.variances)[z]) * noise
        first = z == 0
        counts = {n: first[:, :n].sum(axis=1) for n in sorted(self.show)}
        metrics: dict[str, Scalar] = {}
        for n, count in counts.items():
            metrics[f"mean_share_first_{n}"] = float(count.mean() / n)
            metrics[f"sd_share_first_{n}"] = float(count.std() / n)
        metrics["share_first_error"] = abs(float(first.mean()) - self.weights[0])
        for k in range(len(self.weights)):
            drawn = X[z == k]
            for d in range(2):
                metrics[f"mean_{k + 1}_{d + 1}"] = float(drawn[:, d].mean())
                metrics[f"variance_{k + 1}_{d + 1}"] = float(drawn[:, d].var())
        return Outcome(
            metrics,
            arrays={"X": X[0], "z": z[0], "first_component": z[:, 0] + 1}
            | {f"from_first_{n}": count for n, count in counts.items()},
        )

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.clusters import SYMBOLS, contour, grid

        X, z = outcome.arrays["X"], outcome.arrays["z"]
        figure, axes = grid(1, len(self.show), 1.25, sharex=True, sharey=True)
        for ax, n in zip(axes[0], sorted(self.show), strict=True):
            for k, (mean, variance) in enumerate(zip(self.means, self.variances, strict=True)):
                for scale in (1, 4):
                    contour(ax, np.array(mean), scale * np.diag(variance), "0.75", linewidth=1)
                ax.plot(*X[:n][z[:n] == k].T, SYMBOLS[k], color=f"C{k}", markersize=3.5)
            ax.plot(*X[n - 1], "o", color=f"C{z[n - 1]}", markersize=9, markeredgecolor="black")
            ax.set(title=f"{n} object{'s' * (n > 1)}", xlabel="$x_1$")
        axes[0, 0].set_ylabel("$x_2$")
        return {"sample": figure}


@dataclass
class HardLabels(Study):
    """What is lost when responsibilities become one label (FCML 6.3.4)."""

    responsibilities: list[float] = knob([0.53, 0.45, 0.02], "q_nk of an object", at_least=0)

    def problems(self) -> "Iterator[str]":
        if abs(sum(self.responsibilities) - 1) > 1e-9:
            yield f"study.responsibilities sum to {sum(self.responsibilities):g}; allowed: 1"

    def run(self, rng: Generator) -> Outcome:
        q = np.array(self.responsibilities)
        order = np.argsort(-q, kind="stable")
        metrics: dict[str, Scalar] = {
            "hard_label": int(order[0]) + 1,
            "runner_up": int(order[1]) + 1,
            "probability_lost": float(1 - q.max()),
            "entropy_bits": float(-xlogy(q, q).sum() / np.log(2)),
            "odds_against_runner_up": float(q[order[0]] / q[order[1]]),
        }
        return Outcome(metrics, arrays={"q": q})

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        q = outcome.arrays["q"]
        figure, ax = panels()
        places = np.arange(1, len(q) + 1)
        hard = (places == outcome.metrics["hard_label"]).astype(float)
        ax.bar(places - 0.2, q, 0.38, color="C0", label="responsibilities")
        ax.bar(places + 0.2, hard, 0.38, color="C1", label="hard assignment")
        ax.set(xlabel="Component", ylabel="Probability", xticks=places, ylim=(0, 1.05))
        ax.legend()
        return {"labels": figure}
