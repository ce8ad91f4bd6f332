r"""Draws from uniform or Gaussian numbers by a transformation y = f(z) (PRML 11.1.1).

    exponential     y = -ln(1 - z) / rate
    cauchy          y = tan(pi (z - 1/2))
    logistic        y = ln z - ln(1 - z)
    rayleigh        y = s (-2 ln(1 - z))^(1/2)
    gaussian        y = mu + sigma z, z ~ N(0, 1)
    gaussian vector y = mu + L z, Sigma = L L^T, z ~ N(0, I)
    gaussian pair   y_i = z_i (-2 ln r^2 / r^2)^(1/2), z on the unit disc, r^2 = z_1^2 + z_2^2
                    PRML 11.10-11, with the logarithm of r^2 under both roots

Each transformation is defined together with the map of its draws to independent uniform numbers:
the distribution function, or that of each component given the ones before it. Transformations to
one variable have the density of their draws as well.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import expit, ndtr

from bythebook.models.types import Floats, Ints

Rng = np.random.Generator
RINGS, SECTORS = 4, 8  # of the disc, of equal area
VECTOR = 3  # components


class Transform(NamedTuple):
    """A transformation. Functions take z or y (..., D) and parameters (..., P) that broadcast."""

    source: str  # of z: uniform, disc or gaussian
    parameters: Callable[[int, Rng], Floats]  # drawn, (count, P)
    of: Callable[[Floats, Floats], Floats]
    uniforms: Callable[[Floats, Floats], Floats]  # (..., D)
    log_density: Callable[[Floats, Floats], Floats] | None = None  # (...) of one variable
    dimension: int = 1


class Source(NamedTuple):
    """Draws of z (R, n, D), and the share of the candidates that were kept."""

    z: Floats
    kept: Floats  # (R,)


def source(kind: str, repetitions: int, n: int, dimension: int, rng: Rng) -> Source:
    """Draws of uniform or Gaussian numbers, or of pairs of the square inside the unit circle."""
    shape = repetitions, n, dimension
    if kind == "disc":
        return _disc(repetitions, n, rng)
    draw = rng.random if kind == "uniform" else rng.standard_normal
    return Source(draw(shape), np.ones(repetitions))


def _disc(repetitions: int, n: int, rng: Rng) -> Source:
    found = np.empty((repetitions, n, 2))
    kept = np.empty(repetitions)
    for r in range(repetitions):
        z, inside = np.empty((0, 2)), np.zeros(0, dtype=bool)
        while inside.sum() < n:
            z = np.concatenate([z, 2 * rng.random((n + n // 2, 2)) - 1])
            inside = (z**2).sum(-1) <= 1
        found[r], kept[r] = z[inside][:n], inside.mean()
    return Source(found, kept)


def disc_cells(z: Floats) -> Ints:
    """The index of the part of equal area of the unit disc that contains points (..., 2)."""
    ring = np.minimum((RINGS * (z**2).sum(-1)).astype(np.int64), RINGS - 1)
    turn = np.arctan2(z[..., 1], z[..., 0]) / (2 * np.pi) + 0.5
    return np.asarray(ring * SECTORS + np.minimum((turn * SECTORS).astype(np.int64), SECTORS - 1))


def _none(count: int, rng: Rng) -> Floats:
    return np.zeros((count, 1, 0))


def _log_uniform(count: int, rng: Rng) -> Floats:
    return np.asarray(10 ** rng.uniform(-1, 1, (count, 1, 1)))


def _gaussians(count: int, rng: Rng) -> Floats:
    return np.concatenate([rng.normal(0, 3, (count, 1, 1)), _log_uniform(count, rng)], axis=-1)


def _vectors(count: int, rng: Rng) -> Floats:
    """Means, and covariances that are random matrices times their transposes."""
    B = rng.standard_normal((count, 1, VECTOR, VECTOR + 1))
    covariance = B @ B.swapaxes(-1, -2)
    mean = rng.normal(0, 3, (count, 1, VECTOR))
    return np.concatenate([mean, covariance.reshape(count, 1, VECTOR**2)], axis=-1)


def _vector(theta: Floats) -> tuple[Floats, Floats]:
    covariance = theta[..., VECTOR:].reshape(*theta.shape[:-1], VECTOR, VECTOR)
    return theta[..., :VECTOR], covariance


def _of_vector(z: Floats, theta: Floats) -> Floats:
    mean, covariance = _vector(theta)
    return np.asarray(mean + np.matvec(np.linalg.cholesky(covariance), z))


def _vector_uniforms(y: Floats, theta: Floats) -> Floats:
    """Each component by its conditional distribution given those before it."""
    mean, covariance = _vector(theta)
    x, found = y - mean, []
    for j in range(VECTOR):
        before, own = covariance[..., :j, :j], covariance[..., :j, j]
        slope = np.linalg.solve(before, own[..., None])[..., 0]
        variance = covariance[..., j, j] - (own * slope).sum(-1)
        found.append(ndtr((x[..., j] - (slope * x[..., :j]).sum(-1)) / np.sqrt(variance)))
    return np.stack(found, axis=-1)


def _pair(z: Floats, theta: Floats) -> Floats:
    r2 = (z**2).sum(-1, keepdims=True)
    return np.asarray(z * np.sqrt(-2 * np.log(r2) / r2))  # PRML 11.10-11, ln r^2


def _scaled(z: Floats, theta: Floats) -> Floats:
    return np.asarray(theta[..., 1:] * z + theta[..., :1])


def _gaussian_uniforms(y: Floats, theta: Floats) -> Floats:
    return np.asarray(ndtr((y - theta[..., :1]) / theta[..., 1:]))


def _log_gaussian(y: Floats, theta: Floats) -> Floats:
    mean, sd = theta[..., 0], theta[..., 1]
    return np.asarray(-(((y[..., 0] - mean) / sd) ** 2) / 2 - np.log(sd * np.sqrt(2 * np.pi)))


def _log_exponential(y: Floats, theta: Floats) -> Floats:
    y, rate = np.broadcast_arrays(y[..., 0], theta[..., 0])
    return np.where(y >= 0, np.log(rate) - rate * y, -np.inf)  # PRML 11.7


def _log_cauchy(y: Floats, theta: Floats) -> Floats:
    return np.asarray(-np.log(np.pi * (1 + y[..., 0] ** 2)))  # PRML 11.8


def _log_logistic(y: Floats, theta: Floats) -> Floats:
    size = np.abs(y[..., 0])
    return np.asarray(-size - 2 * np.log1p(np.exp(-size)))


def _log_rayleigh(y: Floats, theta: Floats) -> Floats:
    y, s = np.broadcast_arrays(y[..., 0], theta[..., 0])
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(y >= 0, np.log(y / s**2) - (y / s) ** 2 / 2, -np.inf)


TRANSFORMS = {
    "exponential": Transform(
        "uniform",
        _log_uniform,
        lambda z, rate: -np.log1p(-z) / rate,
        lambda y, rate: -np.expm1(-rate * y),
        _log_exponential,
    ),
    "cauchy": Transform(
        "uniform",
        _none,
        lambda z, _: np.tan(np.pi * (z - 0.5)),
        lambda y, _: 0.5 + np.arctan(y) / np.pi,
        _log_cauchy,
    ),
    "logistic": Transform(
        "uniform",
        _none,
        lambda z, _: np.log(z) - np.log1p(-z),
        lambda y, _: expit(y),
        _log_logistic,
    ),
    "rayleigh": Transform(
        "uniform",
        _log_uniform,
        lambda z, s: s * np.sqrt(-2 * np.log1p(-z)),
        lambda y, s: -np.expm1(-((y / s) ** 2) / 2),
        _log_rayleigh,
    ),
    "gaussian": Transform("gaussian", _gaussians, _scaled, _gaussian_uniforms, _log_gaussian),
    "gaussian vector": Transform(
        "gaussian", _vectors, _of_vector, _vector_uniforms, dimension=VECTOR
    ),
    "gaussian pair": Transform("disc", _none, _pair, lambda y, _: ndtr(y), dimension=2),
}
