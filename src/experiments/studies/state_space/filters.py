"""Filters of a state on a line against the exact one (PRML 13.3.3, 13.3.4, Ghahramani 5).

The exact filter sums over a grid. In the linear systems the extended filter is the Kalman filter,
and with mixture noise the exact belief is a mixture of Gaussians whose number grows.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator, default_rng

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Axis, Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.state_space import gaussian_sum, particle_filter
from bythebook.models.state_space.grid_filter import GridFiltered
from bythebook.models.state_space.kalman import Gaussian, autoregression
from bythebook.models.state_space.line_systems import (
    LINE_SYSTEMS,
    LineSystem,
    line_system,
    mixture_emission,
)
from bythebook.models.state_space.particle_filter import ParticleFiltered, StateSpace, WeightCheck
from bythebook.models.types import Floats

Found = dict[str, Quantity]
_STARTS = np.array([[-4.0], [0.0], [4.0]])  # means of a mixture for the first state


@dataclass
class Filters(Study):
    """Particle, extended and unscented filters against the exact filter (PRML 13.3.3, 13.3.4)."""

    headline = {
        "particle_rmse": "first(last(particle_rmse, over='particles'))",
        "extended_rmse": "first(rmse_to_exact[:, 'extended'])",
        "unscented_rmse": "first(rmse_to_exact[:, 'unscented'])",
    }
    more_quantities = True
    quantities = {
        "particle_rmse": quantity(
            "root mean squared difference of the particle filter's means from the exact ones",
            "system particles",
        ),
        "rmse_to_exact": quantity(
            "root mean squared difference of a filter's means from the exact ones", "system filter"
        ),
        "nats_from_gaussian": quantity(
            "distance of the exact belief from a Gaussian", "system series step", unit="nats"
        ),
        "modes": quantity("modes of the exact belief", "system series step"),
        "log_likelihood": quantity("log likelihood of a series", "system way series", unit="nats"),
        "exact_sd": quantity("mean standard deviation of the exact belief", "system"),
        "rmse": quantity(
            "root mean squared distance of a filter's means from the states", "system filter"
        ),
        "median_error": quantity(
            "median distance of a filter's means from the exact ones", "system filter"
        ),
        "particle_median_error": quantity(
            "median distance of the particle filter's means from the exact ones", "system particles"
        ),
        "weight_sum_error": quantity(
            "largest distance of the sum of the weights from one", "system particles"
        ),
        "particle_log_likelihood": quantity(
            "log likelihood of a series by the particle filter",
            "system particles series",
            unit="nats",
        ),
        "shown_step": quantity("step of the figure"),
        "density": quantity("density of the exact belief", "step z"),
        "state": quantity("state of the first series", "step"),
        "datum": quantity("observation of the first series", "step"),
        "particle_state": quantity("state of a particle", "time particle | particle"),
        "particle_weight": quantity("weight of a particle", "time particle | particle"),
        "belief_mean": quantity("mean of a belief", "filter step"),
        "belief_variance": quantity("variance of a belief", "filter step"),
        "components": quantity("components of the exact mixture", "model step"),
        "sum_mean": quantity("mean of the mixture's belief", "model step"),
        "sum_variance": quantity("variance of the mixture's belief", "model step"),
        "grid_mean": quantity("mean of the belief on a grid", "step"),
        "grid_variance": quantity("variance of the belief on a grid", "step"),
        "density_gap": quantity(
            "largest difference between the mixture's density and that on a grid", "step"
        ),
        "exact_density": quantity("density of the exact mixture", "z"),
        "collapsed_density": quantity("density of the collapsed mixture", "z"),
    }

    systems: list[str] = knob(
        ["linear", "student"], "systems to filter; figures show a series of the first",
        choices=LINE_SYSTEMS, distinct=True,
    )  # fmt: skip
    a: float = knob(0.9, "factor of the state in a linear step", above=-1, below=1)
    state_variance: float = knob(0.5, "q, of the state's noise", at_least=0.01, at_most=50)
    noise_variance: float = knob(0.5, "r, of the observations' noise", at_least=0.05)
    steps: int = knob(100, "length of a series", at_least=3, at_most=2000)
    series: int = knob(10, "series, each with its own filters", at_least=1, at_most=500)
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
        if self.systems[:1] == ["mixture"] and self.steps > 14:
            yield f"study.steps={self.steps} makes 2^{self.steps} Gaussians; allowed: 14 at most"

    def run(self, rng: Generator) -> Outcome:
        parts: list[Found] = []
        shown: Found = {}
        for name in self.systems:
            line = line_system(name, self.a, self.state_variance, self.noise_variance)
            z, y = line.simulate(self.steps, rng, self.series)
            model = line.state_space(y)
            exact, beliefs, ahead, worth = line.beliefs(y, self.grid)
            sampled = [self._sampled(model, self.steps, L, rng) for L in self.particles]
            means = [belief.mean for belief in beliefs.values()]
            kinds, places = axis("filter", list(beliefs)), (axis("series", self.series), self.step)
            parts.append({
                "nats_from_gaussian": over(exact.nats_from_gaussian, *places),
                "modes": over(exact.modes, *places),
                "log_likelihood": over(list(worth.values()), axis("way", list(worth)), places[0]),
                "exact_sd": Quantity(np.sqrt(exact.variance.mean())),
                "likelihood_mass": Quantity(self._mass(model, y[0, 0, 0])),
                "rmse": kinds.of([_rms(mean - z[..., 0]) for mean in means]),
                "rmse_to_exact": kinds.of([_rms(mean - exact.mean) for mean in means]),
                "median_error": kinds.of([_median(mean - exact.mean) for mean in means]),
                **self._particles(model, exact, sampled),
            })  # fmt: skip
            if not shown and name == "mixture":
                shown = self._components(y[0], exact, sampled[0])
            elif not shown:
                before = axis("ahead_of", list(ahead)), self.step
                shown = self._step(line, model, exact, rng) | {
                    "state": self.step.of(z[0, :, 0]),
                    "datum": self.step.of(y[0, :, 0]),
                    "ahead_mean": over([belief.mean[0] for belief in ahead.values()], *before),
                    "ahead_variance": over([belief.cov[0] for belief in ahead.values()], *before),
                    **self._passed(line, beliefs["unscented"]),
                    "belief_mean": over([mean[0] for mean in means], kinds, self.step),
                    "belief_variance": over([b.cov[0] for b in beliefs.values()], kinds, self.step),
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

    def _passed(self, line: LineSystem, belief: Gaussian) -> Found:
        """Image of 0 under a step, and the three sigma points of the previous belief (18.100)."""
        g, (mean, variance) = line.system.g, (part[0, :-1, np.newaxis] for part in belief)
        points = mean + np.sqrt(3 * variance) * np.array([0.0, 1.0, -1.0])
        later = [g(n + 1, row[:, np.newaxis])[:, 0] for n, row in enumerate(points)]
        return {
            "push": self.step.of([g(n, np.zeros(1))[0] for n in range(self.steps)]),
            "passed_point": over([np.full(3, np.nan), *later], self.step, axis("point", 3)),
        }

    def _mass(self, model: StateSpace, datum: float) -> float:
        """The integral of p(x_1 | z) over z, one where the noise is added to the state."""
        z = datum + np.linspace(-40, 40, 8001) * np.sqrt(self.noise_variance)
        return float(np.trapezoid(np.exp(model.log_weight(0, z[:, np.newaxis])[0]), z))

    def _sampled(self, model: StateSpace, steps: int, L: int, rng: Generator) -> ParticleFiltered:
        return particle_filter.bootstrap_filter(
            model, steps, L, rng, size=(self.series,), threshold=self.threshold
        )

    def _particles(
        self, model: StateSpace, exact: GridFiltered, sampled: list[ParticleFiltered]
    ) -> Found:
        """Particle filters of all sizes: errors of their means, and their final weights."""
        off = [passed.mean[..., 0] - exact.mean for passed in sampled]
        checks = [particle_filter.check_weights(model, passed) for passed in sampled]
        errors = {
            "particle_rmse": [_rms(e) for e in off],
            "particle_median_error": [_median(e) for e in off],  # not decided by jumps all miss
        }
        found = errors | dict(zip(WeightCheck._fields, zip(*checks, strict=True), strict=True))
        size, series = axis("particles", self.particles), axis("series", self.series)
        rates = {
            f"{name}_rate": Quantity(np.polyfit(np.log(size.values), np.log(values), 1)[0])
            for name, values in errors.items()  # the power of L they fall with
        }
        worth = over([passed.log_likelihood for passed in sampled], size, series)
        by_size = {name: size.of(values) for name, values in found.items()}
        return by_size | rates | {"particle_log_likelihood": worth}

    def _step(
        self, line: LineSystem, model: StateSpace, exact: GridFiltered, rng: Generator
    ) -> Found:
        """One step of a filter on the first series, from the same stream twice."""
        seed, n, L = int(rng.integers(2**32)), self.shown_step, self.shown_particles
        if n is None:
            n = int(exact.nats_from_gaussian[0, 1:].argmax()) + 1
        both = [self._sampled(model, count, L, default_rng(seed)) for count in (n, n + 1)]
        places = axis("time", ["before", "after"]), axis("particle", L)
        z = axis("z", exact.points)
        return {
            "shown_step": Quantity(n),
            "density": over(exact.density[0], self.step, z),
            "mixture": z.of(line.predicted(n, both[0].z[0], both[0].W[0], exact.points)),
            "likelihood": z.of(np.exp(model.log_weight(n, exact.points[:, np.newaxis])[0])),
            "particle_state": over([part.z[0, :, 0] for part in both], *places),
            "particle_weight": over([part.W[0] for part in both], *places),
            "particle_mean": places[0].of([part.mean[0, -1, 0] for part in both]),
            "particle_worth": Quantity(both[1].log_c[0, -1]),  # ln c of the next observation
        }

    def _components(self, y: Floats, exact: GridFiltered, sampled: ParticleFiltered) -> Found:
        """Number of Gaussians in the exact beliefs of a series, and the last belief."""
        theta = autoregression(self.a, self.state_variance, self.noise_variance)
        emission = mixture_emission(self.noise_variance)
        kinds = gaussian_sum.beliefs_by_mixture(theta, emission, _STARTS, y)
        start = gaussian_sum.Belief(np.zeros(1), theta.mu0[np.newaxis], theta.V0[np.newaxis])
        whole = gaussian_sum.gaussian_sum_filter(start, theta.A, theta.Gamma, emission, y)
        counts = [[gaussian_sum.distinct(belief) for belief in kind] for kind in kinds.values()]
        growing, particle = kinds["mixture_emission"], axis("particle", self.particles[0])
        by_sum, last = [gaussian_sum.density(b, exact.points) for b in growing], growing[-1]
        one = gaussian_sum.collapse(last)
        z = axis("z", one.mean[0, 0] + np.linspace(-3.5, 3.5, 301))
        model = axis("model", list(kinds)), self.step
        one_by_one = [[gaussian_sum.moments(belief) for belief in kind] for kind in kinds.values()]
        return {
            "components": over(counts, *model),
            "datum": self.step.of(y[:, 0]),
            "sum_mean": over([[b.mean[0] for b in row] for row in one_by_one], *model),
            "sum_variance": over([[b.cov[0, 0] for b in row] for row in one_by_one], *model),
            "grid_mean": self.step.of(exact.mean[0]),
            "grid_variance": self.step.of(exact.variance[0]),
            "log_likelihood_of_sum": Quantity(whole.log_c.sum()),  # of the first series
            "density_gap": self.step.of(np.abs(by_sum - exact.density[0]).max(axis=1)),
            "exact_density": z.of(gaussian_sum.density(last, z.values)),
            "collapsed_density": z.of(gaussian_sum.density(one, z.values)),
            "particle_state": particle.of(sampled.z[0, :, 0]),
            "particle_weight": particle.of(sampled.W[0]),
        }


def _rms(e: Floats) -> float:
    return float(np.sqrt(np.mean(e**2)))


def _median(e: Floats) -> float:
    return float(np.median(np.abs(e)))
