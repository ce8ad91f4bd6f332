r"""The relevance vector machine for two classes, by Laplace's approximation (notes 2.7.2).

    p(t = 1 | x, w) = sigma(w^T phi(x)),   w_i ~ N(0, 1 / alpha_i)

The mode w of the posterior for given alpha comes from Newton's method; with S the inverse of the
curvature there, gamma_i = 1 - alpha_i S_ii and alpha_i = gamma_i / w_i^2 as in regression. A weight
whose precision passes a limit is removed with its column.
"""

from typing import NamedTuple

import numpy as np

from bythebook.models.classification.logistic import Posterior, hessian, newton_raphson
from bythebook.models.convergence import warn_not_converged
from bythebook.models.types import Floats, Ints

_REMOVED = 1e6  # a precision from which on a weight is set to zero
_SETTLED = 1e-16  # a squared change of all weights that ends the search for the mode


class RelevanceClassifier(NamedTuple):
    """The basis functions that remain of M."""

    kept: Ints  # (m,) their places
    w: Floats  # (m,) the most probable weights
    covariance: Floats  # (m, m) of Laplace's approximation
    alpha: Floats  # (m,)


def mode(Phi: Floats, t: Floats, alpha: Floats, w: Floats) -> tuple[Floats, Floats]:
    """The most probable weights for labels 0 and 1, and the covariance there, from weights w."""
    sd = 1 / np.sqrt(alpha)  # in units of it each weight has a prior variance of one
    scaled = Posterior(Phi * sd, t, 1.0)
    best = newton_raphson(scaled, (w / sd)[None], _SETTLED).path[-1, 0]
    S = np.linalg.solve(-hessian(scaled, best), np.diag(sd))
    return best * sd, sd[:, None] * S


def fit(Phi: Floats, t: Floats, *, tol: float = 1e-3, max_iter: int = 5000) -> RelevanceClassifier:
    """Re-estimate precisions until none moves by a share of `tol`; Phi (N, M), t 0 or 1."""
    kept = np.arange(Phi.shape[1])
    alpha, w = np.ones(len(kept)), np.zeros(len(kept))
    for _ in range(max_iter):
        w, S = mode(Phi[:, kept], t, alpha, w)
        gamma = 1 - alpha * np.diagonal(S)
        with np.errstate(divide="ignore"):
            new = np.maximum(gamma, 1e-12) / w**2
        stays = new < _REMOVED
        if not stays.any():  # no weight differs from zero
            stays[np.argmin(new)] = True
        moved = np.abs(np.log(new / alpha))[stays].max()
        kept, alpha, w = kept[stays], new[stays], w[stays]
        if stays.all() and moved < tol:
            break
    else:
        warn_not_converged("relevance vector machine", iterations=max_iter, tol=tol)
    w, S = mode(Phi[:, kept], t, alpha, w)
    return RelevanceClassifier(kept, w, S, alpha)
