r"""Dirichlet process mixtures on a line: prior, enumeration, Gibbs sampling, truncated variational.

    x_n | z_n = k ~ N(mu_k, s2),   mu_k ~ N(0, t2),   z ~ CRP(alpha)

A new point joins a component with n_k points with probability n_k / (n + alpha), and opens one with
alpha / (n + alpha). With the means integrated out a component of n points with sum S and squares Q
has

    ln p(x) = -n ln(2 pi s2) / 2 - ln(1 + n t2 / s2) / 2 - Q / (2 s2) + S^2 t2 / (2 s2 (s2 + n t2))

Ghahramani section 12. Sampling: Neal's algorithm 3, many chains at once. Variational: sticks v_k
broken off up to T components (Blei and Jordan), q(v_k) beta and q(mu_k) Gaussian.
"""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.special import betaln, digamma, gammaln, logsumexp

from bythebook.models.clustering.mixture import posterior
from bythebook.models.em import EMFit, expectation_maximisation
from bythebook.models.types import Floats, Ints


class Model(NamedTuple):
    """Concentration alpha, variance s2 in a component, variance t2 of the components' means."""

    alpha: float
    s2: float
    t2: float


def draw_counts(N: int, alpha: float, size: int, rng: Generator) -> Ints:
    """Occupied components after each of N points of the prior, for `size` draws, (size, N)."""
    opened = rng.random((size, N)) < alpha / (alpha + np.arange(N))
    return np.cumsum(opened, axis=1)


def draw_data(N: int, model: Model, size: int, rng: Generator) -> Floats:
    """Points of `size` draws of the mixture, (size, N)."""
    z = np.zeros((size, N), dtype=np.int64)
    counts = np.zeros((size, N))
    for n in range(N):
        used = counts[:, : n + 1]
        opened = np.arange(n + 1) == (used > 0).sum(1)[:, None]
        weight = np.where(opened, model.alpha, used)
        place = rng.random(size)[:, None] * weight.sum(1, keepdims=True)
        z[:, n] = (np.cumsum(weight, axis=1) < place).sum(1)
        counts[np.arange(size), z[:, n]] += 1
    mu = np.sqrt(model.t2) * rng.standard_normal((size, N))
    noise = np.sqrt(model.s2) * rng.standard_normal((size, N))
    return np.asarray(np.take_along_axis(mu, z, axis=1) + noise)


def log_marginal(n: Floats, total: Floats, model: Model) -> Floats:
    """Log density of the points of a component, from their number and sum.

    The terms -n ln(2 pi s2) / 2 - Q / (2 s2) are left out: their sum is the same for any partition.
    """
    _, s2, t2 = model
    return np.asarray(total**2 * t2 / (2 * s2 * (s2 + n * t2)) - np.log1p(n * t2 / s2) / 2)


def partitions(N: int) -> Ints:
    """Every partition of N points as labels, numbered by first appearance, (Bell(N), N)."""
    found = [[0]]
    for _ in range(N - 1):
        found = [[*labels, k] for labels in found for k in range(max(labels) + 2)]
    return np.array(found)


def exact_counts(x: Floats, model: Model) -> Floats:
    """Posterior probabilities of 1 to N occupied components, by all partitions of x (N,)."""
    N = len(x)
    labels = partitions(N)
    member = labels[..., None] == np.arange(N)
    n = member.sum(1)
    total = np.einsum("pnk,n->pk", member, x)
    # A partition's prior: alpha^K prod_k (n_k - 1)! over the rising factorial of alpha.
    prior = np.where(n > 0, np.log(model.alpha) + gammaln(np.maximum(n, 1)), 0.0)
    log_p = (prior + np.where(n > 0, log_marginal(n, total, model), 0.0)).sum(1)
    p = np.exp(log_p - logsumexp(log_p))
    return np.asarray(np.bincount(labels.max(1), weights=p, minlength=N), dtype=np.float64)


