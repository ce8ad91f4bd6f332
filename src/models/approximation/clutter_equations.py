r"""The equations of PRML 10.7.1 as printed, each compared with quadrature that uses none of them.

A case is a cavity N(theta | m, v I), a point x and Gaussian factors. A gap is relative where the
quantity is a scale, and absolute elsewhere.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bythebook.models.approximation.clutter import Clutter, tilted
from bythebook.models.types import Floats

EQUATIONS = [
    "prior unchanged",
    "10.214 and 10.215",
    "10.216",
    "10.217",
    "10.218",
    "10.219",
    "10.220 and 10.221",
    "10.222",
    "10.222 corrected",
    "10.223",
    "10.223 corrected",
    "10.244",
    "10.245",
    "10.245 corrected",
]

REACH = 14.0  # of a lattice, about ten standard deviations of any cavity


class Case(NamedTuple):
    """Inputs of the equations under test; a Gaussian is a mean (D,) and a variance."""

    m: Floats  # of a cavity
    v: float
    x: Floats  # (D,) a point
    factor_m: Floats  # (N, D) of factors that are multiplied with the prior
    factor_v: Floats  # (N,)
    factor_s: Floats  # (N,) their scales
    context: tuple[Floats, float]  # of the prior
    whole: tuple[Floats, float]  # a q
    part: tuple[Floats, float]  # and a factor of it, whose variance may be negative
    places: Floats  # (P, D) places at which these two are evaluated


class Moments(NamedTuple):
    """Moments of a function of theta, by the trapezoidal rule."""

    total: float
    mean: Floats  # (D,)
    square: float  # the mean of |theta|^2

    @property
    def variance(self) -> float:
        """The mean of the variances of all dimensions."""
        return float(self.square - self.mean @ self.mean) / len(self.mean)


def normal(theta: Floats, m: Floats, v: complex) -> Floats:
    """N(theta | m, v I) at (G, D); a negative v makes it imaginary and no density."""
    D, square = theta.shape[-1], ((theta - m) ** 2).sum(-1)
    return np.asarray((2 * np.pi * v + 0j) ** (-D / 2) * np.exp(-square / (2 * v)))


def lattice(m: Floats, reach: float) -> tuple[Floats, float]:
    """Places about m in one or two dimensions, (G, D), and the area of each."""
    side = np.linspace(-reach, reach, 801 if len(m) == 1 else 161)
    places = np.stack(np.meshgrid(*[side] * len(m), indexing="ij"), axis=-1)
    return m + places.reshape(-1, len(m)), float((side[1] - side[0]) ** len(m))


def moments(values: Floats, theta: Floats, room: float) -> Moments:
    total = float(values.sum() * room)
    mean = values @ theta / values.sum()
    return Moments(total, mean, float(values @ (theta**2).sum(-1) / values.sum()))


def gaps(case: Case, of: Clutter) -> Floats:
    """The gap of each equation in one case, (equations,)."""
    m, v, x = case.m, case.v, case.x
    D = len(m)
    theta, room = lattice(m, REACH)
    signal = (1 - of.w) * normal(theta, x, 1.0).real
    noise = of.w * float(normal(x[None], np.zeros(D), of.a).real[0])
    cavity = normal(theta, m, v).real
    truth = moments((signal + noise) * cavity, theta, room)
    clean = moments(signal * cavity, theta, room)
    found = tilted(x, m, np.array(v), of)
    v_n = float(1 / (1 / found.variance - 1 / v))  # 10.220
    m_n = m + (v_n + v) / v * (found.mean - m)  # 10.221
    off = theta - m  # m_n and v_n may be huge, their ratio is not
    bend = np.exp(off @ ((m_n - m) / v_n) - (off**2).sum(-1) / (2 * v_n))
    refined = moments(bend * cavity, theta, room)
    scale = np.exp(found.log_z) / normal(m_n[None], m, v_n + v)[0]
    integral = (normal(theta, m_n, v_n) * cavity).sum() * room
    printed = scale / (2 * np.pi * v_n + 0j) ** (D / 2)  # 10.222
    evidence, formula = _evidence(case, of, theta, room)
    normaliser = (2 * np.pi * of.b) ** (-D / 2)
    slope_m, slope_v = _slopes(x, m, v, of)
    second = 2 * v**2 * slope_v + 2 * truth.mean @ m - m @ m  # 10.245
    return np.array(
        [
            _prior_gap(*case.context, of),
            _cavity_gap(case.whole, case.part, case.places),
            abs(np.exp(found.log_z) / truth.total - 1),
            np.linalg.norm(found.mean - truth.mean),
            abs(found.variance - truth.variance),
            abs(found.rho - clean.total / truth.total),
            np.linalg.norm([*(refined.mean - truth.mean), refined.variance - truth.variance]),
            abs(printed * integral / truth.total - 1),
            abs(scale * integral / truth.total - 1),
            abs(formula / evidence - 1),
            abs(formula * normaliser / evidence - 1),
            np.linalg.norm(m + v * slope_m - truth.mean),
            abs(second - truth.square),
            abs(second + v * D - truth.square),
        ]
    )


def _cavity_gap(whole: tuple[Floats, float], part: tuple[Floats, float], theta: Floats) -> float:
    """Q over a factor, of either sign of variance, against the Gaussian of 10.214 and 10.215."""
    (m, v), (m_n, v_n) = whole, part
    cavity_v = 1 / (1 / v - 1 / v_n)  # 10.215
    cavity_m = m + cavity_v / v_n * (m - m_n)  # 10.214
    both = normal(theta, m_n, v_n) * normal(theta, cavity_m, cavity_v)
    return float(np.ptp(np.log(np.abs(normal(theta, m, v) / both))))


def _prior_gap(m: Floats, v: float, of: Clutter) -> float:
    """The prior's factor after an update by quadrature, with N(m, v I) for all other factors."""
    theta, room = lattice(m, REACH)
    prior = normal(theta, np.zeros(len(m)), of.b)
    whole = moments((prior * normal(theta, m, v)).real, theta, room)
    precision = 1 / whole.variance - 1 / v
    shift = whole.mean / whole.variance - m / v
    return float(np.linalg.norm([precision - 1 / of.b, *shift]))


