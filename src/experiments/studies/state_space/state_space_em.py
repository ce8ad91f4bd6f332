"""EM for a linear-Gaussian state space model, and what it owes to its start (MLAPP 18.4)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar, Series, Table
from experiments.contract.study import Study, knob
from models.state_space.kalman import LDS, kalman_filter, simulate
from models.state_space.lds_em import (
    fit_lds,
    identity_start,
    output_subspace,
    random_start,
    subspace_start,
)
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

KINDS = ("random", "identity", "subspace")
_STATES = 2  # of the rotation that makes the data


@dataclass
class StateSpaceEm(Study):
    """EM from random and subspace starts for a turning state seen through noise (MLAPP 18.4)."""

    angle: float = knob(0.3, "turn of the state in a step, in radians")
    radius: float = knob(0.98, "shrinkage of the state in a step", above=0, at_most=1)
    state_noise: float = knob(0.2, "standard deviation of the state's noise", above=0)
    outputs: int = knob(5, "outputs, random combinations of the state", at_least=2, at_most=50)
    noise: float = knob(0.7, "standard deviation of the outputs' noise", above=0)
    steps: int = knob(200, "length of a series", at_least=20, at_most=10_000)
    repetitions: int = knob(5, "systems, each with a series", at_least=1, at_most=100)
    random_starts: int = knob(6, "random starts for each series", at_least=2, at_most=100)
    lags: int = knob(3, "successive outputs stacked for the subspace start", at_least=1, at_most=20)
    iterations: int = knob(100, "iterations of EM", at_least=1, at_most=10_000)

    def problems(self) -> "Iterator[str]":
        if self.steps < 10 * self.lags:
            yield f"study.lags={self.lags}; allowed: at most a tenth of study.steps={self.steps}"

    @property
    def _kinds(self) -> list[str]:
        return ["random"] * self.random_starts + ["identity", "subspace"]

    def run(self, rng: Generator) -> Outcome:
        gaps, falls, ratios, at_truth = [], [], [], []
        for _ in range(self.repetitions):
            system = self._system(rng)
            x = simulate(system, self.steps, rng)[1]
            starts = (
                random_start(x, _STATES, self.random_starts, rng),
                identity_start(x, _STATES),
                subspace_start(x, _STATES, self.lags),
            )
            start = LDS(*(np.concatenate(parts) for parts in zip(*starts, strict=True)))
            fit = fit_lds(
                x,
                start,
                held=["Gamma"],  # I, without loss of generality (18.4.1)
                diagonal_noise=True,
                tol=-np.inf,
                max_iter=self.iterations,
            )
            best = fit.objective.max()
            falls.append(float(-np.diff(fit.objective).min() / abs(best)))
            gaps.append(best - fit.objective)
            at_truth.append(float(best - kalman_filter(system, x).log_likelihood))
            ratios.append(self._noiseless_ratio(system, rng))
        gap = np.array(gaps)  # (repetitions, starts, iterations + 1) nats short of the best
        metrics = self._metrics(gap)
        metrics |= {
            "likelihood_never_falls": max(falls) < 1e-9,
            "largest_relative_fall": max(falls),
            "learned_beats_truth": min(at_truth) > 0,
            "singular_value_ratio_without_noise": max(ratios),
            "outputs_lie_in_subspace_without_noise": max(ratios) < 1e-8,
        }
        kinds = np.array(self._kinds)
        table: Table = {"iteration": list(range(self.iterations + 1))}
        series = {}
        for kind in KINDS:
            median = np.median(gap[:, kinds == kind], axis=(0, 1))
            table[kind] = median.tolist()
            series[f"gap_{kind}"] = Series(table["iteration"], table[kind])
        return Outcome(metrics, series, {"gaps": table}, {"gap": gap})

    def _system(self, rng: Generator) -> LDS:
        c, s = self.radius * np.cos(self.angle), self.radius * np.sin(self.angle)
        return LDS(
            A=np.array([[c, -s], [s, c]]),
            Gamma=self.state_noise**2 * np.eye(_STATES),
            C=rng.standard_normal((self.outputs, _STATES)),
            Sigma=self.noise**2 * np.eye(self.outputs),
            mu0=np.zeros(_STATES),
            V0=np.eye(_STATES),
        )

    def _noiseless_ratio(self, system: LDS, rng: Generator) -> float:
        """Without noise: the first singular value that should vanish, over the one before it."""
        silent = system._replace(
            Gamma=np.zeros((_STATES, _STATES)), Sigma=np.zeros((self.outputs, self.outputs))
        )
        x = simulate(silent, self.steps, rng)[1]
        values = output_subspace(x, _STATES, max(self.lags, 2)).singular_values
        return float(values[_STATES] / values[_STATES - 1])

    def _metrics(self, gap: Floats) -> dict[str, Scalar]:
        """How far each kind of start is below the best end: at first, on the way and at its end."""
        kinds = np.array(self._kinds)
        medians = {
            f"{kind}_gap_at_{name}": float(np.median(gap[:, kinds == kind, iteration]))
            for kind in KINDS
            for name, iteration in (("start", 0), ("early", min(10, self.iterations)), ("end", -1))
        }
        end, subspace = gap[..., -1], gap[:, kinds == "subspace"][:, 0]
        others = gap[:, kinds != "subspace"].min(1)
        return {
            **medians,
            "largest_spread_of_ends": float(np.ptp(end, axis=1).max()),
            "smallest_spread_of_ends": float(np.ptp(end, axis=1).min()),
            "subspace_starts_highest": bool(np.all(subspace[:, 0] < others[:, 0])),
            "subspace_leads_early": (
                medians["subspace_gap_at_early"] < medians["random_gap_at_early"]
            ),
            "largest_subspace_gap_at_end": float(subspace[:, -1].max()),
            "share_subspace_ends_highest": float(np.mean(subspace[:, -1] <= others[:, -1])),
        }

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        kinds = np.array(self._kinds)
        gap = np.maximum(outcome.arrays["gap"], 1e-3)  # the best end itself is at 0
        steps = np.arange(gap.shape[-1])
        figure, axes = panels(1, min(3, len(gap)), squeeze=False, sharey=True)
        if len(gap) > 1:
            figure.set_size_inches(*(figure.get_size_inches() * (0.7, 0.9)))
        looks = {"random": ("C0", "-"), "identity": ("C2", "--"), "subspace": ("C1", "-")}
        for k, ax in enumerate(axes[0]):
            for kind, (colour, dash) in looks.items():
                mine = gap[k, kinds == kind]
                ax.plot(steps, mine.T, dash, color=colour, linewidth=1.2 if len(mine) > 1 else 2)
                label = f"{kind} starts" if len(mine) > 1 else f"{kind} start"
                ax.plot([], [], dash, color=colour, label=label)
            ax.set(xlabel="EM iterations", yscale="log", title=f"series {k + 1}")
        axes[0, 0].set_ylabel("log likelihood below the best end (nats)")
        axes[0, 0].set_ylim(bottom=0.05)
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
        return {"climb": figure}
