"""EM for a linear-Gaussian state space model, and what it owes to its start (MLAPP 18.4)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, axis, over
from experiments.contract.study import Study, knob
from models.state_space.kalman import LDS, kalman_filter, rotation, simulate
from models.state_space.lds_em import (
    fit_lds,
    identity_start,
    output_subspace,
    random_start,
    subspace_start,
)

_STATES = 2  # of the rotation that makes the data


@dataclass
class StateSpaceEm(Study):
    """EM from random and subspace starts for a turning state seen through noise (MLAPP 18.4)."""

    headline = {
        "largest_end_gap": "max(last(gap, over='iteration'))",
        "subspace_end_gap": "max(last(gap[:, 'subspace'], over='iteration'))",
    }

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

    def problems(self) -> Iterator[str]:
        if self.steps < 10 * self.lags:
            yield f"study.lags={self.lags}; allowed: at most a tenth of study.steps={self.steps}"

    def run(self, rng: Generator) -> Outcome:
        gaps, truths, ratios = [], [], []
        for _ in range(self.repetitions):
            system = self.system(rng)
            x = simulate(system, self.steps, rng)[1]
            starts = (
                random_start(x, _STATES, self.random_starts, rng),
                identity_start(x, _STATES),
                subspace_start(x, _STATES, self.lags),
            )
            fit = fit_lds(
                x,
                LDS(*(np.concatenate(parts) for parts in zip(*starts, strict=True))),
                held=["Gamma"],  # I, without loss of generality (18.4.1)
                diagonal_noise=True,
                tol=-np.inf,
                max_iter=self.iterations,
            )
            best = fit.objective.max()
            gaps.append(best - fit.objective)
            truths.append(best - kalman_filter(system, x).log_likelihood)
            ratios.append(self._noiseless_ratio(system, rng))
        series = axis("series", np.arange(self.repetitions) + 1)
        chance = [f"random {k + 1}" for k in range(self.random_starts)]
        start = axis("start", [*chance, "identity", "subspace"])
        return Outcome(
            # nats below the best that any start has reached
            gap=over(gaps, series, start, axis("iteration", self.iterations + 1)),
            gap_of_truth=series.of(truths),
            singular_value_ratio=series.of(ratios),
        )

    def system(self, rng: Generator) -> LDS:
        C = rng.standard_normal((self.outputs, _STATES))
        return rotation(C, self.angle, self.radius, self.state_noise, self.noise)

    def _noiseless_ratio(self, system: LDS, rng: Generator) -> float:
        """Without noise: the first singular value that should vanish, over the one before it."""
        silent = system._replace(Gamma=0 * system.Gamma, Sigma=0 * system.Sigma)
        x = simulate(silent, self.steps, rng)[1]
        values = output_subspace(x, _STATES, max(self.lags, 2)).singular_values
        return float(values[_STATES] / values[_STATES - 1])
