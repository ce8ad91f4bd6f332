"""Filters of a state on a line against the exact one (PRML 13.3.3, 13.3.4, Ghahramani 5).

The exact filter sums over a grid. In the linear systems the extended filter is the Kalman filter,
and with mixture noise the exact belief is a mixture of Gaussians whose number grows.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator, default_rng

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.state_space import gaussian_sum, particle_filter
from bythebook.models.state_space.grid_filter import GridFiltered
from bythebook.models.state_space.kalman import autoregression
from bythebook.models.state_space.line_systems import (
    LINE_SYSTEMS,
    LineSystem,
    line_system,
    mixture_emission,
)
from bythebook.models.state_space.particle_filter import ParticleFiltered, StateSpace
from bythebook.models.types import Floats

_STARTS = np.array([[-4.0], [0.0], [4.0]])  # means of a mixture for the first state


@dataclass
class Filters(Study):
    """Particle, extended and unscented filters against the exact filter (PRML 13.3.3, 13.3.4)."""

    headline = {
        "particle_rmse": "first(last(particle_rmse, over='particles'))",
        "extended_rmse": "first(rmse_to_exact[:, 'extended'])",
        "unscented_rmse": "first(rmse_to_exact[:, 'unscented'])",
    }
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
        "exact_sd": quantity("mean standard deviation of the exact belief", "system"),
        "rmse": quantity(
            "root mean squared distance of a filter's means from the states", "system filter"
        ),
        "shown_step": quantity("step before the one that the densities belong to"),
        "density": quantity("density of the exact belief", "step z"),
        "mixture": quantity("density that the particles predict", "z", equation="PRML 13.119"),
        "likelihood": quantity("likelihood of a state", "z"),
        "state": quantity("state of the first series", "step"),
        "particle_state": quantity("state of a particle", "time particle | particle"),
        "particle_weight": quantity("weight of a particle", "time particle | particle"),
        "belief_mean": quantity("mean of a belief about the first series", "filter step"),
        "belief_variance": quantity("variance of a belief about the first series", "filter step"),
        "components": quantity("different Gaussians in the exact belief", "model step"),
        "sum_mean": quantity("mean of the sum of Gaussians", "step"),
        "grid_mean": quantity("mean of the belief on a grid", "step"),
        "exact_density": quantity("density of the last exact belief", "z"),
        "collapsed_density": quantity("Gaussian with the moments of the last belief", "z"),
    }
    axes = {
        "system": axis_of("system"),
        "particles": axis_of("number of particles"),
        "filter": axis_of("filter"),
        "series": axis_of("series"),
        "step": axis_of("step"),
        "z": axis_of("state"),
        "time": axis_of("before or after the step"),
        "particle": axis_of("particle"),
        "model": axis_of("where the model has a mixture of Gaussians"),
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
        rows: dict[str, list[Any]] = {}
        coords: dict[str, Any] = {
            "system": self.systems,
            "particles": self.particles,
            "series": self.series,
            "step": np.arange(1, self.steps + 1),
        }
        shown: dict[str, Any] = {}
        for name in self.systems:
            line = line_system(name, self.a, self.state_variance, self.noise_variance)
            z, y = line.simulate(self.steps, rng, self.series)
            model = line.state_space(y)
            exact, beliefs = line.beliefs(y, self.grid)
            sampled = [self._sampled(model, self.steps, L, rng) for L in self.particles]
            means = [belief.mean for belief in beliefs.values()]
            coords["filter"] = list(beliefs)
            one = {
                "nats_from_gaussian": exact.nats_from_gaussian,
                "modes": exact.modes,
                "exact_sd": np.sqrt(exact.variance.mean()),
                "rmse": [_rms(mean - z[..., 0]) for mean in means],
                "rmse_to_exact": [_rms(mean - exact.mean) for mean in means],
                "particle_rmse": [_rms(passed.mean[..., 0] - exact.mean) for passed in sampled],
            }
            for key, value in one.items():
                rows.setdefault(key, []).append(value)
            if not shown and name == "mixture":
                shown = self._components(y[0], exact, sampled[0], coords)
            elif not shown:
                shown = self._step(line, model, exact, rng, coords) | {
                    "state": ("step", z[0, :, 0]),
                    "belief_mean": ("filter step", [mean[0] for mean in means]),
                    "belief_variance": ("filter step", [b.cov[0] for b in beliefs.values()]),
                }
        layouts = {name: " ".join(self.quantities[name].dims) for name in rows}
        return outcome(coords, **{n: (layouts[n], v) for n, v in rows.items()}, **shown)

    def _sampled(self, model: StateSpace, steps: int, L: int, rng: Generator) -> ParticleFiltered:
        return particle_filter.bootstrap_filter(
            model, steps, L, rng, size=(self.series,), threshold=self.threshold
        )

    def _step(
        self,
        line: LineSystem,
        model: StateSpace,
        exact: GridFiltered,
        rng: Generator,
        coords: dict[str, Any],
    ) -> dict[str, Any]:
        """One step of a filter on the first series, from the same stream twice."""
        seed, n, L = int(rng.integers(2**32)), self.shown_step, self.shown_particles
        if n is None:
            n = int(exact.nats_from_gaussian[0, 1:].argmax()) + 1
        both = [self._sampled(model, count, L, default_rng(seed)) for count in (n, n + 1)]
        coords |= {"time": ["before", "after"], "particle": L, "z": exact.points}
        return {
            "shown_step": n,
            "density": ("step z", exact.density[0]),
            "mixture": ("z", line.predicted(n, both[0].z[0], both[0].W[0], exact.points)),
            "likelihood": ("z", np.exp(model.log_weight(n, exact.points[:, np.newaxis])[0])),
            "particle_state": ("time particle", [part.z[0, :, 0] for part in both]),
            "particle_weight": ("time particle", [part.W[0] for part in both]),
        }

    def _components(
        self, y: Floats, exact: GridFiltered, sampled: ParticleFiltered, coords: dict[str, Any]
    ) -> dict[str, Any]:
        """Number of Gaussians in the exact beliefs of a series, and the last belief."""
        theta = autoregression(self.a, self.state_variance, self.noise_variance)
        emission = mixture_emission(self.noise_variance)
        kinds = gaussian_sum.beliefs_by_mixture(theta, emission, _STARTS, y)
        growing = kinds["mixture_emission"]
        last, one = growing[-1], gaussian_sum.collapse(growing[-1])
        z = one.mean[0, 0] + np.linspace(-3.5, 3.5, 301)
        coords |= {"model": list(kinds), "particle": self.particles[0], "z": z}
        return {
            "components": (
                "model step",
                [[gaussian_sum.distinct(belief) for belief in kind] for kind in kinds.values()],
            ),
            "sum_mean": ("step", [gaussian_sum.moments(belief).mean[0] for belief in growing]),
            "grid_mean": ("step", exact.mean[0]),
            "exact_density": ("z", gaussian_sum.density(last, z)),
            "collapsed_density": ("z", gaussian_sum.density(one, z)),
            "particle_state": ("particle", sampled.z[0, :, 0]),
            "particle_weight": ("particle", sampled.W[0]),
        }


def _rms(e: Floats) -> float:
    return float(np.sqrt(np.mean(e**2)))
