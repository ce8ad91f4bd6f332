r"""Logistic regression with a gamma prior of the weights' precision (PRML 10.6.3).

    w ~ N(0, I / alpha),   alpha ~ Gam(a_0, b_0),   q(w, alpha) = N(w | m, S) Gam(alpha | a, b)
    S^-1 = E[alpha] I + 2 sum_n lambda(xi_n) x_n x_n^T                                       10.176
    a = a_0 + D / 2,   b = b_0 + E[w^T w] / 2                                        10.178, 10.179

One data set: X (N, D), t (N,).
"""

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, log_expit, logsumexp, psi

from bythebook.models.approximation.variational_logistic import (
    Weights,
    contacts,
    expected_log_h,
    posterior,
)
from bythebook.models.types import Floats

REACH = 60.0  # of a lattice of weights


class Factors(NamedTuple):
    """q(w) q(alpha), and the contacts of the local bound."""

    weights: Weights
    a: float
    b: float
    xi: Floats


def expected_square(q: Weights) -> float:
    """E[w^T w]: the trace, and not the matrix, of S is added (10.183)."""
    return float(np.trace(q.covariance) + q.mean @ q.mean)


def bound(X: Floats, t: Floats, prior: tuple[float, float], q: Factors) -> float:
    """The lower bound of 10.172 with 10.173, term by term."""
    local = float(expected_log_h(X, t, q.xi, q.weights).sum())
    return local + other_terms(X.shape[-1], prior, q)


def other_terms(D: int, prior: tuple[float, float], q: Factors) -> float:
    """The terms of the bound other than the expected log likelihood or its own bound."""
    (a0, b0), S, a, b = prior, q.weights.covariance, q.a, q.b
    log_alpha, alpha = psi(a) - np.log(b), a / b
    weights = (D * (log_alpha - np.log(2 * np.pi)) - alpha * expected_square(q.weights)) / 2
    hyper = a0 * np.log(b0) - gammaln(a0) + (a0 - 1) * log_alpha - b0 * alpha
    entropy = (D * (1 + np.log(2 * np.pi)) + np.linalg.slogdet(S)[1]) / 2
    entropy += a - np.log(b) + gammaln(a) + (1 - a) * psi(a)
    return float(weights + hyper + entropy)


def climb(X: Floats, t: Floats, prior: tuple[float, float], cycles: int) -> list[Factors]:
    """Cycle through q(w), q(alpha) and xi; every update is an entry."""
    D = X.shape[-1]
    a, b, xi = prior[0] + D / 2, prior[1] + D / 2, np.ones(len(t))
    found = []
    for _ in range(cycles):
        q = posterior(X, t, a / b, xi)
        found.append(Factors(q, a, b, xi))
        b = prior[1] + expected_square(q) / 2  # 10.179
        found.append(Factors(q, a, b, xi))
        xi = contacts(X, q)  # 10.181
        found.append(Factors(q, a, b, xi))
    return found


def log_evidence(X: Floats, t: Floats, prior: tuple[float, float], points: int = 161) -> float:
    """Ln p(t) by quadrature over two weights and the log of their precision.

    The lattice of weights is finest about zero, where large precisions hold them.
    """
    log_alpha = np.linspace(-12, 6, 73)
    side = np.linspace(-1, 1, points)
    w = REACH * side**3
    room = np.log(np.maximum(3 * REACH * side**2, 1e-300) * (side[1] - side[0]))
    a = w[:, None, None] * X[:, 0] + w[None, :, None] * X[:, 1]
    log = (t * a + log_expit(-a)).sum(-1) + room[:, None] + room
    top = log.max()
    likelihood = np.exp(log - top)
    decay = np.exp(-np.exp(log_alpha)[:, None] * w**2 / 2)  # of one weight, up to a constant
    total = top + np.log(np.einsum("ai,ij,aj->a", decay, likelihood, decay))
    total += log_alpha - np.log(2 * np.pi)
    a0, b0 = prior
    density = a0 * np.log(b0) - gammaln(a0) + a0 * log_alpha - b0 * np.exp(log_alpha)
    return float(logsumexp(total + density) + np.log(log_alpha[1] - log_alpha[0]))


def global_bound(X: Floats, t: Floats, prior: tuple[float, float], q: Factors) -> float:
    """L(q) of 10.170: the expected log likelihood itself, by quadrature over each activation."""
    z = np.linspace(-9, 9, 361)
    weight = np.exp(-(z**2) / 2)
    m = X @ q.weights.mean
    v = np.einsum("ni,ij,nj->n", X, q.weights.covariance, X)
    a = m[:, None] + np.sqrt(v)[:, None] * z
    expected = ((t[:, None] * a + log_expit(-a)) @ weight / weight.sum()).sum()
    return float(expected) + other_terms(X.shape[-1], prior, q)
