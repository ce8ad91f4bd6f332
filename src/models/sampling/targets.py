r"""Targets of Markov chains, by name: densities, gradients, conditionals, and exact draws.

    gaussian s1 s2 ...   independent components with these standard deviations
    turned s1 s2         the same in two dimensions, turned by 45 degrees
    correlated r         two components of variance one and correlation r
    bumps d              two Gaussians of one variable, of deviation one, at -d and d, equal
    two squares          uniform on [0, 1]^2 and [2, 3]^2
    two squares turned   the same, turned by 45 degrees

Every function takes batches of states (..., D). `uniforms` maps draws of the target to independent
uniform numbers; `principal` gives the coordinates along the shortest and the longest direction, in
their standard deviations.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from bythebook.models.types import Bools, Floats

Rng = np.random.Generator
FEW = 4  # components
Resample = Callable[[Floats, int, Floats, Rng], Floats]


class Target(NamedTuple):
    """A density of D variables; `log_p` up to a constant."""

    dimension: int
    log_p: Callable[[Floats], Floats]  # (..., D) -> (...)
    gradient: Callable[[Floats], Floats] | None  # of log p, (..., D) -> (..., D)
    draw: Callable[[int, Rng], Floats]  # (n, D)
    uniforms: Callable[[Floats], Floats]  # (..., D) -> (..., D)
    principal: Callable[[Floats], Floats]  # (..., D) -> (..., 2), or (..., 1) of one variable
    far: Floats  # (D,) a start that is far from typical
    resample: Resample | None  # new z_i given the others, with the share alpha of over-relaxation
    deviations: Floats  # (D,) along the principal directions; empty if not a Gaussian
    directions: Floats  # (D, D) columns


def named(name: str) -> Target:
    """The target of a name, such as `gaussian 1 8`."""
    words = name.split()
    kind = " ".join(word for word in words if word.isalpha())
    if kind not in KINDS:
        raise ValueError(f"{name}; allowed: {', '.join(KINDS)}, with their numbers")
    make, fewest, most, low, high = KINDS[kind]
    try:
        numbers = [float(word) for word in words if not word.isalpha()]
    except ValueError:
        raise ValueError(f"{name}; allowed: {kind} and numbers") from None
    if not (fewest <= len(numbers) <= most and all(low < x < high for x in numbers)):
        raise ValueError(f"{name}; allowed: {fewest} to {most} numbers between {low} and {high}")
    return make(*numbers)


def gaussian_of(deviations: Floats, directions: Floats) -> Target:
    """A Gaussian with mean zero, by its principal standard deviations and directions (columns)."""
    D, whiten = len(deviations), directions / deviations
    precision = whiten @ whiten.T
    minus = -precision
    ends = np.argsort(deviations, kind="stable")[[0, -1]][2 - min(D, 2) :]

    def log_p(z: Floats) -> Floats:
        y = z @ whiten
        return np.asarray(_squared_length(y) / -2)

    def resample(z: Floats, i: int, alpha: Floats, rng: Rng) -> Floats:
        mean = conditional_mean(precision, z, i)
        noise = rng.standard_normal(z.shape[:-1]) * np.sqrt((1 - alpha**2) / precision[i, i])
        return np.asarray(mean + alpha * (z[..., i] - mean) + noise)  # PRML 11.50

    return Target(
        dimension=D,
        log_p=log_p,
        gradient=lambda z: z @ minus,
        draw=lambda n, rng: (rng.standard_normal((n, D)) * deviations) @ directions.T,
        uniforms=lambda z: ndtr(z @ whiten),
        principal=lambda z: (z @ whiten)[..., ends],
        far=directions @ (5 * deviations),
        resample=resample,
        deviations=deviations,
        directions=directions,
    )


def _squared_length(y: Floats) -> Floats:
    """The squared length of vectors (..., D); of few components one by one, which is faster."""
    if y.shape[-1] > FEW:
        return np.asarray(np.einsum("...i,...i->...", y, y))
    total = y[..., 0] ** 2
    for i in range(1, y.shape[-1]):
        total += y[..., i] ** 2
    return np.asarray(total)


def conditional_mean(precision: Floats, z: Floats, i: int) -> Floats:
    """The mean of z_i given the others, for mean zero: -sum_(j != i) P_ij z_j / P_ii."""
    others = precision[i] / precision[i, i]
    return np.asarray(z[..., i] - z @ others)


def gaussian(*deviations: float) -> Target:
    """Independent components."""
    return gaussian_of(np.array(deviations), np.eye(len(deviations)))


def turned(*deviations: float) -> Target:
    """Two components, turned by 45 degrees."""
    return gaussian_of(np.array(deviations), TURN)


def correlated(r: float) -> Target:
    """Two components of variance one and correlation r."""
    deviations = np.sqrt(np.array([1 - r, 1 + r]))
    return gaussian_of(deviations, TURN[:, ::-1])


TURN = np.array([[1.0, -1.0], [1.0, 1.0]]) / np.sqrt(2)


def bumps_slope(x: Floats, d: float) -> Floats:
    """The derivative of the log density of two bumps."""
    return np.asarray(d * np.tanh(d * x) - x)


def bumps_cdf(x: Floats, d: float) -> Floats:
    """The distribution function of two bumps."""
    return np.asarray((ndtr(x - d) + ndtr(x + d)) / 2)


def bumps(d: float) -> Target:
    """Two Gaussians of one variable at -d and d."""

    def log_p(z: Floats) -> Floats:
        x = z[..., 0]
        return np.asarray(np.logaddexp(-((x - d) ** 2) / 2, -((x + d) ** 2) / 2))

    def draw(n: int, rng: Rng) -> Floats:
        sign = np.where(rng.random(n) < 0.5, -d, d)
        return (sign + rng.standard_normal(n))[:, None]

    return Target(
        dimension=1,
        log_p=log_p,
        gradient=lambda z: bumps_slope(z, d),
        draw=draw,
        uniforms=lambda z: bumps_cdf(z, d),
        principal=lambda z: z / np.sqrt(1 + d**2),
        far=np.array([d + 5]),
        resample=None,
        deviations=np.empty(0),
        directions=np.empty((0, 0)),
    )


def two_squares() -> Target:
    """Uniform on [0, 1]^2 and [2, 3]^2; along a coordinate the other determines the square."""

    def inside(z: Floats) -> Bools:
        low = 2 * (z[..., :1] > 1.5)
        return np.asarray(((z >= low) & (z <= low + 1)).all(-1))

    def resample(z: Floats, i: int, alpha: Floats, rng: Rng) -> Floats:
        return np.asarray(2 * (z[..., 1 - i] > 1.5) + rng.random(z.shape[:-1]))

    return _squares(inside, resample, np.eye(2))


def two_squares_turned() -> Target:
    """The same turned: two squares on their corners, side by side along the first coordinate."""
    half, apart = np.sqrt(0.5), 2 * np.sqrt(2)

    def centre(a: Floats) -> Floats:
        return np.asarray(np.where(a > 1.5 * np.sqrt(2), half + apart, half))

    def inside(z: Floats) -> Bools:
        return np.asarray(np.abs(z[..., 0] - centre(z[..., 0])) + np.abs(z[..., 1]) <= half)

    def resample(z: Floats, i: int, alpha: Floats, rng: Rng) -> Floats:
        shape = z.shape[:-1]
        if i == 0:  # either square, with the width at the second coordinate
            place = np.where(rng.random(shape) < 0.5, half, half + apart)
            return np.asarray(place + (half - np.abs(z[..., 1])) * rng.uniform(-1, 1, shape))
        narrow = half - np.abs(z[..., 0] - centre(z[..., 0]))
        return np.asarray(narrow * rng.uniform(-1, 1, shape))

    return _squares(inside, resample, TURN)


def _squares(inside: Callable[[Floats], Bools], resample: Resample, turn: Floats) -> Target:
    def draw(n: int, rng: Rng) -> Floats:
        return np.asarray((2 * (rng.random((n, 1)) < 0.5) + rng.random((n, 2))) @ turn)

    def uniforms(z: Floats) -> Floats:
        x = z @ turn.T
        low = 2 * (x.sum(-1) > 3)
        return np.stack([(x[..., 0] - low / 2) / 2, x[..., 1] - low], axis=-1)

    def principal(z: Floats) -> Floats:
        x = z @ turn.T - 1.5
        return np.asarray(x @ TURN[:, ::-1] / np.sqrt([1 / 12, 25 / 12]))

    return Target(
        dimension=2,
        log_p=lambda z: np.where(inside(z), 0.0, -np.inf),
        gradient=None,
        draw=draw,
        uniforms=uniforms,
        principal=principal,
        far=np.array([0.5, 0.5]) @ turn,
        resample=resample,
        deviations=np.empty(0),
        directions=np.empty((0, 0)),
    )


KINDS: dict[str, tuple[Callable[..., Target], int, int, float, float]] = {
    "gaussian": (gaussian, 1, 200, 0.0, np.inf),
    "turned": (turned, 2, 2, 0.0, np.inf),
    "correlated": (correlated, 1, 1, -1.0, 1.0),
    "bumps": (bumps, 1, 1, 0.0, 100.0),
    "two squares": (two_squares, 0, 0, 0.0, 0.0),
    "two squares turned": (two_squares_turned, 0, 0, 0.0, 0.0),
}
