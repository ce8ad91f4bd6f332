r"""The Gaussian that minimises KL(q||p) or KL(p||q) for a given density p (PRML 10.1.2).

    KL(q||p) = E_q{ln q - ln p},   z = m + L e,  e ~ N(0, I)
    KL(p||q) = E_p{ln p - ln q},   ln q = -|L^-1 (z - m)|^2 / 2 - ln |L| - (D / 2) ln 2 pi

q = N(m, L L^T). Both are minimised over m, the logs of L's diagonal and what is below it, by L-BFGS
with exact derivatives: no moment of p is used. Expectations are sums: under q over a lattice of e,
under p over a lattice of z on which p is normalised.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy.optimize import minimize
from scipy.special import log_expit

from bythebook.models.probability.gaussian import log_density
from bythebook.models.types import Floats

Function = Callable[[Floats], Floats]
HERMITE = 16  # places of each variable of two
SIDE = 41  # places of a lattice's side in the plane


class Density(NamedTuple):
    """An unnormalised density of one or two variables, on a lattice and as functions."""

    log_p: Function  # of points (..., D), shape (...)
    slope: Function  # its derivatives, shape (..., D)
    places: Floats  # (G, D) a lattice that covers nearly all of the mass
    room: float  # of one place
    mass: Floats  # (G,) of each place; sums to one
    log_evidence: float  # the log of the integral


class Fit(NamedTuple):
    """N(mean, covariance), and how far the density is from it."""

    mean: Floats  # (D,)
    covariance: Floats  # (D, D)
    divergence: float  # the one that was minimised


def density(log_p: Function, slope: Function, low: Floats, high: Floats, points: int) -> Density:
    """Normalise on a lattice, by the trapezoidal rule."""
    sides = [np.linspace(a, b, points) for a, b in zip(low, high, strict=True)]
    places = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, len(sides))
    room = float(np.prod([side[1] - side[0] for side in sides]))
    values = log_p(places)
    top = values.max()
    weights = np.exp(values - top)
    evidence = float(top + np.log(weights.sum() * room))
    return Density(log_p, slope, places, room, weights / weights.sum(), evidence)


def moments(p: Density) -> Fit:
    """Mean and covariance of the density itself."""
    mean = p.mass @ p.places
    off = p.places - mean
    covariance = (p.mass[:, None] * off).T @ off
    return Fit(mean, covariance, inclusive(p, mean, covariance))


@cache
def nodes(D: int) -> tuple[Floats, Floats]:
    """Places of standard Gaussian variables (E, D) and weights (E,); in the plane Hermite's."""
    if D == 1:
        side = np.linspace(-8, 8, 801)
        weights = np.exp(-(side**2) / 2)
    else:
        side, weights = hermegauss(HERMITE)
    places = np.stack(np.meshgrid(*[side] * D, indexing="ij"), axis=-1).reshape(-1, D)
    product = np.prod(np.meshgrid(*[weights / weights.sum()] * D, indexing="ij"), axis=0)
    return places, product.ravel()


def exclusive(p: Density, mean: Floats, covariance: Floats) -> float:
    """KL(q||p)."""
    e, weights = nodes(len(mean))
    z = mean + e @ np.linalg.cholesky(covariance).T
    log_q = log_density(z, mean, covariance)
    return float(weights @ (log_q - p.log_p(z)) + p.log_evidence)


def inclusive(p: Density, mean: Floats, covariance: Floats) -> float:
    """KL(p||q)."""
    log_p = p.log_p(p.places) - p.log_evidence
    return float(p.mass @ (log_p - log_density(p.places, mean, covariance)))


def fit_exclusive(p: Density, mean: Floats, covariance: Floats) -> Fit:
    """Minimise KL(q||p) from a start."""
    D = len(mean)
    e, weights = nodes(D)

    def cost(at: Floats) -> tuple[float, Floats]:
        m, L = _unpacked(at, D)
        z = m + e @ L.T
        slope = weights[:, None] * p.slope(z)
        value = -float(weights @ p.log_p(z)) - float(np.log(np.diag(L)).sum())
        by_L = -slope.T @ e - np.diag(1 / np.diag(L))
        return value, _packed_slope(-slope.sum(0), by_L, L)

    start = _packed(mean, _root(covariance))
    found = minimize(cost, start, jac=True, method="L-BFGS-B", options=_TIGHT).x
    m, L = _unpacked(found, D)
    return Fit(m, L @ L.T, exclusive(p, m, L @ L.T))


def fit_inclusive(p: Density, mean: Floats, covariance: Floats) -> Fit:
    """Minimise KL(p||q) from a start."""
    D = len(mean)

    def cost(at: Floats) -> tuple[float, Floats]:
        m, L = _unpacked(at, D)
        u = np.linalg.solve(L, (p.places - m).T)  # (D, G)
        value = float(p.mass @ (u**2).sum(0)) / 2 + float(np.log(np.diag(L)).sum())
        by_m = np.asarray(-np.linalg.solve(L.T, u @ p.mass))
        by_L = np.asarray(-np.linalg.solve(L.T, (u * p.mass) @ u.T) + np.diag(1 / np.diag(L)))
        return value, _packed_slope(by_m, by_L, L)

    start = _packed(mean, _root(covariance))
    found = minimize(cost, start, jac=True, method="L-BFGS-B", options=_TIGHT).x
    m, L = _unpacked(found, D)
    return Fit(m, L @ L.T, inclusive(p, m, L @ L.T))


