r"""Filters of a one-dimensional state against the exact one (PRML 13.3.4, Ghahramani 5).

    linear     z_n = a z_{n-1} + N(0, q),    y_n = z_n + N(0, r)
    student    the same, with Student's noise of three degrees of freedom and of variance r
    growth     a population that is seen by its square, which hides the sign

The exact filter sums over a grid. In the linear systems the extended filter is the Kalman filter.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator, default_rng

from experiments.contract.outcome import Axis, Outcome, Quantity, axis, over
from experiments.contract.study import Study, knob
from models.probability.gaussian import log_density_1d
from models.state_space.grid_filter import GridFiltered
from models.state_space.kalman import Gaussian, autoregression
from models.state_space.nonlinear_examples import growth_system
from models.state_space.nonlinear_filters import (
    NonlinearSystem,
    Weight,
    extended_filter,
    linear_system,
    on_grid,
    simulate,
    state_space,
    unscented_filter,
)
from models.state_space.particle_filter import ParticleFiltered, StateSpace, bootstrap_filter
from models.state_space.unscented import Scaling
from models.types import Floats

Found = dict[str, Quantity]
GAUSSIAN = axis("gaussian", ["extended", "unscented"])
FILTERS = axis("filter", ["exact", "extended", "unscented", "no data"])


@dataclass
class Filters(Study):
    """Particles, tangents and sigma points where beliefs may have long tails or two modes."""

    headline = {
        "particle_rmse": "first(last(particle_rmse, over='particles'))",
        "extended_rmse": "first(rmse_to_exact[:, 'extended'])",
        "unscented_rmse": "first(rmse_to_exact[:, 'unscented'])",
    }

    systems: list[str] = knob(
        ["linear", "student"], "systems to filter; figures show a series of the first",
        choices=("linear", "student", "growth"), distinct=True,
    )  # fmt: skip
    a: float = knob(0.9, "how much of the state a linear step keeps", above=-1, below=1)
    state_variance: float = knob(0.5, "q, of the state's noise", at_least=0.01, at_most=50)
    noise_variance: float = knob(0.5, "r, of the observations' noise", at_least=0.05)
    steps: int = knob(100, "length of a series", at_least=3, at_most=2000)
    series: int = knob(10, "series, each with filters of its own", at_least=1, at_most=500)
    particles: list[int] = knob(
        [10, 100, 1000, 10_000], "sizes of the filter", at_least=2, at_most=100_000, distinct=True
    )
    threshold: float = knob(
        1.0, "share of effective particles below which they are resampled", at_least=0, at_most=1
    )
    grid: int = knob(401, "points of the exact filter", at_least=101, at_most=5001)
    shown_step: int | None = knob(
        None, "the step before the one that is shown; by default the least Gaussian", at_least=1
    )
    shown_particles: int = knob(14, "particles that are shown", at_least=2, at_most=100_000)

    def problems(self) -> Iterator[str]:
        if self.shown_step is not None and self.shown_step >= self.steps:
            yield f"study.shown_step={self.shown_step}; allowed: below study.steps={self.steps}"
        if self.particles != sorted(self.particles) or len(self.particles) < 2:
            yield f"study.particles={self.particles}; allowed: two or more, ascending"

    def run(self, rng: Generator) -> Outcome:
        parts: list[Found] = []
        shown: Found = {}
        for name in self.systems:
            system = self.system(name)
            z, y = self.data(name, rng)
            model = self.model(name, y)
            exact = self.exact(name, model.log_weight)
            passed = extended_filter(system, y), unscented_filter(system, y, Scaling())
            gaussians = [found.filtered for found in passed]
            parts.append(self._beliefs(name, z, exact, gaussians))
            parts[-1] |= self._particles(model, exact, rng)
            shown = shown or {
                **self._step(name, model, exact, rng),
                "state": self.step.of(z[0]),
                "density": over(exact.density[0], self.step, axis("z", exact.points)),
                "gaussian_mean": over([g.mean[0, :, 0] for g in gaussians], GAUSSIAN, self.step),
                "gaussian_variance": over(
                    [g.cov[0, :, 0, 0] for g in gaussians], GAUSSIAN, self.step
                ),
            }
        systems = axis("system", self.systems)
        stacked = {
            name: over([part[name].values for part in parts], systems, *first.axes)
            for name, first in parts[0].items()
        }
        return Outcome(**stacked, **shown)

    @property
    def step(self) -> Axis:
        return axis("step", np.arange(self.steps) + 1)

    def system(self, name: str) -> NonlinearSystem:
        if name == "growth":
            return growth_system(self.state_variance, self.noise_variance)
        return linear_system(autoregression(self.a, self.state_variance, self.noise_variance))

    def data(self, name: str, rng: Generator) -> tuple[Floats, Floats]:
        """States (series, steps), and observations (series, steps, 1)."""
        z, y = simulate(self.system(name), self.steps, rng, (self.series,))
        if name == "student":
            y = z + rng.standard_t(3, z.shape) * np.sqrt(self.noise_variance / 3)
        return z[..., 0], y

    def model(self, name: str, y: Floats) -> StateSpace:
        """The system and its data, as the particle filter asks for them."""
        gaussian, r = state_space(self.system(name), y), self.noise_variance
        if name != "student":
            return gaussian
        level = np.log(2 / (np.pi * np.sqrt(r)))
        return gaussian._replace(
            log_weight=lambda n, z: level - 2 * np.log1p((y[..., n, :] - z[..., 0]) ** 2 / r)
        )

    def exact(self, name: str, log_weight: Weight) -> GridFiltered:
        system = self.system(name)
        reach = 6.5 * np.sqrt(system.V0[0, 0])
        if name == "growth":
            reach = 28 + 4 * np.sqrt(self.state_variance)
        points = np.linspace(-reach, reach, self.grid)
        return on_grid(system, points, log_weight, self.steps)

    def _beliefs(
        self, name: str, z: Floats, exact: GridFiltered, gaussians: list[Gaussian]
    ) -> Found:
        """The shape of the exact beliefs, and errors of the means of others."""
        blind = self.exact(name, lambda n, z: 0 * z[:, 0])
        means = [exact.mean, *(g.mean[..., 0] for g in gaussians), blind.mean]
        places = axis("series", self.series), self.step
        return {
            "nats_from_gaussian": over(exact.nats_from_gaussian, *places),
            "modes": over(exact.modes, *places),
            "exact_sd": Quantity(np.sqrt(exact.variance.mean())),
            "rmse": FILTERS.of([_rms(mean - z) for mean in means]),
            "rmse_to_exact": FILTERS.of([_rms(mean - exact.mean) for mean in means]),
            "median_error": FILTERS.of([_median(mean - exact.mean) for mean in means]),
        }

    def _particles(self, model: StateSpace, exact: GridFiltered, rng: Generator) -> Found:
        """Filters of all sizes: errors of their means, and the weights they end with."""
        found: dict[str, list[float]] = {}
        for L in self.particles:
            passed = self._sampled(model, self.steps, L, rng)
            off, W = passed.mean[..., 0] - exact.mean, passed.W
            fresh = np.exp(model.log_weight(self.steps - 1, passed.z))
            fresh /= fresh.sum(-1, keepdims=True)  # 13.118
            for name, value in {
                "particle_rmse": _rms(off),
                "particle_median_error": _median(off),  # which a jump that all miss cannot decide
                "least_weight": W.min(),
                "largest_weight": W.max(),
                "weight_sum_error": np.abs(W.sum(-1) - 1).max(),
                "likelihood_share_error": np.abs(W / fresh - 1).max(),
            }.items():
                found.setdefault(name, []).append(float(value))
        size = axis("particles", self.particles)
        return {name: size.of(values) for name, values in found.items()} | {
            f"{name}_rate": Quantity(np.polyfit(np.log(size.values), np.log(found[name]), 1)[0])
            for name in ("particle_rmse", "particle_median_error")  # the power of L they fall with
        }

    def _step(self, name: str, model: StateSpace, exact: GridFiltered, rng: Generator) -> Found:
        """One step of a filter on the first series, from the same stream twice."""
        seed, n, L = int(rng.integers(2**32)), self.shown_step, self.shown_particles
        if n is None:
            n = int(exact.nats_from_gaussian[0, 1:].argmax()) + 1
        before, after = (self._sampled(model, count, L, default_rng(seed)) for count in (n, n + 1))
        system, points = self.system(name), exact.points
        each = np.exp(log_density_1d(points, system.g(n, before.z[0]), system.Q[0, 0]))
        z, places = axis("z", points), (axis("time", ["before", "after"]), axis("particle", L))
        return {
            "shown_step": Quantity(n),
            "mixture": z.of(before.W[0] @ each),  # 13.119
            "likelihood": z.of(np.exp(model.log_weight(n, points[:, np.newaxis])[0])),
            "particle_state": over([part.z[0, :, 0] for part in (before, after)], *places),
            "particle_weight": over([part.W[0] for part in (before, after)], *places),
        }

    def _sampled(self, model: StateSpace, steps: int, L: int, rng: Generator) -> ParticleFiltered:
        size, threshold = (self.series,), self.threshold
        return bootstrap_filter(model, steps, L, rng, size=size, threshold=threshold)


def _rms(e: Floats) -> float:
    return float(np.sqrt(np.mean(e**2)))


def _median(e: Floats) -> float:
    return float(np.median(np.abs(e)))
