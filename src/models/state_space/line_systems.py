r"""One-dimensional systems with noise of any density, and the exact filter for them.

linear     z_n = a z_{n-1} + N(0, q),    y_n = z_n + N(0, r)
student    the same, with Student's noise of three degrees of freedom and of variance r
mixture    the same, with noise of variance r / 8, and one time in five of 9 r / 2: r in all
growth     a population that is observed through its square, which hides the sign
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bythebook.models.probability.gaussian import log_density_1d
from bythebook.models.state_space import nonlinear_filters
from bythebook.models.state_space.gaussian_sum import Emission
from bythebook.models.state_space.grid_filter import GridFiltered, grid_filter
from bythebook.models.state_space.kalman import Gaussian, autoregression
from bythebook.models.state_space.nonlinear_examples import growth_system
from bythebook.models.state_space.nonlinear_filters import (
    NonlinearSystem,
    extended_filter,
    linear_system,
    unscented_filter,
)
from bythebook.models.state_space.particle_filter import StateSpace
from bythebook.models.state_space.unscented import Scaling
from bythebook.models.types import Floats

LINE_SYSTEMS = ("linear", "student", "mixture", "growth")


class Noise(NamedTuple):
    """Noise that is not Gaussian."""

    draw: Callable[[tuple[int, ...], Generator], Floats]
    log_density: Callable[[Floats], Floats]


class Beliefs(NamedTuple):
    """Results of filters for S series of N steps."""

    exact: GridFiltered
    gaussians: dict[str, Gaussian]  # by filter: means and variances (S, N)


class LineSystem(NamedTuple):
    """A system of one state and one output, and the noise that its output really has."""

    system: NonlinearSystem  # with Gaussian noise of the same variance
    reach: float  # almost no state has a larger magnitude
    noise: Noise | None = None  # on a directly observed state; None: the system's own

    def simulate(self, n_steps: int, rng: Generator, n_series: int) -> tuple[Floats, Floats]:
        """States z (S, N, 1) and outputs y (S, N, 1)."""
        z, y = nonlinear_filters.simulate(self.system, n_steps, rng, (n_series,))
        return z, y if self.noise is None else z + self.noise.draw(z.shape, rng)

    def state_space(self, y: Floats) -> StateSpace:
        """The system and its data y (S, N, 1), in the form that particle and grid filters use."""
        model, noise = nonlinear_filters.state_space(self.system, y), self.noise
        if noise is None:
            return model
        return model._replace(log_weight=lambda n, z: noise.log_density(y[..., n, :] - z[..., 0]))

    def on_grid(
        self,
        log_weight: Callable[[int, Floats], Floats],
        n_steps: int,
        n_points: int,
        *,
        collapse: bool = False,
    ) -> GridFiltered:
        """The exact beliefs or, with `collapse`, those of assumed density filtering."""
        points = np.linspace(-self.reach, self.reach, n_points)
        return grid_filter(
            points,
            np.exp(log_density_1d(points, self.system.mu0[0], self.system.V0[0, 0])),
            self._transition,
            log_weight,
            n_steps,
            collapse=collapse,
        )

    def beliefs(self, y: Floats, n_points: int) -> Beliefs:
        """The exact beliefs given y (S, N, 1), and others.

        The others are those of Gaussian filters, of a belief that is collapsed to one Gaussian
        after every data point, and of a forecast without data.
        """
        log_weight, N = self.state_space(y).log_weight, y.shape[-2]
        exact = self.on_grid(log_weight, N, n_points)
        collapsed = self.on_grid(log_weight, N, n_points, collapse=True)
        blind = self.on_grid(lambda n, z: np.zeros(len(z)), N, n_points)
        forecast = (np.broadcast_to(part, y.shape[:-1]) for part in (blind.mean, blind.variance))
        by_tangent = extended_filter(self.system, y)
        by_points = unscented_filter(self.system, y, Scaling())
        gaussians = {
            "exact": Gaussian(exact.mean, exact.variance),
            "extended": _on_line(by_tangent.filtered),
            "unscented": _on_line(by_points.filtered),
            "collapsed": Gaussian(collapsed.mean, collapsed.variance),
            "no data": Gaussian(*forecast),
        }
        return Beliefs(exact, gaussians)

    def predicted(self, n: int, z: Floats, W: Floats, points: Floats) -> Floats:
        """The density of z_n at points (G,) predicted from L particles of z_{n-1} (PRML 13.119)."""
        return np.asarray(W @ self._transition(n, points, z))

    def _transition(self, n: int, z: Floats, before: Floats) -> Floats:
        return np.exp(log_density_1d(z, self.system.g(n, before), self.system.Q[0, 0]))


def _on_line(belief: Gaussian) -> Gaussian:
    """Means and variances (S, N) of a state of one component."""
    return Gaussian(belief.mean[..., 0], belief.cov[..., 0, 0])


def line_system(name: str, a: float, q: float, r: float) -> LineSystem:
    """One of LINE_SYSTEMS, with noise of variances q and r; the system "growth" has no a."""
    if name == "growth":
        return LineSystem(growth_system(q, r), reach=28 + 4 * np.sqrt(q))
    linear = linear_system(autoregression(a, q, r))
    noise = None
    if name != "linear":
        noise = student_noise(r) if name == "student" else mixture_noise(mixture_emission(r))
    return LineSystem(linear, reach=6.5 * np.sqrt(linear.V0[0, 0]), noise=noise)


def student_noise(variance: float) -> Noise:
    """Student's noise with three degrees of freedom."""
    level = np.log(2 / (np.pi * np.sqrt(variance)))
    return Noise(
        draw=lambda shape, rng: rng.standard_t(3, shape) * np.sqrt(variance / 3),
        log_density=lambda e: level - 2 * np.log1p(e**2 / variance),
    )


def mixture_emission(variance: float) -> Emission:
    """Two Gaussians about the state, a narrow one and, one time in five, a broad one."""
    Sigma = variance * np.array([1 / 8, 9 / 2]).reshape(2, 1, 1)
    return Emission(np.array([0.8, 0.2]), np.ones((2, 1, 1)), Sigma)


def mixture_noise(emission: Emission) -> Noise:
    """The noise of an emission whose Gaussians all have the state for their mean."""
    pi, v = emission.pi, emission.Sigma[:, 0, 0]

    def draw(shape: tuple[int, ...], rng: Generator) -> Floats:
        k = rng.choice(len(pi), p=pi, size=shape)
        return np.asarray(np.sqrt(v)[k] * rng.standard_normal(shape))

    def log_density(e: Floats) -> Floats:
        each = pi / np.sqrt(2 * np.pi * v) * np.exp(-0.5 * e[..., np.newaxis] ** 2 / v)
        return np.asarray(np.log(each.sum(-1)))

    return Noise(draw, log_density)
