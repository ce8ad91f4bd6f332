"""Descent methods on a network's error (notes 2.4.2)."""

from contextlib import suppress

import numpy as np
from scipy import optimize

from bythebook.models.networks.neural_network import Sizes, error_and_gradient
from bythebook.models.types import Floats

RATES = (0.003, 0.01, 0.03, 0.1)  # of gradient descent, on the mean error
SCIPY = {"conjugate": "CG", "quasi-newton": "BFGS"}


def descent_courses(start: Floats, sizes: Sizes, x: Floats, t: Floats, budget: int) -> Floats:
    """Errors of gradient descent with each rate, (rates, R, budget), one evaluation a step."""
    theta = np.repeat(start[None], len(RATES), axis=0)
    rate = np.array(RATES)[:, None, None] / len(x)
    found = np.empty((*theta.shape[:2], budget))
    with np.errstate(over="ignore", invalid="ignore"):  # a rate that is too large diverges
        for k in range(budget):
            error, gradient = error_and_gradient(theta, sizes, x, t)
            found[..., k] = error
            theta = theta - rate * gradient
    return found


def scipy_course(
    method: str, start: Floats, sizes: Sizes, x: Floats, t: Floats, budget: int
) -> Floats:
    """The smallest error so far after each evaluation of error and gradient, (budget,)."""
    errors: list[float] = []

    def objective(theta: Floats) -> tuple[float, Floats]:
        if len(errors) == budget:
            raise StopIteration
        error, gradient = error_and_gradient(theta, sizes, x, t)
        errors.append(float(error))
        return float(error), gradient

    with suppress(StopIteration):
        optimize.minimize(objective, start, jac=True, method=SCIPY[method], options={"gtol": 1e-6})
    course = np.minimum.accumulate(errors)[:budget]
    return np.concatenate([course, np.full(budget - len(course), course[-1])])
