r"""Ratios of partition functions, directly and by chaining (PRML 11.6).

    E(z) = depth sum_i (z_i^2 - 1)^2         two wells in each of D dimensions
    G(z) = sum_i z_i^2 / (2 w^2)             Z_G = (w sqrt(2 pi))^D

    Z_E / Z_G = E_G[exp(-E + G)] ~ 1/L sum_l exp(-E(z_l) + G(z_l))                    PRML 11.72
    Z_M / Z_1 = prod_k Z_(k+1) / Z_k,   E_a = (1 - a) E_1 + a E_M                   PRML 11.74-75

The dimensions are independent of each other, so that every Z is known by quadrature.
"""

from typing import NamedTuple

import numpy as np
from scipy.integrate import quad

from bythebook.models.sampling import targets
from bythebook.models.sampling.kernels import Kernel, walk
from bythebook.models.sampling.targets import Target
from bythebook.models.types import Floats

Rng = np.random.Generator
SCALE = 0.4  # of Metropolis proposals


class Model(NamedTuple):
    """Two wells in each dimension, and a Gaussian of a width."""

    dimension: int
    depth: float
    width: float

    def energy(self, z: Floats, alpha: float) -> Floats:
        """Energy of points (..., D): of the Gaussian for alpha = 0, of the wells for alpha = 1."""
        square = z**2
        simple = square.sum(-1) / (2 * self.width**2)
        wells = self.depth * ((square - 1) ** 2).sum(-1)
        return np.asarray((1 - alpha) * simple + alpha * wells)  # PRML 11.75

    def log_partition(self, alpha: float) -> float:
        """Log partition function by quadrature in one dimension."""

        def weight(z: float) -> float:
            return float(np.exp(-self.energy(np.array([z]), alpha)))

        reach = 12 * self.width + 2
        half = quad(weight, 0, 1, epsabs=1e-12)[0] + quad(weight, 1, reach, limit=400)[0]
        return float(self.dimension * np.log(2 * half))

    def draw(self, shape: tuple[int, ...], rng: Rng) -> Floats:
        """Points of the Gaussian (*shape, D)."""
        return np.asarray(self.width * rng.standard_normal((*shape, self.dimension)))


class Estimate(NamedTuple):
    """The log of a ratio, and a standard error estimated from the samples."""

    log_ratio: Floats  # (R,)
    apparent_error: Floats  # (R,) of the first of several, whose samples are independent


def direct(model: Model, samples: int, repetitions: int, rng: Rng) -> Estimate:
    """Estimate from independent draws of the Gaussian."""
    z = model.draw((repetitions, samples), rng)
    return _mean_ratio(model.energy(z, 0.0) - model.energy(z, 1.0))


def chained(
    model: Model, ratios: int, steps: int, repetitions: int, rng: Rng, *, carried: bool
) -> Estimate:
    """Estimate through intermediate energies, with the same total number of samples.

    The first is sampled exactly. A chain of Metropolis steps is carried on from one energy to the
    next, or restarted for each from a draw of the Gaussian.
    """
    alphas = np.linspace(0, 1, ratios + 1)
    each = steps // ratios
    kernels = [Kernel("metropolis", (SCALE,))] * repetitions
    total, error = np.zeros(repetitions), np.empty(0)
    state = model.draw((repetitions,), rng)
    for here, there in zip(alphas[:-1].tolist(), alphas[1:].tolist(), strict=True):
        if here == 0:
            z = model.draw((each, repetitions), rng)
        else:
            start = state if carried else model.draw((repetitions,), rng)
            z = walk(_target(model, here), kernels, start, each, rng).path[1:]
        state = z[-1]
        ratio = _mean_ratio((model.energy(z, here) - model.energy(z, there)).T)
        total += ratio.log_ratio
        if here == 0:
            error = ratio.apparent_error
    return Estimate(total, error)


def _target(model: Model, alpha: float) -> Target:
    """An intermediate density for Metropolis steps, which use its log alone."""

    def log_p(z: Floats) -> Floats:
        return -model.energy(z, alpha)

    simple = targets.gaussian(*[model.width] * model.dimension)
    return simple._replace(log_p=log_p, resample=None, gradient=None)


def _mean_ratio(log_r: Floats) -> Estimate:
    """The log of the mean of exp of (R, L), and its error if all were independent."""
    top = log_r.max(-1, keepdims=True)
    r = np.exp(log_r - top)
    mean = r.mean(-1)
    error = r.std(-1) / mean / np.sqrt(log_r.shape[-1])
    return Estimate(np.log(mean) + top[:, 0], error)
