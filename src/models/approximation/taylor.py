r"""Taylor expansions (FCML comment 4.3).

    f(w) = sum_n (w - w_hat)^n / n!  f^(n)(w_hat)

The derivatives of the sigmoid s are polynomials in s, since ds/dw = s (1 - s).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.polynomial import Polynomial
from scipy.special import expit, factorial

from models.types import Floats


class Smooth(NamedTuple):
    """A function, and its derivatives of order 0 to n at a point, shape (n + 1,)."""

    f: Callable[[Floats], Floats]
    derivatives: Callable[[float, int], Floats]


def _of_sigmoid(at: float, order: int) -> Floats:
    power, found = Polynomial([0.0, 1.0]), []  # the n-th derivative as a polynomial in s
    for _ in range(order + 1):
        found.append(float(power(expit(at))))
        power = power.deriv() * Polynomial([0.0, 1.0, -1.0])
    return np.array(found)


FUNCTIONS = {
    "exp": Smooth(np.exp, lambda at, order: np.full(order + 1, np.exp(at))),
    "sigmoid": Smooth(lambda w: np.asarray(expit(w)), _of_sigmoid),
}


def expansions(name: str, about: float, order: int, w: Floats) -> Floats:
    """The approximations of order 0 to n at points (G,), shape (n + 1, G)."""
    n = np.arange(order + 1)
    coefficients = FUNCTIONS[name].derivatives(about, order) / factorial(n)
    return np.asarray(np.cumsum(coefficients[:, None] * (w - about) ** n[:, None], axis=0))
