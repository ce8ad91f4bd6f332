r"""The filter of a one-dimensional state on a grid: the integrals as sums, for any densities.

    p(z_n | x_1..x_{n-1}) = int p(z_n | z_{n-1}) p(z_{n-1} | x_1..x_{n-1}) dz_{n-1}
    p(z_n | x_1..x_n)     ~ p(x_n | z_n) p(z_n | x_1..x_{n-1})                        PRML 13.85

A sum over equal steps integrates a smooth density that vanishes at both ends to rounding, as soon
as the steps are smaller than the narrowest feature of either factor: this filter is the reference
for the estimates of other filters.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bythebook.models.probability.gaussian import log_density_1d
from bythebook.models.types import Floats, Ints


class GridFiltered(NamedTuple):
    """Densities on the grid."""

    points: Floats  # (G,)
    density: Floats  # (..., N, G) p(z_n | x_1..x_n)
    log_c: Floats  # (..., N) ln p(x_n | x_1..x_{n-1})

    @property
    def log_likelihood(self) -> Floats:
        return np.asarray(self.log_c.sum(-1))

    @property
    def mean(self) -> Floats:
        """E[z_n | x_1..x_n], shape (..., N)."""
        return self._integral(self.density, self.points)

    @property
    def variance(self) -> Floats:
        return self._integral(self.density, (self.points - self.mean[..., np.newaxis]) ** 2)

    @property
    def log_score(self) -> Floats:
        """The integral of p ln p, minus the entropy in nats, shape (..., N)."""
        p = self.density
        return self._integral(p, np.log(np.where(p > 0, p, 1.0)))

    @property
    def nats_from_gaussian(self) -> Floats:
        """The divergence of a belief from the Gaussian with its moments, shape (..., N)."""
        return np.asarray(self.log_score + 0.5 * np.log(2 * np.pi * np.e * self.variance))

    @property
    def modes(self) -> Ints:
        """The number of maxima of a belief that are at least a tenth of its highest, (..., N)."""
        p = self.density
        inside = p[..., 1:-1]
        peak = (inside > p[..., :-2]) & (inside >= p[..., 2:])
        return np.asarray((peak & (inside > 0.1 * p.max(-1, keepdims=True))).sum(-1))

    def _integral(self, p: Floats, f: Floats) -> Floats:
        return np.asarray(np.vecdot(p, f) * (self.points[1] - self.points[0]))


def grid_filter(
    points: Floats,
    prior: Floats,
    transition: Callable[[int, Floats, Floats], Floats],
    log_weight: Callable[[int, Floats], Floats],
    n_steps: int,
    *,
    collapse: bool = False,
) -> GridFiltered:
    """Filter on equally spaced `points`, from the density `prior` (G,) of z_1.

    `transition(n, z, before)` is the density of z_n given z_{n-1}, `log_weight(n, z)` the log
    density of x_n at states z (G, 1), one for each of any leading axes: the particle filter's own.
    With `collapse` a step starts from the Gaussian that has the last belief's moments: assumed
    density filtering (PRML 13.3.3, MLAPP 18.5.3).
    """
    z, before = points, points[:, np.newaxis]
    step = points[1] - points[0]
    densities: list[Floats] = []
    log_c: list[Floats] = []
    ahead = prior
    for n in range(n_steps):
        if n:
            belief = densities[-1]
            if collapse:
                last = GridFiltered(points, belief, log_c[-1])
                mean, variance = last.mean[..., np.newaxis], last.variance[..., np.newaxis]
                belief = np.exp(log_density_1d(points, mean, variance))
            ahead = belief @ transition(n, z, before) * step
        log_w = log_weight(n, points[:, np.newaxis])
        top = log_w.max(-1, keepdims=True)
        joint = np.exp(log_w - top) * ahead
        c = joint.sum(-1, keepdims=True) * step
        densities.append(joint / c)  # 13.85
        log_c.append((np.log(c) + top)[..., 0])
    return GridFiltered(points, np.stack(densities, -2), np.stack(log_c, -1))
