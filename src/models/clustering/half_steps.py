r"""The bound of a mixture after each half step of EM (PRML 9.4, Ghahramani 3).

E step   q_t = p(Z | X, theta_{t-1})                 KL(q_t || p) = 0, the bound touches
M step   theta_t raises L(q_t, theta)                the divergence from p(Z | X, theta_t) opens
"""

from typing import NamedTuple

import numpy as np

from bythebook.models.clustering.gaussian_mixture import GaussianMixture, log_joint
from bythebook.models.clustering.mixture import free_energy, kl_to_posterior, posterior
from bythebook.models.types import Floats


class HalfSteps(NamedTuple):
    """After the E and the M step of each of T iterations, shape (T, 2)."""

    log_likelihood: Floats  # ln p(X | theta), which an E step does not change
    bound: Floats  # L(q, theta)
    divergence: Floats  # KL(q || p(Z | X, theta))


def half_steps(joint: Floats) -> HalfSteps:
    """Half steps of ln p(x_n, z_n = k | theta_t), (T + 1, N, K): iterations are a batch axis."""
    gamma, log_evidence = posterior(joint)
    L, q = log_evidence.sum(axis=1), gamma[:-1]
    steps = joint[:-1], joint[1:]
    return HalfSteps(
        np.stack([L[:-1], L[1:]], axis=1),
        np.stack([free_energy(step, q) for step in steps], axis=1),
        np.stack([kl_to_posterior(step, q) for step in steps], axis=1),
    )


def arbitrary_q(N: int, K: int, count: int, rng: np.random.Generator) -> Floats:
    """Distributions of N labels, from nearly certain to nearly uniform ones, (count, N, K)."""
    sharpness = 10.0 ** rng.uniform(-1, 2, size=(count, 1, 1))
    weights = rng.gamma(np.broadcast_to(sharpness, (count, N, K))) + 1e-300
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def neighbour_gains(
    X: Floats, theta: GaussianMixture, q: Floats, rng: np.random.Generator, neighbours: int = 30
) -> Floats:
    """Gain in L(q, theta) of the best of some drawn neighbours of each of T mixtures, (T,).

    q has shape (T, N, K). Neighbours differ by a part in ten to a part in ten thousand.
    """
    top, found = free_energy(log_joint(X, theta), q), []
    for size in np.logspace(-4, -1, neighbours):
        bend = np.eye(X.shape[1]) + size * rng.standard_normal(theta.Sigma.shape)
        pi = theta.pi * np.exp(size * rng.standard_normal(theta.pi.shape))
        near = GaussianMixture(
            pi / pi.sum(axis=-1, keepdims=True),
            theta.mu + size * rng.standard_normal(theta.mu.shape),
            bend @ theta.Sigma @ bend.mT,
        )
        found.append(free_energy(log_joint(X, near), q) - top)
    return np.asarray(np.max(found, axis=0))


def gains_of_q(joint: Floats, q: Floats, rng: np.random.Generator, neighbours: int = 30) -> Floats:
    """Gain in L of the best of some drawn neighbours of each of T distributions, (T,).

    Both arrays have shape (T, N, K). Neighbours differ by a part in ten to one in ten thousand.
    """
    top, found = free_energy(joint, q), []
    for size in np.logspace(-4, -1, neighbours):
        near = q * np.exp(size * rng.standard_normal(q.shape))
        near /= near.sum(axis=-1, keepdims=True)
        found.append(free_energy(joint, near) - top)
    return np.asarray(np.max(found, axis=0))
