r"""The linear model with Gaussian noise (FCML chapters 1 and 2).

    t = Phi w + e,    e ~ N(0, sigma^2 I)

The weights of least squares are those of maximum likelihood, and the likelihood's best noise
variance is the mean squared residual.
"""

from typing import NamedTuple

import numpy as np

from bythebook.models.types import Floats


class LeastSquares(NamedTuple):
    """Least squares, which is maximum likelihood."""

    w: Floats  # (D,) argmin |t - Phi w|^2
    residuals: Floats  # (N,)
    sigma2: float  # maximum likelihood noise variance, divisor N
    covariance: Floats  # (D, D) cov(w) = sigma2 (Phi^T Phi)^-1


def least_squares(Phi: Floats, t: Floats) -> LeastSquares:
    """Fit by QR; the columns are brought to one scale first, so that raw years do no harm."""
    from scipy.linalg import qr, solve_triangular  # its import takes as long as that of NumPy

    scale = np.linalg.norm(Phi, axis=0)
    Q, R = qr(Phi / scale, mode="economic")
    w = solve_triangular(R, Q.T @ t) / scale  # FCML 1.16, 2.33
    residuals = t - Phi @ w
    sigma2 = float(residuals @ residuals) / len(t)  # FCML 2.35
    root = solve_triangular(R, np.eye(len(w))) / scale[:, None]
    return LeastSquares(w, residuals, sigma2, sigma2 * root @ root.T)  # FCML 2.45


def maximum_log_likelihood(sigma2: Floats | float, n: int) -> Floats:
    """The Gaussian log likelihood of n points at its maximum, the noise variance being sigma2."""
    with np.errstate(divide="ignore"):  # an exact fit has infinite likelihood
        return np.asarray(-n / 2 * (1 + np.log(2 * np.pi)) - n / 2 * np.log(sigma2))  # FCML 2.7.4


def line(x: Floats) -> Floats:
    """The design matrix of a straight line, columns 1 and x."""
    return np.column_stack([np.ones_like(x), x])


def line_and_sine(x: Floats, a: float, b: float) -> Floats:
    """Columns 1, x and sin((x - a) / b) (FCML 1.4)."""
    return np.column_stack([line(x), np.sin((x - a) / b)])
