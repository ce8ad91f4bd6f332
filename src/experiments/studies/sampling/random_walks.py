"""Gaussian random walks, the proposals of Metropolis-Hastings (FCML 4.5.2)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome
from experiments.contract.study import Study, knob
from experiments.drawing.clusters import SYMBOLS
from models.sampling.metropolis import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure


@dataclass
class RandomWalks(Study):
    """Walks in the plane whose steps have different variances (FCML 4.5.2)."""

    starts: list[list[float]] = knob([[0.0, 0.0], [2.0, 2.0]], "where each walk begins")
    variances: list[float] = knob([1.0, 0.1], "variance of its steps in each direction", above=0)
    samples: int = knob(10, "positions of a walk, the start included", at_least=2, at_most=10_000)
    repetitions: int = knob(1000, "walks of each kind", at_least=2, at_most=100_000)

    def problems(self) -> "Iterator[str]":
        if len(self.starts) != len(self.variances):
            yield f"study.starts={self.starts}, study.variances={self.variances}: as many of each"
        if any(len(start) != 2 for start in self.starts):
            yield f"study.starts={self.starts}; allowed: points in the plane"
        if self.samples * self.repetitions * len(self.starts) > 5_000_000:
            yield "study.samples times repetitions times walks; allowed: <= 5000000"

    def run(self, rng: Generator) -> Outcome:
        starts = np.repeat(np.array(self.starts), self.repetitions, axis=0)
        variances = np.repeat(self.variances, self.repetitions)
        paths = walk(starts, self.samples, variances[:, None, None] * np.eye(2), rng)
        paths = paths.reshape(self.samples, len(self.starts), self.repetitions, 2)
        squared = (np.diff(paths, axis=0) ** 2).sum(-1)  # (S - 1, W, R)
        far = ((paths[-1] - np.array(self.starts)[:, None]) ** 2).sum(-1)  # (W, R)
        length = np.sqrt(squared).mean(0)  # (W, R)
        order = np.argsort(self.variances)
        metrics: dict[str, Any] = {
            "smaller_variance_shorter_steps": bool(np.all(np.diff(length[order].mean(-1)) > 0)),
            "share_of_pairs_with_shorter_steps": np.mean(length[order[0]] < length[order[-1]]),
        }
        for k, variance in enumerate(self.variances):
            metrics[f"mean_squared_step_{variance:g}"] = squared[:, k].mean()
            metrics[f"mean_squared_distance_{variance:g}"] = far[k].mean()
        return Outcome(metrics, arrays={"paths": paths[:, :, 0]})

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        figure, ax = panels()
        for k, variance in enumerate(self.variances):
            path, mark = outcome.arrays["paths"][:, k], SYMBOLS[k % len(SYMBOLS)]
            ax.plot(*path.T, f"{mark}-", color=f"C{k % 8}", label=f"Σ = {variance:g} I")
            ax.plot(*path[0], mark, color="black", zorder=3)
        ax.plot([], [], "o", color="black", label="start")
        ax.set(xlabel="$w_1$", ylabel="$w_2$")
        ax.set_aspect("equal", adjustable="datalim")
        ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
        return {"walks": figure}
