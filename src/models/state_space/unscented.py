r"""Moments of a nonlinear function of a Gaussian: by a tangent, by sigma points, exactly.

    x ~ N(mu, Sigma),    y = f(x):    E[y], cov[y] and cov[x, y]

MLAPP 18.5.1 passes the Gaussian through the tangent of f at mu. MLAPP 18.5.2.1 passes 2d + 1 sigma
points through f itself, and takes the moments of the results, under weights w_m and w_c:

    mu,  mu + (sqrt((d + lambda) Sigma))_i,  mu - (sqrt((d + lambda) Sigma))_i         MLAPP 18.93

with lambda = alpha^2 (d + kappa) - d. The book writes w^i for the weights of the first point, too,
for w^0. Gauss-Hermite quadrature has enough points to be exact for smooth f.

Functions take points of shape (..., d) to values (..., D); all leading axes broadcast.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bythebook.models.types import Floats

Function = Callable[[Floats], Floats]


class Scaling(NamedTuple):
    """The scale of the sigma points, and the weight of the first."""

    alpha: float = 1.0
    beta: float = 0.0
    kappa: float = 2.0  # these three are the best for d = 1 (MLAPP 18.5.2.1)

    def lambda_(self, d: int) -> float:
        """The scaling parameter; d + lambda must be positive."""
        return self.alpha**2 * (d + self.kappa) - d


class Moments(NamedTuple):
    """The first two moments of y = f(x), and its covariance with x."""

    mean: Floats  # (..., D)
    cov: Floats  # (..., D, D)
    cross: Floats  # (..., d, D) cov[x, y]


class Points(NamedTuple):
    """Points that represent a Gaussian, and their weights in means and in covariances."""

    x: Floats  # (..., P, d)
    w_m: Floats  # (P,)
    w_c: Floats  # (P,)


def by_tangent(mean: Floats, cov: Floats, f: Function, jacobian: Function) -> Moments:
    """Moments of the linearised function; `jacobian` gives shape (..., D, d)."""
    F = jacobian(mean)
    cross = cov @ F.mT
    return Moments(f(mean), F @ cross, cross)


def by_points(points: Points, f: Function) -> Moments:
    """Moments of a function's values at the points: the unscented transform and similar rules."""
    x, w_m, w_c = points
    y = f(x)
    mean = np.vecmat(w_m, y)  # 18.94
    off = y - mean[..., np.newaxis, :]
    weighted = w_c[:, np.newaxis] * off
    cross = (x - np.vecmat(w_m, x)[..., np.newaxis, :]).mT @ weighted  # 18.107
    return Moments(mean, off.mT @ weighted, cross)  # 18.95


def sigma_points(mean: Floats, cov: Floats, scaling: Scaling) -> Points:
    """The 2d + 1 points of the unscented transform, along the columns of a Cholesky factor."""
    d = mean.shape[-1]
    lam = scaling.lambda_(d)
    arms = np.sqrt(d + lam) * np.linalg.cholesky(cov).mT  # the columns, as rows
    centre = np.broadcast_to(mean[..., np.newaxis, :], (*arms.shape[:-2], 1, d))
    x = np.concatenate([centre, centre + arms, centre - arms], axis=-2)  # 18.93
    w_m = np.full(2 * d + 1, 1 / (2 * (d + lam)))  # 18.98
    w_m[0] = lam / (d + lam)  # 18.96
    w_c = w_m.copy()
    w_c[0] += 1 - scaling.alpha**2 + scaling.beta  # 18.97
    return Points(x, w_m, w_c)


def hermite_points(mean: Floats, cov: Floats, n: int) -> Points:
    """The n^d points of Gauss-Hermite quadrature, exact for polynomials of degree 2n - 1."""
    d = mean.shape[-1]
    nodes, weights = np.polynomial.hermite_e.hermegauss(n)
    grid = np.stack(np.meshgrid(*[nodes] * d, indexing="ij"), axis=-1).reshape(-1, d)
    w = np.stack(np.meshgrid(*[weights / weights.sum()] * d, indexing="ij")).reshape(d, -1).prod(0)
    return Points(mean[..., np.newaxis, :] + grid @ np.linalg.cholesky(cov).mT, w, w)


def moments_matched(points: Points, most: int = 8) -> int:
    """The number of successive moments of a standard Gaussian that points on a line match."""
    for k in range(1, most + 1):
        gaussian = 0.0 if k % 2 else float(np.prod(np.arange(k - 1, 0, -2)))
        if abs(points.w_m @ points.x[:, 0] ** k - gaussian) > 1e-9:
            return k - 1
    return most
