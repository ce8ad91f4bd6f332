r"""The likelihood of the linear model, its curvature and the Fisher information of the weights.

    log L(w, sigma) = -N/2 log(2 pi sigma^2) - |t - Phi w|^2 / (2 sigma^2)         FCML 2.31

    d^2 log L / dw dw^T = -Phi^T Phi / sigma^2                                     FCML 2.38
    I = E{-d^2 log L / dw dw^T} = Phi^T Phi / sigma^2,    cov(w) = I^-1            FCML 2.46-2.47

The information is positive definite: the sharper the likelihood, the less the weights vary.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

from bythebook.models.regression.linear import LeastSquares, least_squares
from bythebook.models.types import Floats


def log_likelihood(Phi: Floats, t: Floats, w: Floats, sigma2: float) -> Floats:
    """Log likelihood ln p(t | Phi, w, sigma2) for weights w (..., D), shape (...)."""
    residuals = t - w @ Phi.T
    squares = (residuals**2).sum(-1)
    return np.asarray(
        -len(t) / 2 * np.log(2 * np.pi * sigma2) - squares / (2 * sigma2)
    )  # FCML 2.31


def relative_likelihood(Phi: Floats, t: Floats, w: Floats, best: Floats, sigma2: float) -> Floats:
    """The likelihood of weights w (..., D) over that of the best (D,), shape (...)."""
    log_ratio = log_likelihood(Phi, t, w, sigma2) - log_likelihood(Phi, t, best, sigma2)
    return np.asarray(np.exp(log_ratio))


def hessian(Phi: Floats, sigma2: float) -> Floats:
    """Second derivatives of the log likelihood in the weights, (D, D), the same for every w."""
    return -(Phi.T @ Phi) / sigma2  # FCML 2.38


def hessian_by_differences(Phi: Floats, t: Floats, w: Floats, sigma2: float) -> Floats:
    """The same by differences of the log likelihood about w, steps scaled to each weight."""
    steps = np.diag(np.sqrt(sigma2) / np.linalg.norm(Phi, axis=0))
    a, b, h = steps[:, None], steps[None], np.diag(steps)
    up = log_likelihood(Phi, t, w + a + b, sigma2) + log_likelihood(Phi, t, w - a - b, sigma2)
    down = log_likelihood(Phi, t, w + a - b, sigma2) + log_likelihood(Phi, t, w - a + b, sigma2)
    return np.asarray((up - down) / (4 * np.outer(h, h)))


def weights_by_search(Phi: Floats, t: Floats, sigma2: float) -> Floats:
    """The weights (D,) of the largest likelihood, by a search without derivatives from zero."""
    scale = 1 / np.sqrt((Phi**2).mean(0))
    found = minimize(
        lambda v: -float(log_likelihood(Phi, t, v * scale, sigma2)),
        np.zeros(Phi.shape[1]),
        method="Nelder-Mead",
        options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 10_000, "maxfev": 10_000},
    )
    return np.asarray(found.x * scale)


def sigma_slopes(Phi: Floats, t: Floats, w: Floats, sigma: float) -> dict[str, float]:
    """FCML 2.34 as printed, and by differences of the likelihood and of its logarithm."""
    near = sigma * np.array([0.999, 1.001])
    logs = np.array([log_likelihood(Phi, t, w, s**2) for s in near])
    squares = ((t - Phi @ w) ** 2).sum()
    return {
        "printed": float(-len(t) / sigma + squares / sigma**3),  # FCML 2.34
        "likelihood": float(np.diff(np.exp(logs))[0] / np.diff(near)[0]),
        "log likelihood": float(np.diff(logs)[0] / np.diff(near)[0]),
    }


def sigma_curvature(residuals: Floats, sigma2: float) -> float:
    """Second derivative of the log likelihood in sigma; -2 N / sigma2 at the best sigma2."""
    return float(len(residuals) / sigma2 - 3 * (residuals @ residuals) / sigma2**2)  # FCML 2.7.3


def sigma_curvature_by_differences(Phi: Floats, t: Floats, w: Floats, sigma2: float) -> float:
    """The same from the log likelihood at sigma, a thousandth below and a thousandth above."""
    sigma = np.sqrt(sigma2) * np.array([0.999, 1.0, 1.001])
    down, middle, up = (log_likelihood(Phi, t, w, s**2) for s in sigma)
    return float((up - 2 * middle + down) / (sigma[2] - sigma[1]) ** 2)


def scaled_eigenvalues(H: Floats) -> Floats:
    """Eigenvalues of a negative definite matrix, its rows and columns brought to one scale.

    The same scaling of rows and columns keeps the signs, and increases the accuracy.
    """
    scale = np.sqrt(-np.diag(H))
    return np.asarray(np.linalg.eigvalsh(H / np.outer(scale, scale)))


def information(Phi: Floats, sigma2: float) -> Floats:
    """The Fisher information of the weights, (D, D)."""
    return -hessian(Phi, sigma2)  # FCML 2.47


def inverse(A: Floats) -> Floats:
    """The inverse of a positive definite matrix; its columns are brought to one scale first."""
    scale = np.sqrt(np.diag(A))
    factor = cho_factor(A / np.outer(scale, scale))
    return np.asarray(cho_solve(factor, np.eye(len(A))) / np.outer(scale, scale))


class NormalEquations(NamedTuple):
    """Least squares step by step, as in a hand calculation (FCML 1.3.2)."""

    gram: Floats  # (D, D) Phi^T Phi
    determinant: float  # of the Gram matrix
    inverse: Floats  # (D, D) its inverse
    pseudo: Floats  # (D, N) the inverse times Phi^T
    w: Floats  # (D,)


def normal_equations(Phi: Floats, t: Floats) -> NormalEquations:
    """Each matrix on the way to the weights.

    `bythebook.models.regression.linear.least_squares` is more accurate.
    """
    gram = Phi.T @ Phi
    root = inverse(gram)
    pseudo = root @ Phi.T
    determinant = float(np.exp(np.linalg.slogdet(gram).logabsdet))
    return NormalEquations(gram, determinant, root, pseudo, pseudo @ t)  # FCML 1.16


def average_loss(Phi: Floats, t: Floats, w: Floats, alpha: Floats | float = 1.0) -> Floats:
    """The mean squared loss of weights w (..., D), each point weighted by its alpha."""
    return np.asarray((alpha * (t - w @ Phi.T) ** 2).mean(-1))  # FCML 1.14, exercise 1.11


def loss_gradient(Phi: Floats, t: Floats, w: Floats, alpha: Floats | float = 1.0) -> Floats:
    """The gradient of the average loss at w (D,)."""
    return np.asarray(2 / len(t) * Phi.T @ (alpha * (Phi @ w - t)))  # FCML 1.15


def weighted_least_squares(Phi: Floats, t: Floats, alpha: Floats) -> LeastSquares:
    """Weights that minimise sum_n alpha_n (t_n - w^T x_n)^2: rows are scaled by sqrt(alpha)."""
    root = np.sqrt(alpha)
    return least_squares(Phi * root[:, None], t * root)  # w = (X^T A X)^-1 X^T A t
