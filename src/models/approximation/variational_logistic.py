r"""Logistic regression by the local variational bound and by EP (PRML 10.6; 10.7).

    p(t | w) >= e^(a t) s(xi) exp{-(a + xi) / 2 - lambda(xi) (a^2 - xi^2)},  a = w^T x       10.151
    S_N^-1 = S_0^-1 + 2 sum_n lambda(xi_n) x_n x_n^T,   m_N = S_N sum_n (t_n - 1/2) x_n
                                                                                    10.157, 10.158
    xi_n^2 = x_n^T (S_N + m_N m_N^T) x_n                                                     10.163

The prior is N(0, I / alpha). Data sets of one size are a batch: X (S, N, D), t (S, N); alpha is a
number or one for each data set.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit, log_expit

from bythebook.models.approximation.bounds import lam
from bythebook.models.types import Floats, Ints


class Weights(NamedTuple):
    """N(mean, covariance) as the approximate posterior of the weights."""

    mean: Floats  # (S, D)
    covariance: Floats  # (S, D, D)


class Fit(NamedTuple):
    """The result of EM, and the bound after each iteration."""

    weights: Weights
    xi: Floats  # (S, N)
    course: Floats  # (I, S) the bound of each iteration's xi and posterior


def posterior(X: Floats, t: Floats, alpha: Floats | float, xi: Floats) -> Weights:
    """q(w) for given xi (10.157, 10.158)."""
    D = X.shape[-1]
    rate = np.broadcast_to(np.asarray(alpha, dtype=float), xi.shape[:-1])[..., None, None]
    precision = rate * np.eye(D) + 2 * np.einsum("...n,...ni,...nj->...ij", lam(xi), X, X)
    covariance = np.asarray(np.linalg.inv(precision))
    shift = np.einsum("...n,...ni->...i", t - 0.5, X)
    return Weights(np.einsum("...ij,...j->...i", covariance, shift), covariance)


def contacts(X: Floats, q: Weights) -> Floats:
    """Xi of 10.163."""
    second = q.covariance + q.mean[..., None] * q.mean[..., None, :]
    return np.asarray(np.sqrt(np.einsum("...ni,...ij,...nj->...n", X, second, X)))


def bound(X: Floats, t: Floats, alpha: float, xi: Floats) -> Floats:
    """L(xi) in closed form: 10.164 with three signs corrected."""
    q = posterior(X, t, alpha, xi)
    D = X.shape[-1]
    logs = np.linalg.slogdet(q.covariance)[1] + D * np.log(alpha)
    shift = np.einsum("...n,...ni->...i", t - 0.5, X)
    square = (q.mean * shift).sum(-1)  # m^T S^-1 m
    terms = log_expit(xi) - xi / 2 + lam(xi) * xi**2
    return np.asarray(logs / 2 + square / 2 + terms.sum(-1))


def expected_log_h(X: Floats, t: Floats, xi: Floats, q: Weights) -> Floats:
    """E{ln h} under q, term by term, shape (..., N) (10.161)."""
    a = np.einsum("...ni,...i->...n", X, q.mean)
    square = contacts(X, q) ** 2
    return np.asarray(log_expit(xi) + a * t - (a + xi) / 2 - lam(xi) * (square - xi**2))


def fit(X: Floats, t: Floats, alpha: float, iterations: int) -> Fit:
    """EM for xi, from 1."""
    xi = np.ones(t.shape)
    course = []
    for _ in range(iterations):
        course.append(bound(X, t, alpha, xi))
        xi = contacts(X, posterior(X, t, alpha, xi))
    return Fit(posterior(X, t, alpha, xi), xi, np.array(course))


class Sequential(NamedTuple):
    """Points absorbed one at a time."""

    weights: Weights
    log_evidence: Floats  # (S,) the sum of the logs of the bounds of each step
    xi: Floats  # (S, N) each point's own


def sequential(X: Floats, t: Floats, alpha: float, order: Ints, inner: int = 30) -> Sequential:
    """Absorb points in an order (S, N), each with its own best xi (exercise 10.32)."""
    S, N, D = X.shape
    P, h = np.tile(alpha * np.eye(D), (S, 1, 1)), np.zeros((S, D))
    q = Weights(np.zeros((S, D)), np.tile(np.eye(D) / alpha, (S, 1, 1)))
    rows, total, kept = np.arange(S), np.zeros(S), np.zeros((S, N))
    for n in order.T:
        x, y, before = X[rows, n], t[rows, n], (h * q.mean).sum(-1)
        h = h + (y - 0.5)[:, None] * x
        for _ in range(inner):
            xi = contacts(x[:, None], q)[:, 0]
            new_P = P + 2 * lam(xi)[:, None, None] * x[:, :, None] * x[:, None]
            V = np.asarray(np.linalg.inv(new_P))
            q = Weights(np.einsum("sij,sj->si", V, h), V)
        logs = np.linalg.slogdet(P)[1] - np.linalg.slogdet(new_P)[1]
        total += (logs + (h * q.mean).sum(-1) - before) / 2
        total += log_expit(xi) - xi / 2 + lam(xi) * xi**2
        P, kept[rows, n] = new_P, xi
    return Sequential(q, total, kept)


class Tilted(NamedTuple):
    """A sigmoid times N(m, v) of its activation: log normaliser, mean, variance."""

    log_z: Floats
    mean: Floats
    variance: Floats


_Z = np.linspace(-9, 9, 181)
_WEIGHT = np.exp(-(_Z**2) / 2) / np.exp(-(_Z**2) / 2).sum()


def tilted(m: Floats, v: Floats, sign: Floats) -> Tilted:
    """Moments of s(sign a) N(a | m, v), elementwise, by the trapezoidal rule."""
    z = np.sqrt(v)[..., None] * _Z
    f = _WEIGHT * expit(sign[..., None] * (m[..., None] + z))
    total = f.sum(-1)
    first = (f * z).sum(-1) / total
    return Tilted(np.log(total), m + first, (f * z**2).sum(-1) / total - first**2)


class Propagated(NamedTuple):
    """Expectation propagation."""

    weights: Weights
    log_evidence: Floats  # (S,)
    change: Floats  # (S,) the largest of a mean in the last pass


def propagate(X: Floats, t: Floats, alpha: float, passes: int) -> Propagated:
    """A Gaussian factor in the activation of each point, refined in turn."""
    S, N, D = X.shape
    sign = 2 * t - 1
    tau, nu = np.zeros((S, N)), np.zeros((S, N))
    V, m = np.tile(np.eye(D) / alpha, (S, 1, 1)), np.zeros((S, D))
    h, change = np.zeros((S, D)), np.zeros(S)
    for _ in range(passes):
        before = m
        for n in range(N):
            x = X[:, n]
            Vx = np.einsum("sij,sj->si", V, x)
            v, a = (Vx * x).sum(-1), (m * x).sum(-1)
            cavity = 1 / v - tau[:, n]
            cavity_v = 1 / cavity
            cavity_m = cavity_v * (a / v - nu[:, n])
            found = tilted(cavity_m, cavity_v, sign[:, n])
            new_tau = 1 / found.variance - cavity
            new_nu = found.mean / found.variance - cavity_m * cavity
            step, h = new_tau - tau[:, n], h + (new_nu - nu[:, n])[:, None] * x
            V = V - (step / (1 + step * v))[:, None, None] * Vx[:, :, None] * Vx[:, None]
            m = np.einsum("sij,sj->si", V, h)
            tau[:, n], nu[:, n] = new_tau, new_nu
        change = np.abs(m - before).max(-1)
    q = Weights(m, V)
    return Propagated(q, _evidence(X, sign, alpha, tau, nu, q, h), change)


def _evidence(
    X: Floats, sign: Floats, alpha: float, tau: Floats, nu: Floats, q: Weights, h: Floats
) -> Floats:
    """The integral of prior and factors, each scaled to its own normaliser."""
    D = X.shape[-1]
    v = np.einsum("sni,sij,snj->sn", X, q.covariance, X)
    a = np.einsum("sni,si->sn", X, q.mean)
    cavity_v = 1 / (1 / v - tau)
    cavity_m = cavity_v * (a / v - nu)
    log_z = tilted(cavity_m, cavity_v, sign).log_z
    # of N(a | cavity) exp(nu a - tau a^2 / 2)
    inner = (a**2 / v - cavity_m**2 / cavity_v + np.log(v / cavity_v)) / 2
    whole = ((h * q.mean).sum(-1) + np.linalg.slogdet(q.covariance)[1] + D * np.log(alpha)) / 2
    return np.asarray(whole + (log_z - inner).sum(-1))
