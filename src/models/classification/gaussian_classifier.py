r"""The Bayes classifier with Gaussian class-conditional densities (FCML 5.2.1).

    P(t = c | x) = p(x | c) P(c) / sum_c' p(x | c') P(c')                          FCML 5.2
    p(x | c) = N(mu_c, Sigma_c)                                                    FCML 5.3
    mu_c = 1/N_c sum_n x_n                                                         FCML 5.4
    Sigma_c = 1/N_c sum_n (x_n - mu_c)(x_n - mu_c)^T                               FCML 5.5

Sigma_c may be full, diagonal (naive Bayes: a product of univariate Gaussians, 5.2.1.5), or shared
by all classes; the scatter is divided by N_c (maximum likelihood) or by N_c - 1 (unbiased).
"""

from typing import NamedTuple

import numpy as np

from bythebook.models.clustering.mixture import posterior
from bythebook.models.probability.gaussian import log_density
from bythebook.models.types import Floats, Ints

FULL, NAIVE, SHARED = COVARIANCES = ("full", "naive", "shared")


class Classes(NamedTuple):
    """A Gaussian for each of C classes, and the prior probability of the class."""

    mean: Floats  # (C, D) mu_c
    covariance: Floats  # (C, D, D) Sigma_c
    prior: Floats  # (C,) P(t = c)


def fit(X: Floats, t: Ints, covariance: str = FULL, *, unbiased: bool = False) -> Classes:
    """Estimate from points X (N, D) of classes t (N,); classes in ascending order.

    The prior is the share of each class.
    """
    labels, counts = np.unique(t, return_counts=True)
    mean = np.stack([X[t == c].mean(0) for c in labels])  # FCML 5.4
    centred = X - mean[np.searchsorted(labels, t)]
    lost = 1 if unbiased else 0
    scatter = np.stack([centred[t == c].T @ centred[t == c] for c in labels])
    if covariance == SHARED:
        pooled = scatter.sum(0) / (len(X) - lost * len(labels))
        Sigma = np.broadcast_to(pooled, scatter.shape).copy()
    else:
        Sigma = scatter / (counts - lost)[:, None, None]  # FCML 5.5
    if covariance == NAIVE:
        Sigma = Sigma * np.eye(X.shape[1])
    return Classes(mean, Sigma, counts / len(X))


def log_likelihood(classes: Classes, X: Floats) -> Floats:
    """Ln p(x | c) for points X (..., D), shape (..., C)."""
    each = zip(classes.mean, classes.covariance, strict=True)
    return np.stack([log_density(X, mu, Sigma) for mu, Sigma in each], axis=-1)  # FCML 5.3


def probabilities(classes: Classes, X: Floats) -> Floats:
    """P(t = c | x) for points X (..., D), shape (..., C)."""
    return posterior(log_likelihood(classes, X) + np.log(classes.prior))[0]  # FCML 5.2
