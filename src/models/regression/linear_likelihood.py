r"""The likelihood of the linear model, and the Fisher information of its weights.

    log L(w, sigma) = -N/2 log(2 pi sigma^2) - |t - Phi w|^2 / (2 sigma^2)         FCML 2.31
    I = E{-d^2 log L / dw dw^T} = Phi^T Phi / sigma^2,    cov(w) = I^-1            FCML 2.46-2.47

The information is positive definite: the sharper the likelihood, the less the weights vary.
"""

import numpy as np

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


def information(Phi: Floats, sigma2: float) -> Floats:
    """The Fisher information of the weights, (D, D), the same for all weights."""
    return np.asarray(Phi.T @ Phi / sigma2)  # FCML 2.47
