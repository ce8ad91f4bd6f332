r"""Draws from uniform or Gaussian numbers by a transformation y = f(z) (PRML 11.1.1).

    exponential     y = -ln(1 - z) / rate
    cauchy          y = tan(pi (z - 1/2))
    logistic        y = ln z - ln(1 - z)
    rayleigh        y = s (-2 ln(1 - z))^(1/2)
    gaussian        y = mu + sigma z, z ~ N(0, 1)
    gaussian vector y = mu + L z, Sigma = L L^T, z ~ N(0, I)
    gaussian pair   y_i = z_i (-2 ln r^2 / r^2)^(1/2), z on the unit disc, r^2 = z_1^2 + z_2^2
                    PRML 11.10-11; as printed there the logarithm is that of z_i

with p(y) = p(z) |dz / dy| (PRML 11.5, 11.9). Each transformation is defined together with the
density of its draws, and with the map of its draws to independent uniform numbers: the distribution
function, or those of each component given the ones before it.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.integrate import quad
from scipy.special import expit, ndtr, ndtri

from bythebook.models.types import Floats, Ints

Rng = np.random.Generator
RINGS, SECTORS = 4, 8  # of the disc, of equal area
VECTOR = 3  # components


class Transform(NamedTuple):
    """Everything takes z or y (..., D) and parameters (..., P) that broadcast against them."""

    source: str  # of z: uniform, disc or gaussian
    parameters: Callable[[int, Rng], Floats]  # drawn, (count, P)
    of: Callable[[Floats, Floats], Floats]
    log_density: Callable[[Floats, Floats], Floats]  # (...)
    uniforms: Callable[[Floats, Floats], Floats]  # (..., D)
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


def density_gaps(transform: Transform, points: int, rng: Rng) -> Floats:
    """Gaps of ln p(y) to ln p(z) - ln |dy / dz|, by central differences at random points."""
    D, step = transform.dimension, 1e-6
    theta = transform.parameters(1, rng)[0]
    z = source(transform.source, 1, points, D, rng).z[0]
    with np.errstate(invalid="ignore", divide="ignore"):
        columns = [
            (transform.of(z + shift, theta) - transform.of(z - shift, theta)) / (2 * step)
            for shift in step * np.eye(D)
        ]
        _, log_det = np.linalg.slogdet(np.stack(columns, axis=-1))
        log_z = {"uniform": 0.0, "disc": -np.log(np.pi)}.get(
            transform.source, -((z**2).sum(-1) + D * np.log(2 * np.pi)) / 2
        )
        off = transform.log_density(transform.of(z, theta), theta) + log_det - log_z
    return np.asarray(np.abs(off))


def distributions(transform: Transform, h: Floats, rng: Rng) -> tuple[Floats, Floats]:
    """Probabilities below the quantiles h (P,) of one variable, by two methods (PRML 11.6).

    They are the integral of the density by quadrature, and the distribution function.
    """
    theta = transform.parameters(1, rng)[0]
    z = h if transform.source == "uniform" else ndtri(h)
    y = transform.of(z[:, None], theta)

    def density(x: float) -> float:
        log_p = transform.log_density(np.array([[x]]), theta)
        return float(np.exp(log_p[0]))

    least = 0.0 if density(-1e-9) == 0 else -np.inf
    pieces = [
        quad(density, a, b, epsabs=1e-11, limit=200)[0] for a, b in pairwise([least, *y[:, 0]])
    ]
    return np.cumsum(pieces), transform.uniforms(y, theta)[:, 0]


def moment_scores(y: Floats, theta: Floats) -> Floats:
    """Gaps of mean and covariance of Gaussian vectors (R, n, D), in standard errors."""
    n, D = y.shape[-2:]
    mean, covariance = _vector(theta)
    mean, covariance = mean[:, 0], covariance[:, 0]
    variances = np.diagonal(covariance, axis1=-2, axis2=-1)
    off = y.mean(-2) - mean
    centred = y - mean[:, None]
    sample = np.einsum("rni,rnj->rij", centred, centred) / n
    spread = np.sqrt((variances[:, :, None] * variances[:, None, :] + covariance**2) / n)
    i, j = np.triu_indices(D)
    return np.concatenate(
        [off / np.sqrt(variances / n), ((sample - covariance) / spread)[:, i, j]], axis=-1
    )


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


def _log_vector(y: Floats, theta: Floats) -> Floats:
    mean, covariance = _vector(theta)
    x = y - mean
    square = (x * np.matvec(np.linalg.inv(covariance), x)).sum(-1)
    log_det = np.linalg.slogdet(covariance)[1]
    return np.asarray(-(square + log_det + VECTOR * np.log(2 * np.pi)) / 2)


def _vector_uniforms(y: Floats, theta: Floats) -> Floats:
    """Each component given those before it, by the inverses of the leading blocks of Sigma."""
    mean, covariance = _vector(theta)
    x, found = y - mean, []
    for j in range(VECTOR):
        inverse = np.linalg.inv(covariance[..., : j + 1, : j + 1])
        score = np.matvec(inverse, x[..., : j + 1])[..., j] / np.sqrt(inverse[..., j, j])
        found.append(ndtr(score))
    return np.stack(np.broadcast_arrays(*found), axis=-1)


def _pair(z: Floats, theta: Floats) -> Floats:
    r2 = (z**2).sum(-1, keepdims=True)
    return np.asarray(z * np.sqrt(-2 * np.log(r2) / r2))  # PRML 11.10-11, ln r^2


def _pair_as_printed(z: Floats, theta: Floats) -> Floats:
    r2 = (z**2).sum(-1, keepdims=True)
    return np.asarray(z * np.sqrt(-2 * np.log(z) / r2))  # PRML 11.10-11


def _log_pair(y: Floats, theta: Floats) -> Floats:
    return np.asarray(-((y**2).sum(-1)) / 2 - np.log(2 * np.pi))  # PRML 11.12


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
        _log_exponential,
        lambda y, rate: -np.expm1(-rate * y),
    ),
    "cauchy": Transform(
        "uniform",
        _none,
        lambda z, _: np.tan(np.pi * (z - 0.5)),
        _log_cauchy,
        lambda y, _: 0.5 + np.arctan(y) / np.pi,
    ),
    "logistic": Transform(
        "uniform",
        _none,
        lambda z, _: np.log(z) - np.log1p(-z),
        _log_logistic,
        lambda y, _: expit(y),
    ),
    "rayleigh": Transform(
        "uniform",
        _log_uniform,
        lambda z, s: s * np.sqrt(-2 * np.log1p(-z)),
        _log_rayleigh,
        lambda y, s: -np.expm1(-((y / s) ** 2) / 2),
    ),
    "gaussian": Transform(
        "gaussian",
        _gaussians,
        _scaled,
        _log_gaussian,
        _gaussian_uniforms,
    ),
    "gaussian vector": Transform(
        "gaussian", _vectors, _of_vector, _log_vector, _vector_uniforms, VECTOR
    ),
    "gaussian pair": Transform("disc", _none, _pair, _log_pair, lambda y, _: ndtr(y), 2),
    "gaussian pair as printed": Transform(
        "disc", _none, _pair_as_printed, _log_pair, lambda y, _: ndtr(y), 2
    ),
}