def gibbs(x: Floats, model: Model, sweeps: int, rng: Generator) -> Ints:
    """Occupied components after each sweep for each of C data sets (C, N), one chain each.

    All points begin in one component; labels are drawn one by one, the means integrated out.
    """
    C, N = x.shape
    every, places = np.arange(C), np.arange(N)
    z = np.zeros((C, N), dtype=np.int64)
    n, total = np.zeros((C, N)), np.zeros((C, N))
    n[:, 0], total[:, 0] = N, x.sum(1)
    _, s2, t2 = model
    found = np.empty((C, sweeps), dtype=np.int64)
    for sweep in range(sweeps):
        for i in range(N):
            value = x[:, i]
            n[every, z[:, i]] -= 1
            total[every, z[:, i]] -= value
            seen = N - np.asarray(n.any(axis=0))[::-1].argmax()  # the rest is empty in all chains
            used, sums = n[:, : seen + 1], total[:, : seen + 1]
            variance = t2 * s2 / (s2 + used * t2)
            mean, variance = variance * sums / s2, variance + s2
            log_p = -((value[:, None] - mean) ** 2) / (2 * variance) - np.log(variance) / 2
            empty = used == 0
            new = empty & (np.cumsum(empty, axis=1) == 1)  # one empty place represents all
            weight = np.where(new, model.alpha, used)
            with np.errstate(divide="ignore"):
                logits = np.log(weight) + log_p
            z[:, i] = (logits + rng.gumbel(size=logits.shape)).argmax(1)
            n[every, z[:, i]] += 1
            total[every, z[:, i]] += value
        found[:, sweep] = (n > 0).sum(1)
        order = np.argsort(n == 0, axis=1, kind="stable")  # occupied places first
        n, total = (np.take_along_axis(part, order, axis=1) for part in (n, total))
        rank = np.empty_like(order)
        np.put_along_axis(rank, order, places[None].repeat(C, 0), axis=1)
        z = np.take_along_axis(rank, z, axis=1)
    return found


class Sticks(NamedTuple):
    """Factors of R truncated fits with their data."""

    a: Floats  # (R, T) of q(v_k) = Beta(a, b)
    b: Floats  # (R, T)
    mean: Floats  # (R, T) of q(mu_k)
    variance: Floats  # (R, T)
    x: Floats  # (R, N)


class _Responsibilities(NamedTuple):
    r: Floats  # (R, N, T)


def _sticks(x: Floats, r: Floats, model: Model) -> Sticks:
    n = r.sum(1)
    after = n[:, ::-1].cumsum(1)[:, ::-1] - n  # points of later components
    variance = 1 / (1 / model.t2 + n / model.s2)
    mean = variance * np.vecmat(x, r) / model.s2
    return Sticks(1 + n, model.alpha + after, mean, variance, x)


def truncated(
    x: Floats, r: Floats, model: Model, *, tol: float = 1e-8, max_iter: int = 500
) -> EMFit[Sticks]:
    """Variational fits of data (R, N) from responsibilities (R, N, T), largest components first."""

    def e_step(theta: Sticks) -> tuple[_Responsibilities, Floats]:
        total = digamma(theta.a + theta.b)
        taken, left = digamma(theta.a) - total, digamma(theta.b) - total
        before = np.cumsum(left, axis=1) - left
        square = (theta.x[..., None] - theta.mean[:, None]) ** 2 + theta.variance[:, None]
        log_p = (taken + before)[:, None] - square / (2 * model.s2)
        q, log_sum = posterior(log_p - np.log(2 * np.pi * model.s2) / 2)
        stick = betaln(1, model.alpha) - betaln(theta.a, theta.b)
        stick = stick + (theta.a - 1) * taken + (theta.b - model.alpha) * left
        ratio = theta.variance / model.t2
        mean = (ratio + theta.mean**2 / model.t2 - 1 - np.log(ratio)) / 2
        return _Responsibilities(q), log_sum.sum(1) - (stick + mean).sum(1)

    return expectation_maximisation(
        _sticks(x, r, model),
        e_step,
        lambda theta, q: _sticks(theta.x, q.r, model),
        tol=tol,
        max_iter=max_iter,
    )


def truncated_counts(theta: Sticks) -> Ints:
    """Components that take responsibility for a point or more, (R,)."""
    return np.asarray((theta.a - 1 >= 1).sum(1))
