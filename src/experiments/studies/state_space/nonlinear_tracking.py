"""Extended, iterated and unscented Kalman filters in easy and hard settings (MLAPP 18.5)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.state_space import kalman
from bythebook.models.state_space.misprints import SIDES, cross_covariances, tangents
from bythebook.models.state_space.nonlinear_examples import random_lds, walker_system
from bythebook.models.state_space.nonlinear_filters import (
    NonlinearSystem,
    extended_filter,
    linear_system,
    simulate,
    state_space,
    unscented_filter,
)
from bythebook.models.state_space.particle_filter import bootstrap_filter
from bythebook.models.state_space.unscented import Scaling
from bythebook.models.types import Floats

FILTERS = axis("filter", ["extended", "iterated", "unscented"])
SIDE = axis("side", SIDES)
GROUP = 20  # walkers whose particles are tracked in one batch


@dataclass
class NonlinearTracking(Study):
    """Errors of nonlinear filters that track a walker by ranges to beacons (MLAPP 18.5)."""

    headline = {
        f"{name}_rmse": f"last(rmse[:, '{name}'])" for name in ("extended", "iterated", "unscented")
    }
    more_quantities = True
    quantities = {
        "rmse": quantity(
            "root mean squared distance of the estimates from the walker", "setting filter"
        ),
        "squared_error_in_variances": quantity(
            "squared error divided by the variance that the filter states", "setting filter"
        ),
        "jacobian_error": quantity("difference between a Jacobian and differences", "function"),
        "linear_difference": quantity(
            "largest difference from the Kalman filter on a linear system", "filter"
        ),
        "drawn_variance": quantity("variance of drawn noise", "setting of"),
    }

    priors: list[float] = knob(
        [0.5, 1.0, 2.0, 4.0], "standard deviation of the first position, beacons far", above=0
    )
    distances: list[float] = knob(
        [10.0, 5.0, 2.0, 1.0], "of the beacons from the start, prior narrow", above=0
    )
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
    def settings(self) -> dict[str, tuple[float, float]]:
        """Distance and prior: first broader priors with the beacons far, then nearer beacons."""
        far, narrow = self.distances[0], self.priors[0]
        broad = {f"prior {prior:g}": (far, prior) for prior in self.priors}
        return broad | {f"distance {near:g}": (near, narrow) for near in self.distances[1:]}

    def run(self, rng: Generator) -> Outcome:
        hard = [f"prior {self.priors[-1]:g}", f"distance {self.distances[-1]:g}"]
        rmse, worth, squares, effective, drawn = [], [], [], [], []
        for name, (distance, prior) in self.settings.items():
            system = walker_system(distance, self.noise, prior)
            z, y = simulate(system, self.steps, rng, (self.series,))
            drawn.append(_variances(z, y, distance))
            beliefs = [passed.filtered for passed in self._filters(system, y)]
            errors = [mean[..., :2] - z[..., :2] for mean, _ in beliefs]
            claimed = [cov[..., :2, :2] for _, cov in beliefs]
            rmse.append([np.sqrt(np.square(e).sum(-1).mean()) for e in errors])
            worth.append(
                [kalman.in_variances(e, cov) for e, cov in zip(errors, claimed, strict=True)]
            )
            if name in hard:
                S = self.particle_series
                mean, ess = self._sampled(system, y[:S], rng)
                both = errors[-1][:S], mean[..., :2] - z[:S, :, :2]
                squares.append([np.square(e).sum((-2, -1)) for e in both])
                effective.append(ess[:, 0])
        theta = random_lds(rng)
        _, x = kalman.simulate(theta, self.steps, rng, (5,))
        linear, right = self._filters(linear_system(theta), x), kalman.kalman_filter(theta, x)
        another = random_lds(rng)
        places = axis("setting", list(self.settings)), FILTERS
        state, output = (axis(name, [1, 2, 3]) for name in ("state", "output"))
        hardest, walker = axis("hard_setting", hard), axis("walker", self.particle_series)
        return Outcome(
            rmse=over(rmse, *places),
            squared_error_in_variances=over(worth, *places),
            path_squared_error=over(
                squares, hardest, axis("method", ["unscented", "particles"]), walker
            ),
            first_effective_particles=over(effective, hardest, walker),
            drawn_variance=over(drawn, places[0], axis("of", DRAWN)),
            jacobian_error=axis("function", ["g", "h"]).of(_jacobian_errors(system, z[:50, 2])),
            linear_difference=FILTERS.of([_largest_difference(found, right) for found in linear]),
            cross_covariance=over(cross_covariances(another, self._scaling), SIDE, state, output),
            tangent=over(tangents(another, rng), SIDE, axis("draw", 100), output),
        )

    @property
    def _scaling(self) -> Scaling:
        return Scaling(1, 0, self.kappa)

    def _sampled(self, system: NonlinearSystem, y: Floats, rng: Generator) -> list[Floats]:
        """Mean and effective sample size of the particles, in groups that fit in the cache."""
        groups = [y[begin : begin + GROUP] for begin in range(0, len(y), GROUP)]
        found = [
            bootstrap_filter(
                state_space(system, some), self.steps, self.particles, rng, size=(len(some),)
            )
            for some in groups
        ]
        return [
            np.concatenate(parts) for parts in zip(*((f.mean, f.ess) for f in found), strict=True)
        ]

    def _filters(self, system: NonlinearSystem, y: Floats) -> list[kalman.Filtered]:
        return [
            extended_filter(system, y),
            extended_filter(system, y, self.linearisations),
            unscented_filter(system, y, self._scaling),
        ]


STATE = ("x", "y", "heading", "speed")
DRAWN = (*(f"first_{name}" for name in STATE), *STATE, "range_1", "range_2", "range_3")


def _variances(z: Floats, y: Floats, distance: float) -> list[float]:
    """Mean squares of first states, of what each step adds to its mean, and of errors of ranges.

    The walk and the ranges are written out here, apart from the system that drew them.
    """
    before, after = z[:, :-1], z[:, 1:]
    heading, speed = before[..., 2], before[..., 3]
    onward = np.stack([speed * np.cos(heading), speed * np.sin(heading), 0 * speed, 0 * speed], -1)
    first, step = z[:, 0] - [0.0, 0.0, 0.0, 1.0], after - before - onward
    angle = np.radians([90, 210, 330])
    ranges = np.hypot(z[..., :1] - distance * np.cos(angle), z[..., 1:2] - distance * np.sin(angle))
    return [*np.mean(first**2, 0), *np.mean(step**2, (0, 1)), *np.mean((y - ranges) ** 2, (0, 1))]


def _jacobian_errors(system: NonlinearSystem, z: Floats, step: float = 1e-5) -> list[float]:
    """Errors of the derivatives of g and h at states z (W, 4), by central differences."""
    moves = step * np.eye(z.shape[-1])
    pairs = ((lambda at: system.g(1, at), system.G(1, z)), (system.h, system.H(z)))
    return [
        np.abs(np.stack([f(z + e) - f(z - e) for e in moves], -1) / (2 * step) - J).max()
        for f, J in pairs
    ]


def _largest_difference(a: kalman.Filtered, b: kalman.Filtered) -> float:
    """The largest difference between the beliefs and likelihoods of two filters."""
    pairs = zip((*a.filtered, a.log_c), (*b.filtered, b.log_c), strict=True)
    return max(float(np.abs(one - other).max()) for one, other in pairs)
