r"""Bounds by convex duality, and bounds on the sigmoid (PRML 10.5).

    f(x) >= f(xi) + f'(xi) (x - xi), f convex                                      PRML 10.125
    s(x) >= s(xi) exp{(x - xi) / 2 - lambda(xi) (x^2 - xi^2)}                               10.144
    s(x) <= exp(l x - H(l)),   H(l) = -l ln l - (1 - l) ln (1 - l)                  10.135, 10.137

lambda(xi) is positive (10.150); the text also prints it with the other sign (10.141).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, xlogy

from bythebook.models.types import Floats

Function = Callable[[Floats], Floats]


class Bound(NamedTuple):
    """A function f, and bound(x, xi), which touches f where x is the contact xi."""

    f: Function
    bound: Callable[[Floats, Floats], Floats]


def entropy(p: Floats) -> Floats:
    """Entropy of two outcomes, in nats."""
    return np.asarray(-xlogy(p, p) - xlogy(1 - p, 1 - p))


def lam(xi: Floats) -> Floats:
    """lambda(xi) = (s(xi) - 1/2) / (2 xi) (10.150); 1/8 at zero."""
    small = np.abs(xi) < 1e-6
    safe = np.where(small, 1.0, xi)
    return np.asarray(np.where(small, 0.125, (expit(safe) - 0.5) / (2 * safe)))


def gaussian_bound(x: Floats, xi: Floats) -> Floats:
    """The bound of 10.144 below the sigmoid."""
    exponent = (x - xi) / 2 - lam(xi) * (x**2 - xi**2)
    return np.asarray(expit(xi) * np.exp(exponent))


def exponential_bound(x: Floats, slope: Floats) -> Floats:
    """The bound of 10.137 above the sigmoid."""
    return np.asarray(np.exp(slope * x - entropy(slope)))


BOUNDS = {
    "below exp(-x)": Bound(lambda x: np.exp(-x), lambda x, xi: np.exp(-xi) * (1 - (x - xi))),
    "above ln x": Bound(np.log, lambda x, xi: np.log(xi) + (x - xi) / xi),
    "above the sigmoid": Bound(expit, lambda x, xi: exponential_bound(x, expit(-xi))),
    "below the sigmoid": Bound(expit, gaussian_bound),
}


def gaussian_integral(m: Floats, v: Floats, xi: Floats) -> Floats:
    """The integral of the Gaussian bound times N(a | m, v), in closed form (10.146).

    int exp(a / 2 - lam a^2) N(a | m, v) da = (1 + 2 lam v)^(-1/2)
    exp{(m / 2 + v / 8 - lam m^2) / (1 + 2 lam v)}.
    """
    rate = lam(xi)
    shrink = 1 + 2 * rate * v
    exponent = (m / 2 + v / 8 - rate * m**2) / shrink - xi / 2 + rate * xi**2
    return np.asarray(expit(xi) * np.exp(exponent) / np.sqrt(shrink))


def sigmoid_integral(m: Floats, v: Floats, f: Function = expit, points: int = 4001) -> Floats:
    """The mean of a function under N(m, v), elementwise, by the trapezoidal rule."""
    z = np.linspace(-12, 12, points)
    weight = np.exp(-(z**2) / 2)
    a = np.asarray(m)[..., None] + np.sqrt(v)[..., None] * z
    return np.asarray((weight * f(a)).sum(-1) / weight.sum())


def best_contact(m: float, v: float) -> tuple[float, float]:
    """Xi and F(xi) of the tightest bound on the sigmoid's mean under N(m, v)."""

    def cost(xi: float) -> float:
        return -float(gaussian_integral(np.array(m), np.array(v), np.array(xi)))

    found = minimize_scalar(cost, bounds=(0, 60), method="bounded", options={"xatol": 1e-10})
    return float(found.x), -float(found.fun)


def moderated(m: Floats, v: Floats) -> Floats:
    """sigm(kappa m), kappa = (1 + pi v / 8)^(-1/2) (MLAPP 16.98, 16.99)."""
    return np.asarray(expit(m / np.sqrt(1 + np.pi * v / 8)))
