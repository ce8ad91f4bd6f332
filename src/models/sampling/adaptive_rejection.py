r"""Adaptive rejection sampling of a log-concave density, many runs at once (PRML 11.1.3).

Tangents of ln p at grid points x_1 < ... < x_P meet at corners z_1 < ... < z_(P-1); their lower
edge lies above ln p and is the log of a piecewise exponential density,

    q(z) = k_i lambda_i exp(-lambda_i (z - z_(i-1))),   z_(i-1) < z <= z_i             PRML 11.17

A draw of it is kept with probability p / q; if it is not, it becomes a grid point.

For a density that is not log concave each tangent reaches to the middle between its neighbours; the
pieces are no envelope, and a Metropolis-Hastings step with the proposal min(p, exp pieces) follows
each draw that rejection sampling keeps (Gilks et al.).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import expit, gammainc, gammaln, ndtr

from bythebook.models.sampling.targets import bumps, bumps_cdf, bumps_slope
from bythebook.models.types import Bools, Floats, Ints

Rng = np.random.Generator
CHECKED = 200  # runs whose envelopes are compared with the density on a grid
FLAT = 1e-12  # a slope below which a piece is level


class Target(NamedTuple):
    """A density of one variable, normalised, with the derivative of its log."""

    log_p: Callable[[Floats], Floats]
    slope: Callable[[Floats], Floats]
    cdf: Callable[[Floats], Floats]
    least: float  # where its support begins
    mode: float
    width: float  # in which starting points are drawn on both sides of the mode


class Envelope(NamedTuple):
    """Straight pieces of R runs: between ends (R, P + 1), through points with some slopes."""

    ends: Floats  # (R, P + 1); the first and last may be infinite
    points: Floats  # (R, P)
    values: Floats  # (R, P) ln p there
    slopes: Floats  # (R, P)

    def part(self, runs: Ints) -> "Envelope":
        """The envelopes of some runs."""
        return Envelope(*(of[runs] for of in self))

    def log_q(self, z: Floats) -> Floats:
        """The piece at z (R, n), not normalised."""
        i = self._piece(z)
        value, slope, point = (
            np.take_along_axis(of, i, axis=1) for of in (self.values, self.slopes, self.points)
        )
        return np.asarray(value + slope * (z - point))

    def _piece(self, z: Floats) -> Ints:
        inner = self.ends[:, 1:-1]
        return np.asarray((z[..., None] > inner[:, None, :]).sum(-1))

    def log_areas(self) -> Floats:
        """Log area of each piece, (R, P)."""
        low, high = self.ends[:, :-1], self.ends[:, 1:]
        level = np.abs(self.slopes) < FLAT
        slope = np.where(level, 1.0, self.slopes)
        # from the end at which the piece is higher, down
        top = np.where(slope > 0, high, low)
        with np.errstate(invalid="ignore", over="ignore"):
            length = np.abs(slope) * (high - low)
            steep = -np.log(np.abs(slope)) + np.log(-np.expm1(-length))
            height = self.values + self.slopes * (np.where(level, self.points, top) - self.points)
            return np.asarray(height + np.where(level, np.log(high - low), steep))

    def draw(self, rng: Rng) -> Floats:
        """One draw of each run, (R,): a piece by its area, then the inverse of its integral."""
        logs = self.log_areas()
        shares = np.cumsum(np.exp(logs - logs.max(1, keepdims=True)), axis=1)
        u = rng.random((len(logs), 1))
        i = (u * shares[:, -1:] > shares).sum(1, keepdims=True)
        i = np.minimum(i, logs.shape[1] - 1)
        low, high, slope = (
            np.take_along_axis(of, i, axis=1)[:, 0]
            for of in (self.ends[:, :-1], self.ends[:, 1:], self.slopes)
        )
        v = rng.random(len(logs))
        level = np.abs(slope) < FLAT
        safe = np.where(level, 1.0, slope)
        with np.errstate(invalid="ignore", over="ignore"):
            part = np.exp(-np.abs(safe) * (high - low))  # lowest over highest
            down = -np.log1p(-v * (1 - part)) / np.abs(safe)  # from the higher end
            sloped = np.where(safe > 0, high - down, low + down)
            return np.where(level, low + v * (high - low), sloped)


def tangents(target: Target, points: Floats) -> Envelope:
    """The envelope of sorted grid points (R, P) of a log-concave density."""
    values, slopes = target.log_p(points), target.slope(points)
    rise = np.diff(values) - slopes[:, 1:] * np.diff(points)  # of the left one over the right one
    corners = points[:, :-1] + rise / (slopes[:, :-1] - slopes[:, 1:])
    return _closed(target, corners, points, values, slopes)


def nearest(target: Target, points: Floats) -> Envelope:
    """Tangents that each reach to the middle between neighbours; no envelope in general."""
    middles = (points[:, :-1] + points[:, 1:]) / 2
    return _closed(target, middles, points, target.log_p(points), target.slope(points))


def _closed(
    target: Target, inner: Floats, points: Floats, values: Floats, slopes: Floats
) -> Envelope:
    first = np.full((len(points), 1), target.least)
    last = np.full((len(points), 1), np.inf)
    return Envelope(np.concatenate([first, inner, last], axis=1), points, values, slopes)


class Run(NamedTuple):
    """R runs that added one point at each of some stages, and their first accepted draws."""

    rejection: Floats  # (R, stages) probability before the point is added
    tried: Bools  # (R, stages) whether the first draw of a stage was rejected
    draws: Floats  # (R, M) the first accepted ones
    gap: Floats  # (checked, stages) minimum of ln q - ln p on a grid, of the first runs
    envelope: Envelope  # the last one


def adapt(target: Target, starts: Floats, points: int, draws: int, rng: Rng) -> Run:
    """Run from points (R, 2) to a number of points and a number of accepted draws."""
    grid, R = np.sort(starts, axis=1), len(starts)
    accepted = np.full((R, draws), np.nan)
    taken = np.zeros(R, dtype=np.int64)
    stages: list[tuple[Floats, Bools, Floats]] = []
    while True:
        envelope = tangents(target, grid)
        total = np.logaddexp.reduce(envelope.log_areas(), axis=1)
        wanted = grid.shape[1] < points
        new, first = np.full(R, np.nan), np.zeros(R, dtype=bool)
        left, begun = np.arange(R), False
        while len(left):
            z, keep = _try(target, envelope.part(left), rng)
            if not begun:
                first, begun = ~keep, True
            put = left[keep & (taken[left] < draws)]
            accepted[put, taken[put]] = z[keep & (taken[left] < draws)]
            taken[put] += 1
            new[left[~keep]] = z[~keep]
            left = left[keep] if wanted else left[taken[left] < draws]
        shown = envelope.part(np.arange(min(R, CHECKED)))
        stages.append((-np.expm1(-total), first, _clearance(target, shown)))
        if not wanted:
            break
        grid = np.sort(np.concatenate([grid, new[:, None]], axis=1), axis=1)
    rejection, tried, gap = (np.stack(of, axis=1) for of in zip(*stages, strict=True))
    return Run(rejection, tried, accepted, gap, envelope)


def _try(target: Target, envelope: Envelope, rng: Rng) -> tuple[Floats, Bools]:
    """A draw of each run, and whether it is kept."""
    z = envelope.draw(rng)
    height = envelope.log_q(z[:, None])[:, 0]
    return z, np.log1p(-rng.random(len(z))) <= target.log_p(z) - height


def _clearance(target: Target, envelope: Envelope) -> Floats:
    """The minimum of ln q - ln p on a grid."""
    low = max(target.least, target.mode - 6 * target.width)
    z = np.linspace(low, target.mode + 8 * target.width, 202)[1:]
    log_q = envelope.log_q(np.tile(z, (len(envelope.points), 1)))
    return np.asarray((log_q - target.log_p(z)).min(1))


def metropolis(
    target: Target, grid: Floats, start: Floats, steps: int, rng: Rng
) -> tuple[Floats, Floats]:
    """Chains (R,) of rejection and Metropolis-Hastings steps, and the last draws without these."""
    pieces = nearest(target, np.tile(grid, (len(start), 1)))

    def log_min(z: Floats) -> Floats:
        return np.minimum(target.log_p(z), pieces.log_q(z[:, None])[:, 0])

    state, plain = start, start
    for _ in range(steps):
        candidate, left = np.empty(len(start)), np.arange(len(start))
        while len(left):
            z, keep = _try(target, pieces.part(left), rng)
            candidate[left[keep]] = z[keep]
            left = left[~keep]
        climb = target.log_p(candidate) - target.log_p(state)
        climb += log_min(state) - log_min(candidate)
        accept = np.log1p(-rng.random(len(start))) <= climb
        state, plain = np.where(accept, candidate, state), candidate
    return state, plain


def _gaussian() -> Target:
    root = np.log(2 * np.pi) / 2
    return Target(lambda z: -(z**2) / 2 - root, lambda z: -z, ndtr, -np.inf, 0.0, 1.0)


def _gamma(a: float = 3.0) -> Target:
    def log_p(z: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(z > 0, (a - 1) * np.log(z) - z - gammaln(a), -np.inf)

    return Target(log_p, lambda z: (a - 1) / z - 1, lambda z: gammainc(a, z), 0.0, a - 1, 1.5)


def _logistic() -> Target:
    return Target(
        lambda z: -z - 2 * np.logaddexp(0, -z),
        lambda z: -np.tanh(z / 2),
        expit,
        -np.inf,
        0.0,
        2.0,
    )


def _gumbel() -> Target:
    return Target(
        lambda z: -z - np.exp(-z),
        lambda z: np.expm1(-z),
        lambda z: np.exp(-np.exp(-z)),
        -np.inf,
        0.0,
        1.2,
    )


def _bumps(d: float = 2.0) -> Target:
    two = bumps(d)
    constant = np.log(2 * np.sqrt(2 * np.pi))
    return Target(
        lambda z: two.log_p(z[..., None]) - constant,
        lambda z: bumps_slope(z, d),
        lambda z: bumps_cdf(z, d),
        -np.inf,
        0.0,
        d,
    )


CONCAVE = {
    "gaussian": _gaussian(),
    "gamma": _gamma(),
    "logistic": _logistic(),
    "gumbel": _gumbel(),
}
BUMPS = _bumps()  # which are not
