"""Extended, iterated and unscented Kalman filters on a tracking problem (MLAPP 18.5)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.state_space import kalman
from bythebook.models.state_space.nonlinear_examples import walker_system
from bythebook.models.state_space.nonlinear_filters import (
    NonlinearSystem,
    extended_filter,
    simulate,
    state_space,
    unscented_filter,
)
from bythebook.models.state_space.particle_filter import bootstrap_filter
from bythebook.models.state_space.unscented import Scaling
from bythebook.models.types import Floats

FILTERS = ["extended", "iterated", "unscented"]
GROUP = 20  # walkers whose particles are tracked in one batch


@dataclass
class NonlinearTracking(Study):
    """Errors of nonlinear filters that track a walker by ranges to beacons (MLAPP 18.5)."""

    headline = {
        f"{name}_rmse": f"last(rmse[:, '{name}'])" for name in ("extended", "iterated", "unscented")
    }
    quantities = {
        "rmse": quantity(
            "root mean squared distance of the estimates from the walker", "setting filter"
        ),
        "squared_error_in_variances": quantity(
            "squared error divided by the variance that the filter states", "setting filter"
        ),
        "distance_from_start": quantity("mean distance of the walkers from the start", "setting"),
        "path_squared_error": quantity(
            "squared error of a walker's estimates, summed over the steps",
            "hard_setting method walker",
        ),
    }
    axes = {
        "setting": axis_of("standard deviation of the prior, or distance of the beacons"),
        "filter": axis_of("filter"),
        "hard_setting": axis_of("broadest prior, or nearest beacons"),
        "method": axis_of("filter"),
        "walker": axis_of("walker"),
    }

    priors: list[float] = knob(
        [0.5, 1.0, 2.0, 4.0], "standard deviation of the first position, beacons far", above=0
    )
    distances: list[float] = knob(
        [10.0, 5.0, 2.0, 1.0], "of the beacons from the start, prior narrow", above=0
    )
    speed: float = knob(1.0, "mean speed of the walkers", above=0)
    near_speed: float = knob(0.1, "that of walkers between near beacons, who stay there", above=0)
    noise: float = knob(0.5, "standard deviation of a range", above=0)
    steps: int = knob(20, "steps that are tracked", at_least=2, at_most=1000)
    series: int = knob(500, "walkers in each setting", at_least=10, at_most=20_000)
    linearisations: int = knob(5, "of the iterated filter", at_least=2, at_most=100)
    kappa: float = knob(2.0, "spread of the sigma points; alpha is 1 and beta 0", above=-4)
    particles: int = knob(2000, "of the sampling filter", at_least=2, at_most=100_000)
    particle_series: int = knob(50, "walkers it tracks in a hard setting", at_least=2, at_most=1000)

    def problems(self) -> Iterator[str]:
        if self.priors != sorted(set(self.priors)) or len(self.priors) < 2:
            yield f"study.priors={self.priors}; allowed: two or more, ascending"
        if self.distances != sorted(set(self.distances), reverse=True) or len(self.distances) < 2:
            yield f"study.distances={self.distances}; allowed: two or more, descending"
        if self.particle_series > self.series:
            yield f"study.particle_series={self.particle_series}; allowed: up to {self.series}"

    @property
    def settings(self) -> dict[str, tuple[float, float, float]]:
        """Distance, prior and speed: broader priors with the beacons far, then nearer beacons."""
        far, narrow, slow = self.distances[0], self.priors[0], self.near_speed
        broad = {f"prior {prior:g}": (far, prior, self.speed) for prior in self.priors}
        return broad | {f"distance {near:g}": (near, narrow, slow) for near in self.distances[1:]}

    def run(self, rng: Generator) -> Outcome:
        hard = [f"prior {self.priors[-1]:g}", f"distance {self.distances[-1]:g}"]
        rmse, in_variances, from_start, squares = [], [], [], []
        for name, (distance, prior, speed) in self.settings.items():
            system = walker_system(distance, self.noise, prior, speed=speed)
            z, y = simulate(system, self.steps, rng, (self.series,))
            from_start.append(np.linalg.norm(z[..., :2], axis=-1).mean())
            beliefs = [found.filtered for found in self._filters(system, y)]
            errors = [mean[..., :2] - z[..., :2] for mean, _ in beliefs]
            stated = [cov[..., :2, :2] for _, cov in beliefs]
            rmse.append([np.sqrt(np.square(e).sum(-1).mean()) for e in errors])
            in_variances.append(
                [kalman.in_variances(e, cov) for e, cov in zip(errors, stated, strict=True)]
            )
            if name in hard:
                S = self.particle_series
                both = errors[-1][:S], self._sampled(system, y[:S], rng)[..., :2] - z[:S, :, :2]
                squares.append([np.square(e).sum((-2, -1)) for e in both])
        return outcome(
            {
                "setting": list(self.settings),
                "filter": FILTERS,
                "hard_setting": hard,
                "method": ["unscented", "particles"],
                "walker": self.particle_series,
            },
            rmse=("setting filter", rmse),
            squared_error_in_variances=("setting filter", in_variances),
            distance_from_start=("setting", from_start),
            path_squared_error=("hard_setting method walker", squares),
        )

    def _filters(self, system: NonlinearSystem, y: Floats) -> list[kalman.Filtered]:
        return [
            extended_filter(system, y),
            extended_filter(system, y, self.linearisations),
            unscented_filter(system, y, Scaling(1, 0, self.kappa)),
        ]

    def _sampled(self, system: NonlinearSystem, y: Floats, rng: Generator) -> Floats:
        """Means of the particles, in groups of walkers that fit in the cache."""
        groups = [y[begin : begin + GROUP] for begin in range(0, len(y), GROUP)]
        found = [
            bootstrap_filter(
                state_space(system, some), self.steps, self.particles, rng, size=(len(some),)
            ).mean
            for some in groups
        ]
        return np.concatenate(found)
