"""EM for a linear-Gaussian state space model, and the effect of its start (MLAPP 18.4)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.state_space.kalman import LDS, kalman_filter, rotation, simulate
from bythebook.models.state_space.lds_em import (
    fit_lds,
    fit_observed,
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
    quantities = {
        "gap": quantity(
            "log likelihood below the best that any start reaches",
            "series start iteration",
            unit="nats",
        ),
        "gap_of_truth": quantity(
            "log likelihood of the true parameters below the best that any start reaches",
            "series",
            unit="nats",
        ),
        "singular_value_ratio": quantity(
            "third singular value of outputs without noise over the second", "series"
        ),
        "noiseless_modulus": quantity(
            "modulus of an eigenvalue of A from outputs without noise", "series"
        ),
        "noiseless_angle": quantity(
            "angle of an eigenvalue of A from outputs without noise", "series", unit="rad"
        ),
    }
    axes = {
        "series": axis_of("series"),
        "start": axis_of("start"),
        "iteration": axis_of("EM iteration"),
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
        gap, gap_of_truth, silent = [], [], []
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
            gap.append(best - fit.objective)
            gap_of_truth.append(best - kalman_filter(system, x).log_likelihood)
            silent.append(self._without_noise(system, rng))
        ratio, modulus, angle = np.transpose(silent)
        chance = [f"random {k + 1}" for k in range(self.random_starts)]
        return outcome(
            {
                "series": np.arange(self.repetitions) + 1,
                "start": [*chance, "identity", "subspace"],
                "iteration": self.iterations + 1,
            },
            gap=("series start iteration", gap),
            gap_of_truth=("series", gap_of_truth),
            singular_value_ratio=("series", ratio),
            noiseless_modulus=("series", modulus),
            noiseless_angle=("series", angle),
        )

    def system(self, rng: Generator) -> LDS:
        C = rng.standard_normal((self.outputs, _STATES))
        return rotation(C, self.angle, self.radius, self.state_noise, self.noise)

    def _without_noise(self, system: LDS, rng: Generator) -> tuple[float, float, float]:
        """First singular value that should vanish, over the one before; an eigenvalue of A."""
        silent = system._replace(Gamma=0 * system.Gamma, Sigma=0 * system.Sigma)
        x = simulate(silent, self.steps, rng)[1]
        z, values = output_subspace(x, _STATES, max(self.lags, 2))
        A = fit_observed(x[: len(z)], z).A[0]
        found = np.sort_complex(np.linalg.eigvals(A))[-1]
        ratio = values[_STATES] / values[_STATES - 1]
        return float(ratio), float(np.abs(found)), float(np.abs(np.angle(found)))
