r"""Regression with a non-conjugate Gaussian prior: derivatives and most probable weights.

    log g(w) = sum_n log p(t_n | x_n, w) + log N(w | 0, sigma^2 I)                        FCML 4.3
    gradient = X^T (t - m) - w / sigma^2                                                       4.9
    Hessian  = -X^T diag(v) X - I / sigma^2                                                   4.10
    w' = w - Hessian^-1 gradient                                                               4.6

g is the posterior up to a constant. m and v are functions of a = w^T x:

    binary   m = P = 1 / (1 + e^-a),   v = P (1 - P)              logistic regression, FCML 4.3
    counts   m = v = e^a                                           Poisson, FCML exercise 4.6
    real     m = a,   v = 1                                        linear, FCML exercise 4.1

Since v is never negative, log g is concave and has one maximum. Weights have leading axes (...): a
batch of points at which to evaluate, of starts, of samples.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import expit, gammaln, log_expit

from bythebook.models.convergence import warn_not_converged
from bythebook.models.types import Bools, Floats, Ints


class Response(NamedTuple):
    """Distribution of the target given a = w^T x; all functions are elementwise."""

    log_p: Callable[[Floats, Floats], Floats]  # log p(t | a)
    mean: Callable[[Floats], Floats]
    variance: Callable[[Floats], Floats]


RESPONSES = {
    "binary": Response(
        lambda t, a: t * a + log_expit(-a),  # FCML 4.5: P = e^a (1 - P)
        lambda a: np.asarray(expit(a)),  # FCML 4.3
        lambda a: np.asarray(expit(a) * expit(-a)),  # FCML 4.8
    ),
    "counts": Response(
        lambda t, a: t * a - np.exp(a) - gammaln(t + 1),
        np.exp,
        np.exp,  # FCML exercise 4.6
    ),
    "real": Response(
        lambda t, a: -((t - a) ** 2 + np.log(2 * np.pi)) / 2,  # FCML exercise 4.1
        lambda a: a,
        np.ones_like,
    ),
}


class Posterior(NamedTuple):
    """The data, the prior and the kind of response, which define log g."""

    X: Floats  # (N, D)
    t: Floats  # (N,)
    sigma2: float
    response: str = "binary"


def log_g(posterior: Posterior, w: Floats) -> Floats:
    """The log of p(t | X, w) p(w) at weights (..., D), shape (...)."""
    X, t, sigma2, response = posterior
    likelihood = RESPONSES[response].log_p(t, w @ X.T).sum(-1)
    D = X.shape[1]
    prior = -(D * np.log(2 * np.pi * sigma2) + (w**2).sum(-1) / sigma2) / 2
    return np.asarray(likelihood + prior)


def gradient(posterior: Posterior, w: Floats) -> Floats:
    """The derivative of log g, shape (..., D)."""
    X, t, sigma2, response = posterior
    residual = t - RESPONSES[response].mean(w @ X.T)
    return np.asarray(residual @ X - w / sigma2)  # FCML 4.9


def hessian(posterior: Posterior, w: Floats) -> Floats:
    """The second derivatives of log g, shape (..., D, D)."""
    X, _, sigma2, response = posterior
    v = RESPONSES[response].variance(w @ X.T)
    return np.asarray(-(X.T * v[..., None, :]) @ X - np.eye(X.shape[1]) / sigma2)  # FCML 4.10


class Ascent(NamedTuple):
    """Newton-Raphson from R starts."""

    path: Floats  # (S + 1, R, D) the start and every update; a converged start stays fixed
    steps: Ints  # (R,) updates until the squared change fell below the tolerance
    converged: Bools  # (R,)


def newton_raphson(
    posterior: Posterior, starts: Floats, tol: float = 1e-6, max_steps: int = 100
) -> Ascent:
    """Maximise log g from each of the starts (R, D)."""
    w = np.asarray(starts, dtype=np.float64)
    path, done = [w], np.zeros(len(w), dtype=bool)
    steps = np.full(len(w), max_steps)
    with np.errstate(over="ignore", invalid="ignore"):  # a start may diverge to infinity
        for step in range(1, max_steps + 1):
            change = np.linalg.solve(hessian(posterior, w), gradient(posterior, w)[..., None])
            change = np.where(done[:, None], 0.0, change[..., 0])
            w = w - change  # FCML 4.6
            path.append(w)
            now = ~done & ((change**2).sum(-1) < tol)
            steps[now] = step
            done |= now
            if done.all():
                break
    warn_not_converged(
        "Newton-Raphson", iterations=max_steps, tol=tol, fits=int(np.count_nonzero(~done))
    )
    return Ascent(np.array(path), steps, done)


def predict(w: Floats, X: Floats, response: str = "binary") -> Floats:
    """The response expected at X (M, D), averaged over samples of the weights (S, D): (M,)."""
    return np.asarray(RESPONSES[response].mean(X @ w.T).mean(-1))  # FCML 4.15


class OnGrid(NamedTuple):
    """The posterior of two weights on a fine grid, on which expectations are sums."""

    w: Floats  # (G, 2)
    probability: Floats  # (G,) sums to one
    log_evidence: float  # log of the integral of g

    def predict(self, X: Floats) -> Floats:
        """P(t = 1) at X (M, 2), averaged over the posterior, shape (M,)."""
        return np.asarray(RESPONSES["binary"].mean(X @ self.w.T) @ self.probability)


def quadrature(posterior: Posterior, centre: Floats, reach: Floats, points: int = 241) -> OnGrid:
    """The trapezoidal rule about a centre (2,), as far as `reach` (2,) to each side.

    g is smooth and vanishes at the edges, so the rule converges faster than any power.
    """
    axes = [np.linspace(c - r, c + r, points) for c, r in zip(centre, reach, strict=True)]
    w = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    values = log_g(posterior, w)
    weights = np.exp(values - values.max())
    cell = np.log([axis[1] - axis[0] for axis in axes]).sum()
    log_evidence = float(values.max() + np.log(weights.sum()) + cell)
    return OnGrid(w, weights / weights.sum(), log_evidence)
