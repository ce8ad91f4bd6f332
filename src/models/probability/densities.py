r"""Densities of mean 0 and variance 1; areas, variances and entropies by integration."""

from collections.abc import Callable

import numpy as np
from scipy.integrate import quad
from scipy.special import entr

from bythebook.models.types import Floats

_ROOT = np.sqrt(3.0)
_BUMP = 0.5  # variance of each of two bumps; their centres give the rest


def _gaussian(x: Floats) -> Floats:
    return np.asarray(np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi))


def _logistic(x: Floats) -> Floats:
    s = _ROOT / np.pi
    return np.asarray(1 / (4 * s * np.cosh(x / (2 * s)) ** 2))


def _bumps(x: Floats) -> Floats:
    centre, s = np.sqrt(1 - _BUMP), np.sqrt(_BUMP)
    return np.asarray((_gaussian((x - centre) / s) + _gaussian((x + centre) / s)) / (2 * s))


# Each with the largest |x| that matters.
UNIT: dict[str, tuple[Callable[[Floats], Floats], float]] = {
    "gaussian": (_gaussian, 15.0),
    "uniform": (lambda x: np.full_like(x, 1 / (2 * _ROOT)), _ROOT),
    "laplace": (lambda x: np.exp(-np.sqrt(2) * np.abs(x)) / np.sqrt(2), 40.0),
    "logistic": (_logistic, 40.0),
    "two bumps": (_bumps, 15.0),
}


def integrals(name: str, deviation: float = 1.0) -> tuple[float, float, float]:
    """Area, variance and entropy -int p ln p (nats) of a density with this standard deviation."""
    unit, end = UNIT[name]

    def density(x: float) -> float:
        return float(unit(np.asarray(x / deviation))) / deviation

    def integral(f: Callable[[float], float]) -> float:
        found = quad(f, 0, end * deviation, epsabs=1e-12, epsrel=1e-12, limit=200)[0]
        return 2 * float(found)  # all are even

    return (
        integral(density),
        integral(lambda x: x**2 * density(x)),
        integral(lambda x: float(entr(density(x)))),
    )
