"""The equation of FCML 2.8: bias and variance of estimated parameters."""

from itertools import product

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.equations import Sides, equation


@equation(
    "section 2.8",
    section="2.8",
    latex=r"\bar{M} = B^2 + V",
)
def bias_and_variance(rng: Generator) -> Sides:
    """The expected squared error of estimated parameters is squared bias plus variance.

    The estimates are those of regularised least squares. The other route enumerates all signs of
    the noise.
    """
    N, D = int(rng.integers(4, 9)), int(rng.integers(1, 4))
    X, w, sigma = rng.normal(size=(N, D)), rng.normal(size=D), rng.uniform(0.3, 2)
    estimator = np.linalg.solve(X.T @ X + rng.uniform(0.2, 3) * np.eye(D), X.T)
    noise = sigma * np.array(list(product((-1, 1), repeat=N)))
    errors = (X @ w + noise) @ estimator.T - w
    bias = estimator @ X @ w - w
    variance = sigma**2 * np.sum(estimator**2)
    return Sides(truth=np.mean(np.sum(errors**2, axis=-1)), printed=bias @ bias + variance)
