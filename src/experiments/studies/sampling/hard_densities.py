"""Two densities that plain Metropolis-Hastings samples badly (FCML 4.5.3)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome
from experiments.contract.study import Study, knob
from experiments.drawing.clusters import grid
from models.sampling.metropolis import Chains, mixture, sample
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure


@dataclass
class HardDensities(Study):
    """A density with two modes, and one whose variables depend on each other (FCML 4.5.3)."""

    modes: list[list[float]] = knob(
        [[2.0, 2.0], [-1.0, -1.0]], "the modes; chains start at the first"
    )
    spread: float = knob(0.3, "standard deviation of each mode", above=0)
    correlation: float = knob(0.99, "of the other density, of unit variances", above=-1, below=1)
    step_sds: list[float] = knob(
        [0.1, 0.5, 1.0, 2.0, 3.0], "standard deviations of proposals", above=0, distinct=True
    )
    samples: int = knob(10_000, "samples of a chain", at_least=10, at_most=100_000)
    chains: int = knob(10, "chains for each step", at_least=1, at_most=500)

    def problems(self) -> "Iterator[str]":
        if len(self.modes) != 2 or any(len(mode) != 2 for mode in self.modes):
            yield f"study.modes={self.modes}; allowed: two points in the plane"
        if self.samples * self.chains * len(self.step_sds) > 5_000_000:
            yield "study.samples times chains times step_sds; allowed: <= 5000000"

    def run(self, rng: Generator) -> Outcome:
        modes, eye, rho = np.array(self.modes), np.eye(2), self.correlation
        both = mixture(np.full(2, 0.5), modes, np.array([self.spread**2 * eye] * 2))
        along = np.array([[1.0, rho], [rho, 1.0]])
        bimodal = self._chains(both, modes[0], rng)
        correlated = self._chains(mixture(np.ones(1), np.zeros((1, 2)), along[None]), 0.0, rng)
        round_ = self._chains(mixture(np.ones(1), np.zeros((1, 2)), eye[None]), 0.0, rng)
        gap = np.linalg.norm(bimodal.w[:, :, None] - modes, axis=-1)  # (S, V * C, 2)
        nearer = gap.argmin(axis=-1)
        rows: dict[str, Any] = {
            "step_sd": self.step_sds,
            "bimodal_acceptance": self._each(bimodal.accepted.mean(0)),
            "finds_other_mode": self._each(nearer.any(axis=0)),
            "switches": self._each((np.diff(nearer, axis=0) != 0).sum(axis=0)),
            "correlated_acceptance": self._each(correlated.accepted.mean(0)),
            "round_acceptance": self._each(round_.accepted.mean(0)),
        }
        metrics: dict[str, Any] = {
            f"{name}_step_{step:g}": value
            for name, column in rows.items()
            if name != "step_sd"
            for step, value in zip(self.step_sds, column, strict=True)
        }
        metrics["correlation_costs_acceptance_at_every_step"] = bool(
            np.all(rows["correlated_acceptance"] < rows["round_acceptance"])
        )
        low, high = modes.min(0) - 4 * self.spread, modes.max(0) + 4 * self.spread
        x, y = np.linspace(low, high, 121).T
        z = np.linspace(-3, 3, 241)
        arrays = {
            "x": x,
            "y": y,
            "bimodal": np.exp(both(np.stack(np.meshgrid(x, y), axis=-1))),
            "z": z,
            "correlated": np.exp(
                mixture(np.ones(1), np.zeros((1, 2)), along[None])(
                    np.stack(np.meshgrid(z, z), axis=-1)
                )
            ),
        }
        return Outcome(metrics, tables={"steps": rows}, arrays=arrays)

    def _chains(self, log_g: Any, start: Floats | float, rng: Generator) -> Chains:
        """All chains of all steps in one batch, (S, V * C, 2)."""
        sds = np.repeat(self.step_sds, self.chains)
        starts = np.zeros((len(sds), 2)) + start
        return sample(log_g, starts, self.samples, sds[:, None, None] ** 2 * np.eye(2), rng)

    def _each(self, values: Any) -> Floats:
        """Averages over the chains of each step."""
        return np.asarray(np.reshape(values, (-1, self.chains)).mean(-1), dtype=np.float64)

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        arrays, rows = outcome.arrays, outcome.tables["steps"]
        figure, axes = grid(2, 2, 0.8)
        for ax, (x, y, name), title in zip(
            axes[0],
            (("x", "y", "bimodal"), ("z", "z", "correlated")),
            ("two modes", f"correlation {self.correlation:g}"),
            strict=True,
        ):
            p = arrays[name]
            levels = p.max() * np.array([0.02, 0.1, 0.3, 0.6, 0.9])
            ax.contour(arrays[x], arrays[y], p, levels=levels, colors="C0")
            ax.set(xlabel="$w_1$", ylabel="$w_2$", title=title)
        step = rows["step_sd"]
        axes[1, 0].plot(step, rows["finds_other_mode"], "s-", color="C1", label="finds other mode")
        axes[1, 0].plot(step, rows["bimodal_acceptance"], "o--", color="C0", label="acceptance")
        axes[1, 0].set_ylabel("share of chains; of proposals")
        axes[1, 1].plot(step, rows["correlated_acceptance"], "o-", color="C0", label="correlated")
        axes[1, 1].plot(step, rows["round_acceptance"], "s--", color="C2", label="uncorrelated")
        axes[1, 1].set_ylabel("share of proposals accepted")
        for ax in axes[1]:
            ax.set(xscale="log", xlabel="standard deviation of a step", ylim=(-0.03, 1.03))
            ax.legend()
        return {"densities": figure}
