"""Initial values of EM for a hidden Markov model: labels, clusters, random (MLAPP 17.5.2.3).

A start is a model with a leading axis of R restarts. Labels give the counts of MLAPP 17.5.1;
K-means gives emissions and leaves the chain uniform (PRML 13.2.2); equal states are a point that
EM cannot leave.
"""

import numpy as np

from bythebook.models.chains.baum_welch import (
    FLAT,
    CategoricalHMM,
    GaussianHMM,
    Model,
    Posterior,
    Prior,
    one_hot,
    reestimate,
    transition_counts,
)
from bythebook.models.clustering import gaussian_mixture
from bythebook.models.clustering.gaussian_mixture_starts import start_from_labels
from bythebook.models.clustering.kmeans import kmeans, kmeans_plus_plus, random_points
from bythebook.models.types import Floats, Ints


def uniform_chain(restarts: int, K: int) -> tuple[Floats, Floats]:
    """First states and transitions without preference: pi (R, K) and A (R, K, K)."""
    return np.full((restarts, K), 1 / K), np.full((restarts, K, K), 1 / K)


def random_chain(
    restarts: int, K: int, rng: np.random.Generator, concentration: float = 1.0
) -> tuple[Floats, Floats]:
    """The same from a symmetric Dirichlet distribution, row by row."""
    alpha = np.full(K, concentration)
    return rng.dirichlet(alpha, restarts), rng.dirichlet(alpha, (restarts, K))


def labelled_categorical(
    symbols: Ints, gamma: Floats, L: int, prior: Prior = FLAT
) -> CategoricalHMM:
    """Normalised counts for known states (MLAPP 17.5.1), gamma (R, N, T, K) their one_hot labels.

    gamma may also be the soft assignments of a mixture that ignores the order of the data.
    """
    R, K = len(gamma), gamma.shape[-1]
    flat = CategoricalHMM(*uniform_chain(R, K), np.full((R, K, L), 1 / L))
    return reestimate(flat, np.asarray(symbols), Posterior(gamma, transition_counts(gamma)), prior)


def labelled_gaussian(x: Floats, gamma: Floats, prior: Prior = FLAT) -> GaussianHMM:
    """The same for Gaussian emissions: means and covariances of the classes (17.93)."""
    flat = identical_gaussian(x, gamma.shape[-1], len(gamma))
    return reestimate(flat, x, Posterior(gamma, transition_counts(gamma)), prior)


def random_categorical(
    K: int, L: int, restarts: int, rng: np.random.Generator, concentration: float = 1.0
) -> CategoricalHMM:
    """All rows from symmetric Dirichlet distributions."""
    chain = random_chain(restarts, K, rng, concentration)
    return CategoricalHMM(*chain, rng.dirichlet(np.full(L, concentration), (restarts, K)))


def identical_categorical(symbols: Ints, K: int, L: int, restarts: int) -> CategoricalHMM:
    """K equal states with the frequencies of the data: a stationary point that EM cannot leave."""
    frequencies = np.bincount(np.ravel(symbols), minlength=L) / np.size(symbols)
    return CategoricalHMM(*uniform_chain(restarts, K), np.tile(frequencies, (restarts, K, 1)))


def identical_gaussian(x: Floats, K: int, restarts: int) -> GaussianHMM:
    """K equal states with the mean and the covariance of the data: EM cannot leave it either."""
    points = x.reshape(-1, x.shape[-1])
    mu = np.tile(points.mean(axis=0), (restarts, K, 1))
    Sigma = np.tile(np.atleast_2d(np.cov(points.T, bias=True)), (restarts, K, 1, 1))
    return GaussianHMM(*uniform_chain(restarts, K), mu, Sigma)


def random_gaussian(
    x: Floats, K: int, restarts: int, rng: np.random.Generator, concentration: float = 1.0
) -> GaussianHMM:
    """A random chain, data points as means, the covariance of the data in every state."""
    pi, A = random_chain(restarts, K, rng, concentration)
    mu = random_points(x.reshape(-1, x.shape[-1]), K, rng, restarts)
    return identical_gaussian(x, K, restarts)._replace(pi=pi, A=A, mu=mu)


def kmeans_gaussian(
    x: Floats, K: int, restarts: int, rng: np.random.Generator, prior: Prior = FLAT
) -> GaussianHMM:
    """A uniform chain; means and covariances of the clusters of K-means (PRML 13.2.2)."""
    points = x.reshape(-1, x.shape[-1])
    clusters = kmeans(points, kmeans_plus_plus(points, K, rng, restarts))
    labels = clusters.labels.reshape(restarts, -1, x.shape[-2])
    pi, A = uniform_chain(restarts, K)
    return labelled_gaussian(x, one_hot(labels, K), prior)._replace(pi=pi, A=A)


def mixture_gaussian(x: Floats, K: int, restarts: int, rng: np.random.Generator) -> GaussianHMM:
    """A uniform chain; a mixture fitted to points (T, D) without their order, K-means first."""
    clusters = kmeans(x, kmeans_plus_plus(x, K, rng, restarts)).labels
    mixture = gaussian_mixture.fit(x, start_from_labels(x, clusters, K)).theta
    return GaussianHMM(*uniform_chain(restarts, K), mixture.mu, mixture.Sigma)


def with_zeros(theta: Model) -> Model:
    """Never begin in the first state, and never go from it to the second."""
    pi, A = theta.pi.copy(), theta.A.copy()
    pi[:, 0], A[:, 0, 1] = 0.0, 0.0
    return theta._replace(
        pi=pi / pi.sum(axis=-1, keepdims=True), A=A / A.sum(axis=-1, keepdims=True)
    )


def perturb(theta: Model, rng: np.random.Generator, strength: float) -> Model:
    """Multiply each probability by exp(strength * noise), and shift means by `strength` deviations.

    EM cannot leave a symmetric start without it. The noise is standard normal; zeros stay zero.
    """

    def shake(p: Floats) -> Floats:
        shaken = p * np.exp(strength * rng.standard_normal(p.shape))
        return np.asarray(shaken / shaken.sum(axis=-1, keepdims=True))

    theta = theta._replace(pi=shake(theta.pi), A=shake(theta.A))
    if isinstance(theta, CategoricalHMM):
        return theta._replace(B=shake(theta.B))
    noise = rng.standard_normal((*theta.mu.shape, 1))
    return theta._replace(
        mu=theta.mu + strength * (np.linalg.cholesky(theta.Sigma) @ noise)[..., 0]
    )
