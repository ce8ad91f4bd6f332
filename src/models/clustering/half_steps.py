r"""The bound of a mixture after each half step of EM (PRML 9.4, Ghahramani 3).

E step   q_t = p(Z | X, theta_{t-1})                 KL(q_t || p) = 0, the bound touches
M step   theta_t raises L(q_t, theta)                the divergence from p(Z | X, theta_t) opens
"""

from typing import NamedTuple

import numpy as np

from models.clustering.mixture import free_energy, kl_to_posterior, posterior
from models.types import Floats


class HalfSteps(NamedTuple):
    """After the E and the M step of each of T iterations, shape (T, 2)."""

    log_likelihood: Floats  # ln p(X | theta), which an E step leaves as it is
    bound: Floats  # L(q, theta)
    divergence: Floats  # KL(q || p(Z | X, theta))


def half_steps(log_joint: Floats) -> HalfSteps:
    """From ln p(x_n, z_n = k | theta_t), shape (T + 1, N, K): iterations are a batch axis."""
    gamma, log_evidence = posterior(log_joint)
    L, q = log_evidence.sum(axis=1), gamma[:-1]
    steps = log_joint[:-1], log_joint[1:]
    return HalfSteps(
        np.stack([L[:-1], L[1:]], axis=1),
        np.stack([free_energy(joint, q) for joint in steps], axis=1),
        np.stack([kl_to_posterior(joint, q) for joint in steps], axis=1),
    )


def arbitrary_q(N: int, K: int, count: int, rng: np.random.Generator) -> Floats:
    """Distributions of N labels, from nearly certain to nearly uniform ones, (count, N, K)."""
    sharpness = 10.0 ** rng.uniform(-1, 2, size=(count, 1, 1))
    weights = rng.gamma(np.broadcast_to(sharpness, (count, N, K))) + 1e-300
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))
