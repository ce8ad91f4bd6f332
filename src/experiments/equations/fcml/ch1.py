"""Equations of FCML 1.5 and 1.6: cross-validation and regularised least squares."""

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.types import Floats


def _case(rng: Generator) -> tuple[Floats, Floats]:
    """A design matrix of random size, and targets."""
    D = int(rng.integers(2, 5))
    N = int(rng.integers(D + 3, 20))
    return rng.normal(size=(N, D)) * rng.uniform(0.3, 3, D), rng.normal(size=N)


@equation(
    "1.19",
    section="1.5.2",
    latex=r"\mathcal{L}^{CV} = \frac{1}{N} \sum_{n=1}^N (t_n - \hat{\mathbf{w}}_{-n}^T"
    r" \mathbf{x}_n)^2",
)
def leave_one_out(rng: Generator) -> Sides:
    """The leave-one-out loss is the mean squared residual of the points that were left out.

    With one fit to all points, each residual is divided by one minus its leverage.
    """
    X, t = _case(rng)
    hat = X @ np.linalg.pinv(X)
    N, loss = len(t), 0.0
    for n in range(N):
        w = np.linalg.lstsq(np.delete(X, n, axis=0), np.delete(t, n), rcond=None)[0]
        loss += (t[n] - w @ X[n]) ** 2
    return Sides(truth=np.mean(((t - hat @ t) / (1 - np.diag(hat))) ** 2), printed=loss / N)


@equation(
    "1.21",
    section="1.6",
    latex=r"\hat{\mathbf{w}} = (\mathbf{X}^T \mathbf{X} + N \lambda \mathbf{I})^{-1} \mathbf{X}^T"
    r" \mathbf{t}",
)
def penalised_weights(rng: Generator) -> Sides:
    """The weights of regularised least squares minimise the regularised loss (1.20).

    The penalty is as many further rows of data as there are weights.
    """
    (X, t), penalty = _case(rng), 10 ** rng.uniform(-3, 1)
    N, D = X.shape
    rows = np.sqrt(N * penalty) * np.eye(D)
    best = np.linalg.lstsq(np.vstack([X, rows]), np.append(t, np.zeros(D)), rcond=None)[0]
    return Sides(truth=best, printed=np.linalg.solve(X.T @ X + N * penalty * np.eye(D), X.T @ t))
