"""How many Gaussians an exact belief has, where emission or start are mixtures (PRML 13.3.3)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, axis, over
from experiments.contract.study import Study, knob
from models.state_space.gaussian_sum import (
    Belief,
    Emission,
    collapse,
    density,
    distinct,
    gaussian_sum_filter,
    moments,
    predict,
)
from models.state_space.kalman import LDS, autoregression, simulate
from models.state_space.nonlinear_filters import linear_system, state_space
from models.state_space.particle_filter import StateSpace, bootstrap_filter
from models.types import Floats

Reduce = Callable[[Belief], Belief]
_MOST = 20_000  # components


@dataclass
class MixtureGrowth(Study):
    """An autoregression seen through noise that is a mixture of Gaussians (PRML 13.3.3)."""

    headline = {
        "components_at_end": "last(components['mixture_emission'])",
        "particle_rmse": "rmse_to_exact['particles']",
        "collapsed_rmse": "rmse_to_exact['collapsed']",
        "kalman_rmse": "rmse_to_exact['kalman']",
    }

    a: float = knob(0.9, "how much of the state a step keeps", above=-1, below=1)
    state_variance: float = knob(0.5, "variance of the state's noise", above=0)
    weights: list[float] = knob([0.8, 0.2], "of the emission's K components", above=0)
    variances: list[float] = knob([0.25, 9.0], "of the emission's K components", above=0)
    start_means: list[float] = knob([-4.0, 0.0, 4.0], "of a mixture for the first state")
    steps: int = knob(10, "length of a series", at_least=2, at_most=1000)
    series: int = knob(20, "series, on which approximations are compared", at_least=1, at_most=200)
    particles: int = knob(1000, "of the sampling filter", at_least=2, at_most=100_000)

    def problems(self) -> Iterator[str]:
        K, many = len(self.weights), _MOST
        if len(self.variances) != K or K < 2:
            yield f"study.variances={self.variances}; allowed: two or more, one for each weight"
        if abs(sum(self.weights) - 1) > 1e-9:
            yield f"study.weights={self.weights}; allowed: a sum of 1"
        if K**self.steps > many:
            yield f"study.steps={self.steps}: {K}^{self.steps} components; allowed: {many} at most"

    def run(self, rng: Generator) -> Outcome:
        variance = float(np.dot(self.weights, self.variances))
        lds = autoregression(self.a, self.state_variance, variance)  # the same variance
        K, J = len(self.weights), len(self.start_means)
        sigma2 = np.array(self.variances).reshape(K, 1, 1)
        mixed = Emission(np.array(self.weights), np.ones((K, 1, 1)), sigma2)
        one = Emission(np.ones(1), lds.C[np.newaxis], lds.Sigma[np.newaxis])
        start = Belief(np.zeros(1), lds.mu0[np.newaxis], lds.V0[np.newaxis])
        many = Belief(
            np.full(J, -np.log(J)), np.array([self.start_means]).T, np.tile(lds.V0, (J, 1, 1))
        )

        def beliefs(
            first: Belief, emission: Emission, x: Floats, reduce: Reduce = lambda b: b
        ) -> list[Belief]:
            return gaussian_sum_filter(first, lds.A, lds.Gamma, emission, x, reduce).filtered

        x = self._data(lds, rng)
        exact = [beliefs(start, mixed, row) for row in x]
        gaussian_first = beliefs(start, one, x[0, :1])
        second = predict(gaussian_first[0], lds.A, lds.Gamma)
        kinds = {
            "mixture_emission": exact[0],
            "gaussian_first": gaussian_first + beliefs(second, mixed, x[0, 1:]),
            "mixture_start": beliefs(many, one, x[0]),
            "gaussian": beliefs(start, one, x[0]),
        }
        sampled = bootstrap_filter(
            self.model(lds, x), self.steps, self.particles, rng, size=(self.series,)
        )
        means = {
            "particles": sampled.mean[..., 0],
            "collapsed": _means([beliefs(start, mixed, row, collapse) for row in x]),
            "kalman": _means([beliefs(start, one, row) for row in x]),
        }
        right = _means(exact)
        step, particle = axis("step", np.arange(self.steps) + 1), axis("particle", self.particles)
        z = axis("z", right[0, -1] + np.linspace(-3.5, 3.5, 301))
        return Outcome(
            components=over(
                [[distinct(belief) for belief in kind] for kind in kinds.values()],
                axis("model", list(kinds)),
                step,
            ),
            rmse_to_exact=axis("filter", list(means)).of(
                [np.sqrt(np.mean((mean - right) ** 2)) for mean in means.values()]
            ),
            exact_density=z.of(density(exact[0][-1], z.values)),
            collapsed_density=z.of(density(collapse(exact[0][-1]), z.values)),
            particle_state=particle.of(sampled.z[0, :, 0]),
            particle_weight=particle.of(sampled.W[0]),
        )

    def _data(self, lds: LDS, rng: Generator) -> Floats:
        """Observations (series, steps, 1)."""
        z, _ = simulate(lds, self.steps, rng, (self.series,))
        k = rng.choice(len(self.weights), p=self.weights, size=z.shape)
        return np.asarray(z + np.sqrt(self.variances)[k] * rng.standard_normal(z.shape))

    def model(self, lds: LDS, x: Floats) -> StateSpace:
        """The system with the mixture's density, as the particle filter asks for it."""
        pi, v = np.array(self.weights), np.array(self.variances)

        def log_weight(n: int, z: Floats) -> Floats:
            e = x[:, n, :, np.newaxis] - z  # (series, L, 1)
            each = pi / np.sqrt(2 * np.pi * v) * np.exp(-0.5 * e**2 / v)
            return np.asarray(np.log(each.sum(-1)))

        return state_space(linear_system(lds), x)._replace(log_weight=log_weight)


def _means(filtered: list[list[Belief]]) -> Floats:
    """The means of beliefs, shape (series, steps)."""
    return np.array([[moments(belief).mean[0] for belief in beliefs] for beliefs in filtered])