def _evidence(case: Case, of: Clutter, theta: Floats, room: float) -> tuple[float, float]:
    """The integral of prior times factors, and 10.223 with 10.224 for it."""
    D, m_n, v_n, s_n = theta.shape[-1], case.factor_m, case.factor_v, case.factor_s
    product = normal(theta, np.zeros(D), of.b).real
    for m, v, s in zip(m_n, v_n, s_n, strict=True):
        product = product * s * normal(theta, m, v).real
    v = 1 / (1 / of.b + (1 / v_n).sum())
    m = v * (m_n / v_n[:, None]).sum(0)
    B = m @ m / v - ((m_n**2).sum(-1) / v_n).sum()  # 10.224
    power = D / 2
    formula = (2 * np.pi * v) ** power * np.exp(B / 2) * (s_n * (2 * np.pi * v_n) ** -power).prod()
    return float(product.sum() * room), float(formula)


def _slopes(x: Floats, m: Floats, v: float, of: Clutter, h: float = 1e-3) -> tuple[Floats, float]:
    """Derivatives of ln Z by m and v, differences of fourth order of the quadrature."""
    theta, room = lattice(m, REACH)
    factor = (1 - of.w) * normal(theta, x, 1.0).real
    factor = factor + of.w * float(normal(x[None], np.zeros(len(x)), of.a).real[0])

    def log_z(at: Floats, variance: float) -> float:
        return float(np.log((factor * normal(theta, at, variance).real).sum() * room))

    def slope(f: Callable[[float], float]) -> float:
        return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)

    by_m = [slope(lambda t, e=e: log_z(m + t * e, v)) for e in np.eye(len(m))]  # type: ignore[misc]
    return np.array(by_m), slope(lambda t: log_z(m, v + t))
