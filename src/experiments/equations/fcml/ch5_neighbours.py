"""Equations of FCML 5.3: votes of the nearest neighbours, and distances by kernels."""

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.equations import Sides, equation


@equation(
    "section 5.3.1.1",
    section="5.3.1.1",
    latex=r"K \geq 2 N_1 + 1: \; t_{new} \neq 1, \quad N_0 = 50, N_1 = 10: K \geq 21",
)
def silent_class(rng: Generator) -> Sides:
    """The smallest K from which on a class of N_1 points can neither win nor tie.

    All divisions of K votes between N_0 and N_1 points are listed.
    """

    def listed(n0: int, n1: int) -> int:
        open_ks = [
            k
            for k in range(1, n0 + n1 + 1)
            if any(2 * ones >= k for ones in range(n1 + 1) if 0 <= k - ones <= n0)
        ]
        return max(open_ks) + 1

    n1 = int(rng.integers(1, 20))
    n0 = n1 + int(rng.integers(2, 40))
    return Sides(truth=(listed(n0, n1), listed(50, 10)), printed=(2 * n1 + 1, 21))


@equation(
    "section 5.3.2.6, distance",
    section="5.3.2.6",
    latex=r"k(\mathbf{x}_{new}, \mathbf{x}_{new}) - 2 k(\mathbf{x}_{new}, \mathbf{x}_n)"
    r" + k(\mathbf{x}_n, \mathbf{x}_n)",
)
def kernel_distance(rng: Generator) -> Sides:
    """The squared distance of two points in the space of a kernel, polynomial or linear.

    The space of (1 + x^T y)^2 in the plane has six dimensions.
    """
    x, y = rng.normal(size=(2, 2))

    def phi(z: np.ndarray) -> np.ndarray:
        a, b = np.sqrt(2) * z
        return np.array([1.0, a, b, z[0] ** 2, z[1] ** 2, a * z[1]])

    def polynomial(u: np.ndarray, v: np.ndarray) -> float:
        return float((1 + u @ v) ** 2)

    def distance(k: object) -> float:
        return k(x, x) - 2 * k(x, y) + k(y, y)  # type: ignore[operator, no-any-return]

    truth = np.sum((phi(x) - phi(y)) ** 2), np.sum((x - y) ** 2)
    return Sides(truth=truth, printed=(distance(polynomial), distance(np.dot)))
