r"""The relevance vector machine for two classes, by Laplace's approximation (notes 2.7.2).

    p(t = 1 | x, w) = sigma(w^T phi(x)),   w_i ~ N(0, 1 / alpha_i)

The mode w of the posterior for given alpha comes from Newton's method; with S the inverse of the
curvature there, gamma_i = 1 - alpha_i S_ii and alpha_i = gamma_i / w_i^2 as in regression. A weight
whose precision passes a limit is removed with its column.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from models.types import Floats, Ints

_REMOVED = 1e6  # a precision from which on a weight is taken for zero


class RelevanceClassifier(NamedTuple):
    """What is left of M basis functions."""

    kept: Ints  # (m,) their places
    w: Floats  # (m,) the most probable weights
    covariance: Floats  # (m, m) of Laplace's approximation
    alpha: Floats  # (m,)


def mode(Phi: Floats, t: Floats, alpha: Floats, w: Floats) -> tuple[Floats, Floats]:
    """The most probable weights for labels 0 and 1, and the covariance there, from weights w."""

    def height(v: Floats) -> float:
        a = Phi @ v
        return float(t @ a - np.logaddexp(0, a).sum() - alpha @ v**2 / 2)

    here = height(w)
    for _ in range(50):
        y = expit(Phi @ w)
        gradient = Phi.T @ (t - y) - alpha * w
        curvature = (Phi.T * (y * (1 - y))) @ Phi + np.diag(alpha)
        step = np.linalg.solve(curvature, gradient)
        size = 1.0
        while height(w + size * step) < here and size > 1e-6:
            size /= 2
        w = w + size * step
        here = height(w)
        if np.abs(step).max() < 1e-8 * (1 + np.abs(w).max()):
            break
    y = expit(Phi @ w)
    curvature = (Phi.T * (y * (1 - y))) @ Phi + np.diag(alpha)
    return w, np.linalg.solve(curvature, np.eye(len(w)))


def fit(Phi: Floats, t: Floats, *, tol: float = 1e-3, max_iter: int = 300) -> RelevanceClassifier:
    """Re-estimate precisions until none moves by a share of `tol`; Phi (N, M), t 0 or 1."""
    kept = np.arange(Phi.shape[1])
    alpha, w = np.ones(len(kept)), np.zeros(len(kept))
    S = np.eye(len(kept))
    for _ in range(max_iter):
        w, S = mode(Phi[:, kept], t, alpha, w)
        gamma = 1 - alpha * np.diagonal(S)
        with np.errstate(divide="ignore"):
            new = np.maximum(gamma, 1e-12) / w**2
        stays = new < _REMOVED
        if not stays.any():  # nothing is left to be told from chance
            stays[np.argmin(new)] = True
        moved = np.abs(np.log(new / alpha))[stays].max()
        kept, alpha, w = kept[stays], new[stays], w[stays]
        S = S[np.ix_(stays, stays)]
        if stays.all() and moved < tol:
            break
    w, S = mode(Phi[:, kept], t, alpha, w)
    return RelevanceClassifier(kept, w, S, alpha)
