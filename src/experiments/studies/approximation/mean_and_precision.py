"""Mean and precision of a Gaussian by factorised inference, exactly and by Gibbs (PRML 10.1.3)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.stats import gamma, norm

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.approximation import gaussian_gamma
from bythebook.models.approximation.gaussian_gamma import Data, Factors, OnGrid, Prior
from bythebook.models.types import Floats

SHOWN = 6  # half steps whose bounds are kept
BATCHES = 20  # of Gibbs sweeps, for the error of a mean
GRIDS = 8  # data sets of each size that are integrated on a grid
STAGES = {"start": 0, "q of tau": 1, "q of mu": 2, "converged": -1}  # half steps


@dataclass
class MeanAndPrecision(Study):
    """Converged q(mu) q(tau) compared with the exact posterior, which Gibbs sampling draws from.

    Data sets of a standard Gaussian grow: the first points of a larger set are the smaller one.
    The exact posterior needs a proper prior, with constants above zero.
    """

    headline = {"precision": "mean(tau_mean)"}
    quantities = {
        "q_mean": quantity("mean of q(mu)", "points repetition", equation="PRML 10.26"),
        "q_precision": quantity("precision of q(mu)", "points repetition", equation="PRML 10.27"),
        "tau_mean": quantity("mean of q(tau)", "points repetition"),
        "tau_variance": quantity("variance of q(tau)", "points repetition"),
        "shape": quantity("shape of q(tau)", "points", equation="PRML 10.29"),
        "sample_mean": quantity("mean of the data", "points repetition"),
        "biased_variance": quantity("mean squared deviation of the data", "points repetition"),
        "bound": quantity("bound after the last step", "points guess repetition", unit="nats"),
        "bound_history": quantity(
            "bound after each of the first half steps",
            "points guess half_step repetition",
            unit="nats",
        ),
        "dependence": quantity(
            "mutual information of mu and tau in the posterior", "points checked", unit="nats"
        ),
        "posterior": quantity("posterior density of the first data set", "tau mu"),
        "factorised": quantity("q(mu) q(tau) of the first data set", "stage tau mu"),
        "gibbs_mean": quantity("mean of the Gibbs samples", "parameter checked"),
        "gibbs_error": quantity("standard error of this mean", "parameter checked"),
        "exact_mean": quantity("posterior mean", "parameter checked"),
    }
    axes = {
        "points": axis_of("number of points"),
        "repetition": axis_of("data set"),
        "guess": axis_of("first guess of the precision"),
        "half_step": axis_of("half step"),
        "checked": axis_of("data set that is integrated on a grid"),
        "mu": axis_of("mean"),
        "tau": axis_of("precision"),
        "stage": axis_of("stage of the first data set"),
        "parameter": axis_of("parameter"),
    }

    prior: str = knob("conjugate", "of the mean", choices=("conjugate", "independent"))
    constants: list[float] = knob(
        [0.0, 1.0, 1.0, 1.0], "mu_0, lambda_0 or s_0, a_0, b_0; zeros: none"
    )
    points: list[int] = knob([10], "points of a data set", at_least=1, at_most=100_000)
    repetitions: int = knob(20, "data sets", at_least=1, at_most=100_000)
    first_precisions: list[float] = knob([1.0], "first guesses of the precision", above=0)
    iterations: int = knob(60, "updates of both factors", at_least=SHOWN, at_most=10_000)
    sweeps: int = knob(0, "of Gibbs sampling; 0: none", at_least=0, at_most=100_000)

    def problems(self) -> Iterator[str]:
        if len(self.constants) != 4 or min(self.constants[1:], default=0) < 0:
            yield f"study.constants={self.constants}; allowed: four, the last three not negative"
        elif not self._proper and min(self.points) < 2:
            yield f"study.points={self.points} without a prior; allowed: 2 and more"
        elif not self._proper and self.sweeps:
            yield f"study.sweeps={self.sweeps}; allowed: with a proper prior"

    @property
    def _proper(self) -> bool:
        return all(self.constants[1:])

    def run(self, rng: Generator) -> Outcome:
        sizes = sorted(self.points)
        x = rng.standard_normal((self.repetitions, max(sizes)))
        data = [Data(N, x[:, :N].mean(1), (x[:, :N] ** 2).mean(1)) for N in sizes]
        prior = Prior(self.prior == "conjugate", *self.constants)
        guesses = [1 / np.maximum(d.biased, 0.1) for d in data]
        ends = [self._path(d, prior, tau)[-1] for d, tau in zip(data, guesses, strict=True)]
        coords: dict[str, Any] = {"points": sizes, "repetition": self.repetitions}
        found = self._compared(data, prior, rng, coords) if self._proper else {}
        every = "points repetition"
        return outcome(
            coords,
            q_mean=(every, [q.mean for q in ends]),
            q_precision=(every, [q.precision for q in ends]),
            tau_mean=(every, [q.tau for q in ends]),
            tau_variance=(every, [q.a / q.b**2 for q in ends]),
            shape=("points", [q.a[0] for q in ends]),
            sample_mean=(every, [d.mean for d in data]),
            biased_variance=(every, [d.biased for d in data]),
            **found,
        )

    def _path(self, data: Data, prior: Prior, tau: Floats) -> list[Factors]:
        return gaussian_gamma.climb(data, prior, tau, steps=self.iterations)

    def _compared(
        self, data: list[Data], prior: Prior, rng: Generator, coords: dict[str, Any]
    ) -> dict[str, Any]:
        """Bounds from several first guesses, and the exact posterior on grids."""
        guesses = [np.full(self.repetitions, tau) for tau in self.first_precisions]
        paths = [[self._path(d, prior, guess) for guess in guesses] for d in data]
        history = [
            [[gaussian_gamma.bound(d, prior, q) for q in (*path[:SHOWN], path[-1])] for path in row]
            for d, row in zip(data, paths, strict=True)
        ]
        some = min(GRIDS, self.repetitions)
        grids = [[gaussian_gamma.on_grid(d, prior, k) for k in range(some)] for d in data]
        first = grids[0][0]
        mu, tau = first.mu[::3], first.tau[::3]
        factors = [_factorised(paths[0][0][half], mu, tau) for half in STAGES.values()]
        coords |= {"guess": self.first_precisions, "half_step": SHOWN, "checked": some}
        coords |= {"mu": mu, "tau": tau, "stage": list(STAGES)}
        found = self._sampled(data[0], prior, grids[0], rng) if self.sweeps else {}
        if found:
            coords["parameter"] = ["mean", "precision"]
        return {
            "bound": ("points guess repetition", np.array(history)[:, :, -1]),
            "bound_history": ("points guess half_step repetition", np.array(history)[:, :, :-1]),
            "dependence": ("points checked", [[g.information for g in row] for row in grids]),
            "posterior": ("tau mu", first.density[::3, ::3].T),
            "factorised": ("stage tau mu", factors),
            **found,
        }

    def _sampled(
        self, data: Data, prior: Prior, grids: list[OnGrid], rng: Generator
    ) -> dict[str, Any]:
        """Gibbs sampling of the smallest data sets against their grids."""
        some = len(grids)
        samples = gaussian_gamma.gibbs(data, prior, self.sweeps, rng)[..., :some]
        kept = samples[self.sweeps // 10 :]
        kept = kept[: len(kept) // BATCHES * BATCHES].reshape(BATCHES, -1, 2, some).mean(1)
        exact = [[g.mass.sum(1) @ g.mu, g.mass.sum(0) @ g.tau] for g in grids]
        along = "parameter checked"
        return {
            "gibbs_mean": (along, kept.mean(0)),
            "gibbs_error": (along, kept.std(0, ddof=1) / np.sqrt(BATCHES)),
            "exact_mean": (along, np.array(exact).T),
        }


def _factorised(q: Factors, mu: Floats, tau: Floats) -> Floats:
    """The density q(mu) q(tau) of the first data set, shape (tau, mu)."""
    of_mu = norm(q.mean[0], q.precision[0] ** -0.5).pdf(mu)
    return np.outer(gamma(q.a[0], scale=1 / q.b[0]).pdf(tau), of_mu)