_TIGHT = {"ftol": 1e-14, "gtol": 1e-8, "maxiter": 500}


def _root(S: Floats) -> Floats:
    return np.asarray(np.linalg.cholesky(S))


def _packed(m: Floats, L: Floats) -> Floats:
    below = np.tril_indices(len(m), -1)
    return np.concatenate([m, np.log(np.diag(L)), L[below]])


def _unpacked(at: Floats, D: int) -> tuple[Floats, Floats]:
    L = np.diag(np.exp(np.clip(at[D : 2 * D], -30, 30)))
    L[np.tril_indices(D, -1)] = at[2 * D :]
    return at[:D], L


def _packed_slope(by_m: Floats, by_L: Floats, L: Floats) -> Floats:
    below = np.tril_indices(len(by_m), -1)
    return np.concatenate([by_m, np.diag(by_L) * np.diag(L), by_L[below]])


def mode(p: Density, start: Floats) -> Fit:
    """A local maximum, and the Gaussian of Laplace there."""
    found = minimize(lambda z: (-float(p.log_p(z)), -p.slope(z)), start, jac=True, tol=1e-12).x
    D, h = len(found), 1e-5
    bend = [(p.slope(found + h * e) - p.slope(found - h * e)) / (2 * h) for e in np.eye(D)]
    precision = -np.array(bend)
    S = np.asarray(np.linalg.solve((precision + precision.T) / 2, np.eye(D)))
    return Fit(found, S, exclusive(p, found, S))


def distinct(fits: list[Fit], near: float = 1e-3) -> int:
    """The number of different fits, by mean and covariance."""
    kept: list[Fit] = []
    for fit in fits:
        gaps = [
            max(np.abs(fit.mean - k.mean).max(), np.abs(fit.covariance - k.covariance).max())
            for k in kept
        ]
        if all(gap > near for gap in gaps):
            kept.append(fit)
    return len(kept)


def rare_mass(p: Density, mean: Floats, covariance: Floats, held: float = 0.99) -> float:
    """The mass of N(mean, covariance) outside the smallest region that holds a given share of p."""
    by_size = np.sort(p.mass)[::-1]
    level = by_size[np.searchsorted(np.cumsum(by_size), held)]
    e, weights = nodes(len(mean))
    z = mean + e @ np.linalg.cholesky(covariance).T
    log_level = np.log(level / p.room) + p.log_evidence
    return float(weights @ (p.log_p(z) < log_level))


def skewed() -> Density:
    """exp(-z^2 / 2) times a sigmoid of 20 z + 4."""

    def log_p(z: Floats) -> Floats:
        return np.asarray(-(z[..., 0] ** 2) / 2 + log_expit(20 * z[..., 0] + 4))

    def slope(z: Floats) -> Floats:
        return np.asarray(-z + 20 * np.exp(log_expit(-20 * z - 4)))

    return density(log_p, slope, np.array([-3.0]), np.array([6.0]), 4001)


def mixture(weights: Floats, means: Floats, covariances: Floats) -> Density:
    """Gaussians (K, D) added up."""
    precisions = np.linalg.inv(covariances)
    scale = means.shape[-1] * np.log(2 * np.pi) + np.linalg.slogdet(covariances)[1]
    constant = np.log(weights) - scale / 2

    def parts(z: Floats) -> Floats:
        off = z[..., None, :] - means
        square = np.einsum("...ki,kij,...kj->...k", off, precisions, off)
        return np.asarray(constant - square / 2)

    def log_p(z: Floats) -> Floats:
        return np.asarray(np.logaddexp.reduce(parts(z), axis=-1))

    def slope(z: Floats) -> Floats:
        log = parts(z)
        r = np.exp(log - np.logaddexp.reduce(log, axis=-1)[..., None])
        pull = np.einsum("kij,...kj->...ki", precisions, means - z[..., None, :])
        return np.asarray((r[..., None] * pull).sum(-2))

    wide = 6 * np.sqrt(np.diagonal(covariances, axis1=-2, axis2=-1))
    return density(log_p, slope, (means - wide).min(0), (means + wide).max(0), SIDE)


def two_means(x: Floats, prior_variance: float) -> Density:
    """The posterior of both means of N(m_1, 1) / 2 + N(m_2, 1) / 2, given points (N,)."""

    def log_p(z: Floats) -> Floats:
        log = -((x - z[..., None]) ** 2) / 2  # (..., 2, N)
        likelihood = np.logaddexp(log[..., 0, :], log[..., 1, :]).sum(-1)
        return np.asarray(likelihood - (z**2).sum(-1) / (2 * prior_variance))

    def slope(z: Floats) -> Floats:
        off = x - z[..., None]
        log = -(off**2) / 2
        r = np.exp(log - np.logaddexp(log[..., :1, :], log[..., 1:, :]))
        return np.asarray((r * off).sum(-1) - z / prior_variance)

    reach = np.array([x.min() - 1, x.max() + 1])
    return density(log_p, slope, reach[[0, 0]], reach[[1, 1]], SIDE)
