"""EM for a linear-Gaussian state space model, and what it owes to its start (MLAPP 18.4)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, axis, over
from experiments.contract.study import Study, knob
from models.state_space import misprints
from models.state_space.kalman import LDS, kalman_filter, recursion_gap, rotation, simulate
from models.state_space.lds_em import (
    fit_lds,
    fit_observed,
    identity_start,
    output_subspace,
    random_start,
    subspace_start,
    with_unit_noise,
)
from models.state_space.misprints import Printed
from models.state_space.nonlinear_examples import random_lds

_STATES = 2  # of the rotation that makes the data
EQUATION = axis("equation", list(Printed._fields))


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
        gaps, truths, silent, checks = [], [], [], []
        (apart,) = rng.spawn(1)  # for systems of the text's own equations
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
            silent.append(self._without_noise(system, rng))
            checks.append(_checks(random_lds(apart), self.steps, apart))
        series = axis("series", np.arange(self.repetitions) + 1)
        chance = [f"random {k + 1}" for k in range(self.random_starts)]
        start = axis("start", [*chance, "identity", "subspace"])
        return Outcome(
            # nats below the best that any start has reached
            gap=over(gaps, series, start, axis("iteration", self.iterations + 1)),
            gap_of_truth=series.of(truths),
            singular_value_ratio=series.of([ratio for ratio, _ in silent]),
            noiseless_eigenvalue_error=series.of([error for _, error in silent]),
            whitened_gap=series.of([found.whitened for found in checks]),
            recursion_gap=series.of([found.recursion for found in checks]),
            noise_gap=series.of([found.noise for found in checks]),
            noise_correlation=series.of([found.correlation for found in checks]),
            power_error=over([found.powers for found in checks], series, EQUATION),
            regression_gradient=over([found.regressions for found in checks], series, EQUATION),
        )

    def system(self, rng: Generator) -> LDS:
        C = rng.standard_normal((self.outputs, _STATES))
        return rotation(C, self.angle, self.radius, self.state_noise, self.noise)

    def _without_noise(self, system: LDS, rng: Generator) -> tuple[float, float]:
        """The first singular value that should vanish, over the one before; the error of A's."""
        silent = system._replace(Gamma=0 * system.Gamma, Sigma=0 * system.Sigma)
        x = simulate(silent, self.steps, rng)[1]
        z, values = output_subspace(x, _STATES, max(self.lags, 2))
        A = fit_observed(x[: len(z)], z).A[0]
        found, true = (np.sort_complex(np.linalg.eigvals(B)) for B in (A, system.A))
        return float(values[_STATES] / values[_STATES - 1]), float(np.abs(found - true).max())


class _Checks(NamedTuple):
    """What the text says of any linear system, in one."""

    whitened: float  # gap of the log likelihood when the state's noise is made I
    recursion: float  # of filter and smoother between the compiled and the plain recursions
    noise: float  # largest error of the outputs' noise, found from the outputs alone
    correlation: float  # of that noise
    powers: Printed
    regressions: Printed


def _checks(theta: LDS, steps: int, rng: Generator) -> _Checks:
    z, x = simulate(theta, steps, rng)
    both = [kalman_filter(one, x).log_likelihood for one in (theta, with_unit_noise(theta))]
    noise = misprints.noise_from_outputs(misprints.output_covariances(theta), len(theta.A))
    return _Checks(
        float(abs(both[1] / both[0] - 1)),
        recursion_gap(theta, x),
        float(np.abs(noise - theta.Sigma).max()),
        misprints.largest_correlation(noise),
        misprints.power_errors(theta),
        misprints.regression_gradients(theta, z),
    )
