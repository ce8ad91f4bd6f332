"""Extended, iterated and unscented Kalman filters, where they do well and poorly (MLAPP 18.5)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, Quantity, axis, over
from experiments.contract.study import Study, knob
from models.state_space.kalman import Filtered, Gaussian, kalman_filter
from models.state_space.kalman import simulate as simulate_linear
from models.state_space.nonlinear_examples import random_lds, walker_system
from models.state_space.nonlinear_filters import (
    NonlinearSystem,
    extended_filter,
    linear_system,
    simulate,
    state_space,
    unscented_filter,
)
from models.state_space.particle_filter import bootstrap_filter
from models.state_space.unscented import Scaling, sigma_points
from models.types import Floats

FILTERS = axis("filter", ["extended", "iterated", "unscented"])
EQUATION = axis("equation", ["printed", "corrected"])


@dataclass
class NonlinearTracking(Study):
    """A walker tracked by ranges: a broader prior, and functions that bend more (MLAPP 18.5)."""

    headline = {
        f"{name}_rmse": f"last(rmse[:, '{name}'])" for name in ("extended", "iterated", "unscented")
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
        rmse, worth, squares, effective = [], [], [], []
        for name, (distance, prior) in self.settings.items():
            system = walker_system(distance, self.noise, prior)
            z, y = simulate(system, self.steps, rng, (self.series,))
            beliefs = [passed.filtered for passed in self._filters(system, y)]
            errors = [mean[..., :2] - z[..., :2] for mean, _ in beliefs]
            rmse.append([np.sqrt(np.square(e).sum(-1).mean()) for e in errors])
            worth.append([_in_variances(e, g) for e, g in zip(errors, beliefs, strict=True)])
            if name in hard:
                S = self.particle_series
                model = state_space(system, y[:S])
                sampled = bootstrap_filter(model, self.steps, self.particles, rng, size=(S,))
                both = errors[-1][:S], sampled.mean[..., :2] - z[:S, :, :2]
                squares.append([np.square(e).sum((-2, -1)) for e in both])
                effective.append(sampled.ess[:, 0])
        places = axis("setting", list(self.settings)), FILTERS
        hardest, walker = axis("hard_setting", hard), axis("walker", self.particle_series)
        return Outcome(
            rmse=over(rmse, *places),
            squared_error_in_variances=over(worth, *places),
            path_squared_error=over(
                squares, hardest, axis("method", ["unscented", "particles"]), walker
            ),
            first_effective_particles=over(effective, hardest, walker),
            linear_difference=self._linear(rng),
            **self._equations(rng),
        )

    def _filters(self, system: NonlinearSystem, y: Floats) -> list[Filtered]:
        return [
            extended_filter(system, y),
            extended_filter(system, y, self.linearisations),
            unscented_filter(system, y, Scaling(1, 0, self.kappa)),
        ]

    def _linear(self, rng: Generator) -> Quantity:
        """Largest differences from the Kalman filter's beliefs, where the system is linear."""
        theta = random_lds(rng)
        _, x = simulate_linear(theta, self.steps, rng, (5,))
        right = kalman_filter(theta, x)

        def off(found: Filtered) -> float:
            pairs = zip((*found.filtered, found.log_c), (*right.filtered, right.log_c), strict=True)
            return max(float(np.abs(a - b).max()) for a, b in pairs)

        return FILTERS.of([off(found) for found in self._filters(linear_system(theta), x)])

    def _equations(self, rng: Generator) -> dict[str, Quantity]:
        """(18.107) and (18.82) as they stand, in a linear system, where the right values are known.

        The first pairs the points that went through g with those drawn anew for h; the second
        expands h about the predicted mean in y in place of z, which only makes sense where there
        are as many outputs as states.
        """
        A, Gamma, C, Sigma, mean, V = random_lds(rng)
        scaling = Scaling(1, 0, self.kappa)
        x, _, w_c = sigma_points(mean, V, scaling)
        passed = x @ A.T  # 18.100
        ahead = Gaussian(A @ mean, A @ V @ A.T + Gamma)  # 18.101, 18.102
        redrawn = sigma_points(*ahead, scaling).x  # 18.103
        seen = (redrawn - ahead.mean) @ C.T  # 18.104
        crosses = [((x - ahead.mean) * w_c[:, np.newaxis]).T @ seen for x in (passed, redrawn)]
        z = rng.multivariate_normal(ahead.mean, ahead.cov, 100)
        y = z @ C.T + rng.multivariate_normal(np.zeros(len(Sigma)), Sigma, 100)
        tangents = [C @ ahead.mean + (at - ahead.mean) @ C.T for at in (y, z)]
        exact = ahead.cov @ C.T
        return {
            "cross_covariance_error": EQUATION.of(
                [np.linalg.norm(cross - exact) / np.linalg.norm(exact) for cross in crosses]
            ),
            "tangent_error": EQUATION.of([np.abs(at - z @ C.T).max() for at in tangents]),
        }


def _in_variances(e: Floats, belief: Gaussian) -> float:
    """The mean square of errors (..., 2) of position, in units of the variance claimed."""
    white = np.linalg.solve(belief.cov[..., :2, :2], e[..., np.newaxis])[..., 0]
    return float(np.vecdot(e, white).mean() / 2)
