r"""Posterior over models that are distributions of single points, and mixtures of these models.

    P(h | X) ~ P(h) prod_n p(x_n | h)               one model for all points       PRML 14.6
    p(x | X) = sum_h p(x | h) P(h | X)                                             Ghahramani 6
    p(x | pi) = sum_h pi_h p(x | h)                 a model for each point         PRML 14.3

Models by name: "gaussians" and "cauchys", equal mixtures of two of width one at -2 and 2, and
"coin p", a coin that gives 1 with probability p.
"""

import numpy as np
from numpy.random import Generator
from scipy.special import logsumexp

from bythebook.models.convergence import warn_not_converged
from bythebook.models.types import Floats

_PLACES = np.array([-2.0, 2.0])
BOTH = "both"  # half of the points from the first model, half from the last


def log_density(name: str, x: Floats) -> Floats:
    """Log of p(x | h) for points of any shape."""
    if name.startswith("coin "):
        bias = float(name.removeprefix("coin "))
        return np.log(np.where(x == 1, bias, 1 - bias))
    away = x[..., None] - _PLACES
    if name == "gaussians":
        log_p = -(away**2) / 2 - np.log(2 * np.pi) / 2
    else:
        log_p = -np.log1p(away**2) - np.log(np.pi)
    return np.asarray(logsumexp(log_p, axis=-1) - np.log(2))


def sample(name: str, models: list[str], shape: tuple[int, ...], rng: Generator) -> Floats:
    """Points from one of the models, or from the equal mixture of the first and the last."""
    if name == BOTH:
        first, last = (sample(model, models, shape, rng) for model in (models[0], models[-1]))
        return np.where(rng.random(shape) < 0.5, first, last)
    if name.startswith("coin "):
        return (rng.random(shape) < float(name.removeprefix("coin "))).astype(np.float64)
    noise = rng.standard_normal(shape) if name == "gaussians" else rng.standard_cauchy(shape)
    return np.asarray(rng.choice(_PLACES, shape) + noise)


def posterior(log_p: Floats) -> Floats:
    """P(h | x_1..x_n) after each point, from log densities (..., N, H), each prior the last one.

    Equal priors; shape (..., N, H).
    """
    log_q = np.cumsum(log_p, axis=-2)
    return np.asarray(np.exp(log_q - logsumexp(log_q, axis=-1, keepdims=True)))


def mixture_weights(log_p: Floats, *, tol: float = 1e-6, max_iter: int = 300) -> Floats:
    """The likeliest pi of the mixture by EM, for log densities (R, N, H), shape (R, H)."""
    p = np.exp(log_p - log_p.max(-1, keepdims=True))
    pi = np.full((len(p), p.shape[-1]), 1 / p.shape[-1])
    for _ in range(max_iter):
        joint = pi[:, None] * p
        new = (joint / joint.sum(-1, keepdims=True)).mean(1)
        moved = np.abs(new - pi).max()
        pi = new
        if moved < tol:
            break
    else:
        warn_not_converged("EM for the weights of a mixture", iterations=max_iter, tol=tol)
    return np.asarray(pi)
