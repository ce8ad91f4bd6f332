"""EM for a linear-Gaussian state space model, and the effect of its start (MLAPP 18.4)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.linalg import block_diag
from scipy.stats import multivariate_normal

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Axis, Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.state_space import misprints
from bythebook.models.state_space.kalman import (
    LDS,
    kalman_filter,
    kalman_filter_reference,
    rotation,
    rts_smoother,
    rts_smoother_reference,
    simulate,
)
from bythebook.models.state_space.lds_em import (
    fit_lds,
    fit_observed,
    identity_start,
    output_subspace,
    random_start,
    subspace_start,
    with_unit_noise,
)
from bythebook.models.state_space.misprints import SIDES
from bythebook.models.state_space.nonlinear_examples import random_lds
from bythebook.models.types import Floats

_STATES = 2  # of the rotation that makes the data
_SHORT = 5  # steps of series whose states are inferred jointly


@dataclass
class StateSpaceEm(Study):
    """EM from random and subspace starts for a turning state seen through noise (MLAPP 18.4)."""

    headline = {
        "largest_end_gap": "max(last(gap, over='iteration'))",
        "subspace_end_gap": "max(last(gap[:, 'subspace'], over='iteration'))",
    }
    more_quantities = True
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
        "start_radius": quantity("largest modulus of an eigenvalue at the start", "series start"),
        "start_noise": quantity(
            "noise variance at the start, in those of the outputs", "series start output"
        ),
        "drawn_variance": quantity("variance of the drawn noise", "series of"),
        "noiseless_eigenvalue_error": quantity(
            "largest error of an eigenvalue from data without noise", "series"
        ),
        "noiseless_modulus": quantity("modulus of an eigenvalue from data without noise", "series"),
        "noiseless_angle": quantity("angle of an eigenvalue from data without noise", "series"),
        "found_noise": quantity("noise covariance that EM finds", "series row column"),
        "true_noise": quantity("true noise covariance", "series row column"),
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
        found: dict[str, list[Any]] = {}
        (apart,) = rng.spawn(1)  # for systems in the checks of the text's equations
        for _ in range(self.repetitions):
            system = self.system(rng)
            z, x = simulate(system, self.steps, rng)
            starts = (
                random_start(x, _STATES, self.random_starts, rng),
                identity_start(x, _STATES),
                subspace_start(x, _STATES, self.lags),
            )
            begin = LDS(*(np.concatenate(parts) for parts in zip(*starts, strict=True)))
            fit = fit_lds(
                x,
                begin,
                held=["Gamma"],  # I, without loss of generality (18.4.1)
                diagonal_noise=True,
                tol=-np.inf,
                max_iter=self.iterations,
            )
            best, sd = fit.objective.max(), x.std(0)
            one = {
                "gap": best - fit.objective,  # nats below the best that any start has reached
                "gap_of_truth": best - kalman_filter(system, x).log_likelihood,
                "start_radius": np.abs(np.linalg.eigvals(begin.A)).max(-1),
                "start_gain": begin.C / sd[:, np.newaxis],
                "start_noise": np.diagonal(begin.Sigma, axis1=1, axis2=2) / sd**2,
                "drawn_variance": [np.mean((z[1:] - z[:-1] @ system.A.T) ** 2),
                                   np.mean((x - z @ system.C.T) ** 2)],
                **self._without_noise(system, rng),
                **_checks(random_lds(apart), self.steps, apart),
            }  # fmt: skip
            for name, value in one.items():
                found.setdefault(name, []).append(value)
        series = axis("series", np.arange(self.repetitions) + 1)
        return Outcome(**{
            name: over(values, series, *self._axes(name)) for name, values in found.items()
        })  # fmt: skip

    def _axes(self, name: str) -> tuple[Axis, ...]:
        """The axes of a quantity in addition to that of the series."""
        chance = [f"random {k + 1}" for k in range(self.random_starts)]
        start = axis("start", [*chance, "identity", "subspace"])
        output, side = axis("output", range(1, self.outputs + 1)), axis("side", SIDES)
        row, column = (axis(name, range(1, 4)) for name in ("row", "column"))
        return {
            "gap": (start, axis("iteration", self.iterations + 1)),
            "start_radius": (start,),
            "start_gain": (start, output, axis("state", range(1, _STATES + 1))),
            "start_noise": (start, output),
            "drawn_variance": (axis("of", ["state", "output"]),),
            "recursion_gap": (axis("belief", BELIEFS),),
            "exact_gap": (axis("posterior", POSTERIORS),),
            "step_gap": (axis("parameter", LDS._fields),),
            "found_noise": (row, column),
            "true_noise": (row, column),
            "noiseless_state": (side, axis("time", range(1, 21)), row),
            "regression_gradient": (side, row, column),
        }.get(name, ())

    def system(self, rng: Generator) -> LDS:
        C = rng.standard_normal((self.outputs, _STATES))
        return rotation(C, self.angle, self.radius, self.state_noise, self.noise)

    def _without_noise(self, system: LDS, rng: Generator) -> dict[str, Any]:
        """First singular value that should vanish, over the one before; errors of eigenvalues."""
        silent = system._replace(Gamma=0 * system.Gamma, Sigma=0 * system.Sigma)
        x = simulate(silent, self.steps, rng)[1]
        z, values = output_subspace(x, _STATES, max(self.lags, 2))
        A = fit_observed(x[: len(z)], z).A[0]
        found, true = (np.sort_complex(np.linalg.eigvals(B)) for B in (A, system.A))
        return {
            "singular_value_ratio": values[_STATES] / values[_STATES - 1],
            "noiseless_eigenvalue_error": np.abs(found - true).max(),
            "noiseless_modulus": np.abs(found[-1]),
            "noiseless_angle": np.abs(np.angle(found[-1])),
        }


BELIEFS = ("ahead_mean", "ahead_cov", "mean", "cov", "worth", "back_mean", "back_cov", "lag_one")
POSTERIORS = ("filtered", "smoothed", "pairs", "likelihood")


def _checks(theta: LDS, steps: int, rng: Generator) -> dict[str, Any]:
    """Checks, in one system, of statements of the text about any linear system."""
    z, x = simulate(theta, steps, rng)
    both = [kalman_filter(one, x).log_likelihood for one in (theta, with_unit_noise(theta))]
    noise = misprints.noise_from_outputs(misprints.output_covariances(theta), len(theta.A))
    return {
        "whitened_gap": abs(both[1] / both[0] - 1),
        "recursion_gap": _recursion_gaps(theta, np.stack([x, x[::-1]])),
        "found_noise": noise,
        "true_noise": theta.Sigma,
        "noiseless_state": misprints.powers(theta),
        "regression_gradient": misprints.regression_gradients(theta, z),
        **_all_at_once(theta, simulate(theta, _SHORT, rng, (2,))[1]),
    }


def _recursion_gaps(theta: LDS, x: Floats) -> list[float]:
    """Between filter and smoother as compiled and a step at a time, largest of each of BELIEFS."""
    passed, plain = kalman_filter(theta, x), kalman_filter_reference(theta, x)
    ones, others = (
        (*one.predicted, *one.filtered, one.log_c, *back.state, back.lag_one)
        for one, back in (
            (passed, rts_smoother(theta, passed)),
            (plain, rts_smoother_reference(theta, plain)),
        )
    )
    return [np.abs(a - b).max() for a, b in zip(ones, others, strict=True)]


def _all_at_once(theta: LDS, x: Floats) -> dict[str, Any]:
    """Filter, smoother and an EM step for x (S, N, D) against Gaussian conditioning of all states.

    All states and outputs are one joint Gaussian (PRML 13.3.1), conditioned without a recursion.
    """
    (S, N, D), M, A = x.shape, len(theta.A), theta.A
    steps = [
        [np.linalg.matrix_power(A, max(i - j, 0)) * (i >= j) for j in range(N)] for i in range(N)
    ]
    F, seen = np.block(steps), np.kron(np.eye(N), theta.C)
    prior = F @ block_diag(theta.V0, *[theta.Gamma] * (N - 1)) @ F.T
    noise, mean = np.kron(np.eye(N), theta.Sigma), F[:, :M] @ theta.mu0

    def given(n: int) -> tuple[Floats, Floats]:
        """Means (S, N, M) and covariance (N, M, N, M) of all states after n outputs."""
        C = seen[: n * D]
        gain = np.linalg.solve(C @ prior @ C.T + noise[: n * D, : n * D], C @ prior).T
        off = x[:, :n].reshape(S, -1) - C @ mean
        return (mean + off @ gain.T).reshape(S, N, M), (prior - gain @ C @ prior).reshape(
            N, M, N, M
        )

    passed = kalman_filter(theta, x)
    back = rts_smoother(theta, passed)
    ways = [given(n + 1) for n in range(N)]
    means, cov = ways[-1]
    n = np.arange(N)
    filtered = [(m[:, k], c[k, :, k]) for k, (m, c) in enumerate(ways)]
    worth = multivariate_normal(seen @ mean, seen @ prior @ seen.T + noise).logpdf(x.reshape(S, -1))
    gaps = (
        [
            (passed.filtered.mean[:, k] - m, passed.filtered.cov[k] - c)
            for k, (m, c) in enumerate(filtered)
        ],
        [(back.state.mean - means, back.state.cov - cov[n, :, n])],
        [(back.lag_one - cov[n[1:], :, n[:-1]],)],
        [(passed.log_likelihood - worth,)],
    )
    new = fit_lds(x, LDS(*(part[np.newaxis] for part in theta)), tol=-np.inf, max_iter=1).theta
    expected = _m_step(means, cov, x)
    return {
        "exact_gap": [max(np.abs(g).max() for pair in part for g in pair) for part in gaps],
        "step_gap": [np.abs(a[0] - b).max() for a, b in zip(new, expected, strict=True)],
    }


def _m_step(mean: Floats, cov: Floats, x: Floats) -> LDS:
    """(13.110) to (13.116) with their transposes, from moments of all states, sums written out."""
    S, N = x.shape[:2]

    def moment(i: int, j: int) -> Floats:
        """The sum over series of E[z_i z_j^T]."""
        return np.asarray(S * cov[i, :, j] + mean[:, i].T @ mean[:, j])

    past, lag, now = (
        np.sum([moment(n - i, n - j) for n in range(1, N)], axis=0)
        for i, j in ((1, 1), (0, 1), (0, 0))
    )
    every = now + moment(0, 0)
    xz, xx = (np.einsum("snd,sne->de", x, other) for other in (mean, x))
    mu0 = mean[:, 0].mean(0)
    A, C = lag @ np.linalg.inv(past), xz @ np.linalg.inv(every)
    return LDS(
        A=A,
        Gamma=(now - A @ lag.T - lag @ A.T + A @ past @ A.T) / (S * (N - 1)),
        C=C,
        Sigma=(xx - C @ xz.T - xz @ C.T + C @ every @ C.T) / (S * N),
        mu0=mu0,
        V0=moment(0, 0) / S - np.outer(mu0, mu0),
    )
