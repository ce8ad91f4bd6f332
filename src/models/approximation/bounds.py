r"""Bounds by convex duality, and bounds on the sigmoid (PRML 10.5).

    convex     f(x) = max_l {l x - g(l)},   g(l) = max_x {l x - f(x)}          PRML 10.129, 10.130
    concave    f(x) = min_l {l x - g(l)},   g(l) = min_x {l x - f(x)}               10.132, 10.133
    s(x) >= s(xi) exp{(x - xi) / 2 - lambda(xi) (x^2 - xi^2)}                               10.144
    s(x) <= exp(l x - H(l)),   H(l) = -l ln l - (1 - l) ln (1 - l)                  10.135, 10.137

lambda(xi) is positive (10.150); the text also prints it with the other sign (10.141).
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_expit, xlogy

from bythebook.models.types import Floats

Function = Callable[[Floats], Floats]


class Curve(NamedTuple):
    """A convex or concave function, with its conjugate as printed."""

    f: Function
    slope: Function
    convex: bool
    conjugate: Function


def entropy(p: Floats) -> Floats:
    """Entropy of two outcomes, in nats."""
    return np.asarray(-xlogy(p, p) - xlogy(1 - p, 1 - p))


def half_angle(x: Floats) -> Floats:
    """-ln(e^(x / 2) + e^(-x / 2)) (10.138)."""
    return np.asarray(-np.logaddexp(x / 2, -x / 2))


def lam(xi: Floats) -> Floats:
    """lambda(xi) = (s(xi) - 1/2) / (2 xi) (10.150); 1/8 at zero."""
    small = np.abs(xi) < 1e-6
    safe = np.where(small, 1.0, xi)
    return np.asarray(np.where(small, 0.125, (expit(safe) - 0.5) / (2 * safe)))


def _half_angle_conjugate(slope: Floats) -> Floats:
    """Conjugate of the half-angle in x squared: (10.142), from a table of contacts."""
    return np.asarray(np.interp(slope, *_contacts()))


@cache
def _contacts() -> tuple[Floats, Floats]:
    """Slopes and conjugates of the half-angle in x squared."""
    xi = np.geomspace(1e-3, 1e3, 20_000)
    return -lam(xi), -lam(xi) * xi**2 - half_angle(xi)


CURVES = {
    "exp(-x)": Curve(
        lambda x: np.exp(-x),
        lambda x: -np.exp(-x),
        True,
        lambda s: s - s * np.log(-s),  # 10.131
    ),
    "ln x": Curve(np.log, lambda x: 1 / x, False, lambda s: 1 + np.log(s)),
    "ln sigmoid": Curve(
        lambda x: np.asarray(log_expit(x)),
        lambda x: np.asarray(expit(-x)),
        False,
        entropy,  # 10.135
    ),
    "half-angle in x": Curve(
        half_angle, lambda x: -np.tanh(x / 2) / 2, False, lambda s: entropy(s + 0.5)
    ),
    "half-angle in x squared": Curve(
        lambda u: half_angle(np.sqrt(u)), lambda u: -lam(np.sqrt(u)), True, _half_angle_conjugate
    ),
}


class Best(NamedTuple):
    """A maximum or minimum found by a search."""

    value: Floats
    place: Floats


def _searched(cost: Callable[[float, float], float], at: Floats, ends: tuple[float, float]) -> Best:
    found = [
        minimize_scalar(
            cost, bounds=ends, args=(float(a),), method="bounded", options={"xatol": 1e-10}
        )
        for a in at
    ]
    return Best(np.array([f.fun for f in found]), np.array([f.x for f in found]))


def conjugate(curve: Curve, slopes: Floats, places: tuple[float, float]) -> Best:
    """G at some slopes by a search over places (10.129 or 10.133)."""
    sign = -1.0 if curve.convex else 1.0
    found = _searched(lambda x, s: sign * (s * x - float(curve.f(np.array(x)))), slopes, places)
    return Best(sign * found.value, found.place)


def recovered(curve: Curve, x: Floats, slopes: tuple[float, float]) -> Best:
    """F at some places from its conjugate by a search over slopes (10.130 or 10.132)."""
    sign = -1.0 if curve.convex else 1.0
    found = _searched(lambda s, x: sign * (s * x - float(curve.conjugate(np.array(s)))), x, slopes)
    return Best(sign * found.value, found.place)


def gaussian_bound(x: Floats, xi: Floats, sign: float = 1.0) -> Floats:
    """The bound of 10.144 below the sigmoid; with sign -1 the lambda of 10.141."""
    exponent = (x - xi) / 2 - sign * lam(xi) * (x**2 - xi**2)
    return np.asarray(expit(xi) * np.exp(exponent))


def exponential_bound(x: Floats, slope: Floats) -> Floats:
    """The bound of 10.137 above the sigmoid."""
    return np.asarray(np.exp(slope * x - entropy(slope)))


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
