r"""Factorised approximations of a Gaussian of two variables (PRML 10.1.2).

    ln q_1(z_1) = E_2{ln p(z)} + const                                                        10.9
    m_1 = mu_1 - (E[z_2] - mu_2) Lambda_12 / Lambda_11                                       10.13

Free-form factors are probabilities of places on a grid; they are not assumed to be Gaussian.
Gaussians are a batch: means (S, 2), covariances (S, 2, 2).
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from bythebook.models.types import Floats, Ints


class Grid(NamedTuple):
    """Places of both variables for each Gaussian, and p there."""

    z: Floats  # (S, 2, G)
    log_p: Floats  # (S, G, G), a density

    @property
    def step(self) -> Floats:
        return np.asarray(self.z[..., 1] - self.z[..., 0])  # (S, 2)


class Factors(NamedTuple):
    """q_1 and q_2 as probabilities of places, (S, 2, G)."""

    q: Floats


def grid(mean: Floats, covariance: Floats, points: int = 141, reach: float = 6.5) -> Grid:
    """A grid that is not centred at the mean, so that a right mean has to be found."""
    sd = np.sqrt(np.diagonal(covariance, axis1=-2, axis2=-1))
    side = np.linspace(-reach, reach + 0.7, points)
    z = mean[..., None] + sd[..., None] * side
    precision = np.linalg.inv(covariance)
    off = sd[..., None] * side
    square = (
        precision[:, 0, 0, None, None] * off[:, 0, :, None] ** 2
        + precision[:, 1, 1, None, None] * off[:, 1, None, :] ** 2
        + 2 * precision[:, 0, 1, None, None] * off[:, 0, :, None] * off[:, 1, None, :]
    )
    constant = 2 * np.log(2 * np.pi) + np.linalg.slogdet(covariance)[1]
    return Grid(z, -(square + constant[:, None, None]) / 2)


def exclusive(on: Grid, cycles: int) -> Factors:
    """Free-form factors of minimal KL(q||p), by cycling through 10.9; uniform at first."""
    S, _, G = on.z.shape
    q = np.full((S, 2, G), 1 / G)
    for _ in range(cycles):
        q[:, 0] = _normalised(np.einsum("sij,sj->si", on.log_p, q[:, 1]))
        q[:, 1] = _normalised(np.einsum("sij,si->sj", on.log_p, q[:, 0]))
    return Factors(q)


def inclusive(on: Grid) -> Factors:
    """Free-form factors of minimal KL(p||q), by a search over the logits of both."""
    found = []
    for log_p in on.log_p:
        mass = np.exp(log_p - log_p.max())
        mass /= mass.sum()
        sides, G = (mass.sum(1), mass.sum(0)), len(mass)

        def cost(at: Floats, sides: tuple[Floats, Floats] = sides, G: int = G) -> Any:
            logs = [part - np.logaddexp.reduce(part) for part in (at[:G], at[G:])]
            value = -sum(float(p @ log) for p, log in zip(sides, logs, strict=True))
            by = [np.exp(log) - p for p, log in zip(sides, logs, strict=True)]
            return value, np.concatenate(by)

        options = {"maxiter": 400, "ftol": 1e-14, "gtol": 1e-7}
        at = minimize(cost, np.zeros(2 * G), jac=True, method="L-BFGS-B", options=options).x
        found.append([_normalised(at[:G]), _normalised(at[G:])])
    return Factors(np.array(found))


def _normalised(log: Floats) -> Floats:
    weights = np.exp(log - log.max(-1, keepdims=True))
    return np.asarray(weights / weights.sum(-1, keepdims=True))


def moments(on: Grid, factors: Factors) -> tuple[Floats, Floats]:
    """Means and variances of both factors, (S, 2)."""
    mean = (factors.q * on.z).sum(-1)
    return mean, (factors.q * (on.z - mean[..., None]) ** 2).sum(-1)


class Cycled(NamedTuple):
    """Means of both factors by 10.13 and 10.15 from some starts."""

    mean: Floats  # (S, R, 2)
    cycles: Ints  # (S, R) until a change of less than 1e-12


def cycle_means(mean: Floats, covariance: Floats, starts: Floats, most: int = 20_000) -> Cycled:
    """Cycle from starts (S, R, 2)."""
    precision = np.linalg.inv(covariance)
    first = (precision[:, 0, 1] / precision[:, 0, 0])[:, None]
    second = (precision[:, 0, 1] / precision[:, 1, 1])[:, None]
    m, cycles = starts.copy(), np.full(starts.shape[:2], most)
    for k in range(1, most):
        before = m.copy()
        m[..., 0] = mean[:, :1] - first * (m[..., 1] - mean[:, 1:])  # 10.13
        m[..., 1] = mean[:, 1:] - second * (m[..., 0] - mean[:, :1])  # 10.15
        rest = np.abs(m - before).max(-1) < 1e-12
        cycles = np.where(rest & (cycles == most), k, cycles)
        if rest.all():
            break
    return Cycled(m, cycles)
