r"""The singularities of a mixture's likelihood: a component shrinks onto a point (PRML 9.2.1).

    p(X) = prod_n [ (1 - w) N(x_n | m, S) + w N(x_n | x_i, sigma^2 I) ],      sigma -> 0

with m and S of all the data, and four ways to fit a mixture, of which three are meant to avoid the
singularities. Widths are a batch axis.
"""

import numpy as np

from bythebook.models.approximation import variational_mixture
from bythebook.models.clustering.gaussian_mixture import GaussianMixture, Prior, fit
from bythebook.models.clustering.gaussian_mixture_starts import sample_covariance
from bythebook.models.clustering.gaussian_mixture_variants import fit_with_resets
from bythebook.models.clustering.kmeans import assign
from bythebook.models.types import Floats

METHODS = ("ml", "reset", "map", "vb")


def weak_prior(X: Floats, k: int) -> Prior:
    """MLAPP 11.4.2.8: scale the pooled variances over K^(1/D), D + 2 degrees of freedom."""
    D = X.shape[1]
    return Prior(1.0, np.diag(X.var(axis=0)) / k ** (1 / D), D + 2.0)


def shrinking(
    X: Floats, point: int, weight: float, widths: Floats
) -> tuple[GaussianMixture, GaussianMixture]:
    """The mixture above at each width, and the shrinking component alone."""
    D, R = X.shape[1], len(widths)
    unit = np.broadcast_to(np.eye(D), (R, 1, D, D))
    small = unit * widths[:, None, None, None] ** 2
    whole = np.broadcast_to(sample_covariance(X), small.shape)
    mixture = GaussianMixture(
        np.tile([1 - weight, weight], (R, 1)),
        np.tile(np.stack([X.mean(axis=0), X[point]]), (R, 1, 1)),
        np.concatenate([whole, small], axis=1),
    )
    return mixture, GaussianMixture(np.ones((R, 1)), mixture.mu[:, 1:], small)


def fit_by(
    method: str,
    X: Floats,
    start: GaussianMixture,
    rng: np.random.Generator,
    *,
    min_eigenvalue: float,
    tol: float,
    max_iter: int,
) -> tuple[Floats, Floats]:
    """The covariances at the end, shape (R, K, D, D), and the objective's history, (R, T + 1)."""
    k = start.pi.shape[1]
    prior = weak_prior(X, k)
    if method == "vb":
        flat = variational_mixture.Prior(1.0, 1.0, X.mean(axis=0), prior.S0, prior.nu0)
        nearest = (assign(X, start.mu)[..., None] == np.arange(k)).astype(float)
        vb = variational_mixture.fit(X, nearest, flat, tol=tol, max_iter=max_iter)
        return variational_mixture.expected_covariance(vb.theta), vb.objective
    if method == "reset":
        em = fit_with_resets(
            X, start, rng, min_eigenvalue=min_eigenvalue, tol=tol, max_iter=max_iter
        ).fit
    elif method == "map":
        em = fit(X, start, prior=prior, tol=tol, max_iter=max_iter)
    else:
        em = fit(X, start, min_eigenvalue=min_eigenvalue, tol=tol, max_iter=max_iter)
    return em.theta.Sigma, em.objective
