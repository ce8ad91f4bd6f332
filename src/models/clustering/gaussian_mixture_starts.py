"""Initial values of EM for a Gaussian mixture: each is a GaussianMixture with R restarts.

PRML 9.2.2 starts at hand-picked centres with spherical covariances, or at the result of K-means;
FCML 6.3.4 draws means and covariances at random; a random subset of the data points is PRML's
advice for K-means. Hand-picked and random centres of any kind, those of `kmeans` among them,
go through `start_at`.
"""

import numpy as np
import numpy.typing as npt

from bythebook.models.clustering.gaussian_mixture import (
    GaussianMixture,
    Statistics,
    collapsed,
    m_step,
)
from bythebook.models.clustering.kmeans import random_points
from bythebook.models.types import Floats, Ints


def sample_covariance(X: Floats) -> Floats:
    """The maximum likelihood covariance of all the data, shape (D, D)."""
    return np.cov(X, rowvar=False, bias=True).reshape(X.shape[1], X.shape[1])


def start_at(
    mu: npt.ArrayLike, Sigma: npt.ArrayLike, pi: npt.ArrayLike | None = None
) -> GaussianMixture:
    """Means (R, K, D); covariances and proportions that broadcast to R and K, pi = 1/K if None."""
    means = np.array(mu, dtype=float)
    R, K, D = means.shape
    proportions = np.full((R, K), 1 / K) if pi is None else np.asarray(pi, dtype=float)
    return GaussianMixture(
        np.broadcast_to(proportions, (R, K)).copy(),
        means,
        np.broadcast_to(np.asarray(Sigma, dtype=float), (R, K, D, D)).copy(),
    )


def start_at_points(
    X: Floats, K: int, rng: np.random.Generator, restarts: int = 1
) -> GaussianMixture:
    """K random data points as means, the covariance of all the data, equal proportions."""
    return start_at(random_points(X, K, rng, restarts), sample_covariance(X))


def start_of_gaussians(K: int, D: int, rng: np.random.Generator, restarts: int) -> GaussianMixture:
    """Standard normal means and covariances u I, u uniform between 0 and 1: FCML's script."""
    mu = rng.standard_normal((restarts, K, D))
    return start_at(mu, rng.uniform(size=(restarts, K, 1, 1)) * np.eye(D))


def weighted_moments(X: Floats, gamma: Floats) -> Statistics:
    """The statistics of given responsibilities (R, N, K) about the mean of all the data."""
    centred = X - X.mean(0)
    first = gamma.swapaxes(1, 2) @ centred
    # Component by component: all K weighted copies of the data at once would be K times the data.
    components = gamma.swapaxes(0, 2)[..., None]  # (K, N, R, 1)
    second = np.stack([(g * centred[:, None]).transpose(1, 2, 0) @ centred for g in components], 1)
    return Statistics(gamma.sum(1), first, second)


def start_from_responsibilities(X: Floats, gamma: Floats) -> GaussianMixture:
    """The M step for responsibilities (R, N, K): weighted means, covariances, proportions.

    Too few points for a covariance (K-means may leave a cluster with one): that of all the data.
    """
    shared = sample_covariance(X)
    R, _, K = gamma.shape
    origin = start_at(np.tile(X.mean(0), (R, K, 1)), shared)
    theta = m_step(origin, weighted_moments(X, gamma))
    singular = collapsed(theta, 1e-8 * float(np.linalg.eigvalsh(shared)[0]))
    return theta._replace(Sigma=np.where(singular[..., None, None], shared, theta.Sigma))


def start_from_labels(X: Floats, labels: Ints, K: int) -> GaussianMixture:
    """Means, covariances and fractions of the clusters that K-means found, labels (R, N)."""
    return start_from_responsibilities(X, (labels[..., None] == np.arange(K)).astype(float))


def start_from_random_responsibilities(
    X: Floats, K: int, rng: np.random.Generator, restarts: int
) -> GaussianMixture:
    """Responsibilities uniform on the simplex, point by point, and one M step."""
    return start_from_responsibilities(X, rng.dirichlet(np.ones(K), size=(restarts, len(X))))


def start_identical(X: Floats, K: int) -> GaussianMixture:
    """All components equal to the Gaussian of the data: a fixed point that EM cannot leave."""
    return start_at(np.tile(X.mean(0), (1, K, 1)), sample_covariance(X))
