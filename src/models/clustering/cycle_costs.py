"""One cycle of K-means and one of EM, one line per formula, in operations that can be counted.

PRML 9.1 and 9.2.2: for data (N, D) and K clusters, from the parameters before to those after.
"""

import numpy as np

from bythebook.models.clustering.gaussian_mixture import GaussianMixture
from bythebook.models.operation_counts import count_operations
from bythebook.models.types import Floats

COUNTED = ("products", "quotients", "exponentials")


def kmeans_cycle(X: Floats, mu: Floats) -> Floats:
    """The centres (K, D) after a cycle from mu (K, D); one that gets no point is then zero."""
    off = X[:, None] - mu
    nearest = (off * off).sum(axis=-1).argmin(axis=1)  # 9.2
    mine = [nearest == k for k in range(len(mu))]
    return np.stack([X[own].sum(axis=0) / float(max(own.sum(), 1)) for own in mine])  # 9.4


def em_cycle(
    X: Floats, scale: Floats, mu: Floats, minus_half_precision: Floats
) -> tuple[Floats, Floats, Floats]:
    """N_k (K,), means (K, D) and covariances (K, D, D) after a cycle.

    `scale` (K,) are the mixing weights over the normalisers of the Gaussians, up to a common
    factor. Work that is done once per cycle, and not for each point, such as inverting
    covariances, is left out.
    """
    off = X[:, None] - mu
    exponent = ((off[..., None, :] * minus_half_precision).sum(axis=-1) * off).sum(axis=-1)
    joint = scale * np.exp(exponent)
    gamma = joint / joint.sum(axis=1)[:, None]  # 9.23
    N = gamma.sum(axis=0)  # 9.27
    mean = (gamma[..., None] * X[:, None]).sum(axis=0) / N[:, None]  # 9.24
    off = X[:, None] - mean
    scatter = ((gamma[..., None] * off)[..., :, None] * off[..., None, :]).sum(axis=0)
    return N, mean, scatter / N[:, None, None]  # 9.25


def arguments(theta: GaussianMixture) -> tuple[Floats, Floats, Floats]:
    """The arguments of `em_cycle` other than the data, for the first of R mixtures."""
    pi, mu, Sigma = (part[0] for part in theta)
    unit = np.broadcast_to(np.eye(Sigma.shape[-1]), Sigma.shape)
    scale = pi * np.exp(-np.linalg.slogdet(Sigma).logabsdet / 2)
    return scale, mu, -np.linalg.solve(Sigma, unit) / 2


def cycle_costs(X: Floats, theta: GaussianMixture) -> dict[str, int]:
    """Products, quotients and exponentials of a cycle of each, from the first of R mixtures."""
    tallies = {
        "kmeans": count_operations(kmeans_cycle, X, theta.mu[0]),
        "em": count_operations(em_cycle, X, *arguments(theta)),
    }
    return {name: sum(tally[kind] for kind in COUNTED) for name, tally in tallies.items()}
