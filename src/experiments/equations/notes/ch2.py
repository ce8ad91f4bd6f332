"""Equations of the Notes 2.1 and 2.2: regularised least squares and its posterior."""

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.types import Floats


def _case(rng: Generator) -> tuple[Floats, Floats, float]:
    """A design matrix of powers with the constant first, targets, and a penalty."""
    N, M = int(rng.integers(8, 15)), int(rng.integers(2, 6))
    X = np.vander(rng.uniform(-1, 1, N), M + 1, increasing=True)
    return X, rng.normal(size=N), 10 ** rng.uniform(-2, 1)


def _minimum(X: Floats, t: Floats, penalty: Floats) -> Floats:
    """The weights of the penalised error, with the penalties as further rows of data."""
    rows = np.diag(np.sqrt(penalty))
    return np.asarray(np.linalg.lstsq(np.vstack([X, rows]), np.append(t, 0 * penalty))[0])


@equation(
    "2.2",
    section="2.1.3",
    latex=r"\tilde{E}(\mathbf{w}) = \frac{1}{2} \sum_{n=1}^M \{y(x_n, \mathbf{w}) - t_n\}^2"
    r" + \frac{\lambda}{2} \|\mathbf{w}\|^2",
    corrected=r"\tilde{E}(\mathbf{w}) = \frac{1}{2} \sum_{n=1}^N \{y(x_n, \mathbf{w}) - t_n\}^2"
    r" + \frac{\lambda}{2} \|\mathbf{w}\|^2",
    cause="points-summed-to-the-order",
)
def penalised_sum(rng: Generator) -> Sides:
    """The penalised error whose gradient vanishes at the closed form of 2.2.1.

    In each case, the Newton step from the closed form has to be zero; weights plus step are
    compared.
    """
    X, t, penalty = _case(rng)
    M = X.shape[1] - 1
    w = np.linalg.solve(penalty * np.eye(M + 1) + X.T @ X, X.T @ t)

    def after_step(points: int) -> Floats:
        Phi = X[:points]
        gradient = Phi.T @ (Phi @ w - t[:points]) + penalty * w
        step = np.linalg.solve(Phi.T @ Phi + penalty * np.eye(M + 1), gradient)
        return np.asarray(w - step)

    return Sides(
        truth=_minimum(X, t, np.full(M + 1, penalty)),
        printed=after_step(M),
        corrected=after_step(len(t)),
    )


@equation(
    "section 2.2.1",
    section="2.2.1",
    latex=r"\mathbf{w} = (\lambda \mathbf{I} + \mathbf{\Phi}^T \mathbf{\Phi})^{-1}"
    r" \mathbf{\Phi}^T \mathbf{t}",
)
def penalised_weights(rng: Generator) -> Sides:
    """The weights that minimise the sum of squared errors with a quadratic penalty."""
    X, t, penalty = _case(rng)
    D = X.shape[1]
    printed = np.linalg.solve(penalty * np.eye(D) + X.T @ X, X.T @ t)
    return Sides(truth=_minimum(X, t, np.full(D, penalty)), printed=printed)


@equation(
    "section 2.1.3, w_0 omitted",
    section="2.1.3",
    latex=r"t_n \rightarrow t_n + c: \quad w_0 \rightarrow w_0 + c, \quad w_j \rightarrow w_j"
    r" \quad (j > 0)",
)
def free_bias(rng: Generator) -> Sides:
    """Without a penalty on the first weight, the origin of the targets has no effect on the others.

    The targets are moved by a constant, and so is the first weight alone.
    """
    X, t, penalty = _case(rng)
    shift, penalties = rng.normal(0, 5), np.full(X.shape[1], penalty)
    penalties[0] = 0
    moved = _minimum(X, t, penalties)
    moved[0] += shift
    return Sides(truth=_minimum(X, t + shift, penalties), printed=moved)


@equation(
    "section 2.2.3, mode of the posterior",
    section="2.2.3",
    latex=r"p(\mathbf{w}) = N(\mathbf{0}, \alpha^{-1} \mathbf{I}): \quad \mathbf{m}_N = (\lambda"
    r" \mathbf{I} + \mathbf{\Phi}^T \mathbf{\Phi})^{-1} \mathbf{\Phi}^T \mathbf{t}, \quad \lambda ="
    r" \frac{\alpha}{\beta}",
)
def posterior_mode_is_ridge(rng: Generator) -> Sides:
    """The most probable weights under a Gaussian prior solve regularised least squares.

    The other route conditions the joint Gaussian of weights and targets on the targets.
    """
    (X, t, alpha), beta = _case(rng), rng.uniform(0.5, 20)
    N, D = X.shape
    penalty = alpha / beta
    mode = X.T @ np.linalg.solve(X @ X.T / alpha + np.eye(N) / beta, t) / alpha
    return Sides(truth=mode, printed=np.linalg.solve(penalty * np.eye(D) + X.T @ X, X.T @ t))
