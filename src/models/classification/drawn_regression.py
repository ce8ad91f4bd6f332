r"""Regression data drawn from a model with known weights, and a check of its derivatives.

    x_n = (1, N(0, 1), ...),   t_n ~ p(t | a = w^T x_n)

Gradient and Hessian of log g (`logistic`) are compared with central differences.
"""

import numpy as np

from bythebook.models.classification.logistic import RESPONSES, Posterior, gradient, hessian, log_g
from bythebook.models.types import Floats


def draw(w: Floats, n: int, sigma2: float, response: str, rng: np.random.Generator) -> Posterior:
    """Data of n points with weights w (D,), and the prior."""
    X = np.column_stack([np.ones(n), rng.standard_normal((n, len(w) - 1))])
    mean = RESPONSES[response].mean(X @ w)
    if response == "binary":
        t = (rng.random(n) < mean).astype(np.float64)
    elif response == "counts":
        t = rng.poisson(mean).astype(np.float64)
    else:
        t = mean + rng.standard_normal(n)
    return Posterior(X, t, sigma2, response)


def derivative_gaps(posterior: Posterior, w: Floats, h: float = 1e-5) -> tuple[float, float]:
    """The largest differences at points (R, D), relative except for small entries."""
    steps = h * np.eye(w.shape[1])[:, None]  # (D, 1, D)
    slope = (log_g(posterior, w + steps) - log_g(posterior, w - steps)) / (2 * h)  # (D, R)
    turn = (gradient(posterior, w + steps) - gradient(posterior, w - steps)) / (2 * h)
    exact, curvature = gradient(posterior, w), hessian(posterior, w)
    scale = np.abs(exact) + np.abs(exact).max()
    return (
        float((np.abs(slope.T - exact) / scale).max()),
        float((np.abs(turn.swapaxes(0, 1) - curvature) / (0.1 + np.abs(curvature))).max()),
    )
