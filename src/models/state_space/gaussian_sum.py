r"""Mixtures of Gaussians as beliefs about the state of a linear system (PRML 13.3.3).

    z_n = A z_{n-1} + N(0, Gamma),    x_n ~ sum_k pi_k N(x_n | C_k z_n, Sigma_k)

The Kalman filter's recursion (13.85) maps each Gaussian of the belief, with each component that may
have generated the data point, to a Gaussian of the next belief: K components in the emission give
K^n different Gaussians after n steps. With a mixture in the initial state alone the number of
components stays constant.

`collapse` is assumed density filtering (PRML 13.3.3, MLAPP 18.5.3): one Gaussian with the mixture's
moments, after which the recursion starts again with one.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from bythebook.models.state_space import kalman
from bythebook.models.state_space.kalman import log_normal
from bythebook.models.types import Floats


class Belief(NamedTuple):
    """A mixture of J Gaussians over the state."""

    log_w: Floats  # (J,) logarithms of weights with sum one
    mean: Floats  # (J, M)
    cov: Floats  # (J, M, M)


class Emission(NamedTuple):
    """A mixture of K Gaussians whose means are linear in the state."""

    pi: Floats  # (K,)
    C: Floats  # (K, D, M)
    Sigma: Floats  # (K, D, D)


class GaussianSums(NamedTuple):
    """The beliefs after each data point, and its log evidence."""

    filtered: list[Belief]  # p(z_n | x_1..x_n)
    log_c: Floats  # (N,) ln p(x_n | x_1..x_{n-1})


def predict(belief: Belief, A: Floats, Gamma: Floats) -> Belief:
    """Map p(z_{n-1} | x_1..x_{n-1}) to p(z_n | x_1..x_{n-1}), component by component."""
    mean, cov = kalman.predict(kalman.Gaussian(belief.mean, belief.cov), A, Gamma)
    return Belief(belief.log_w, mean, cov)


def update(belief: Belief, x: Floats, emission: Emission) -> tuple[Belief, float]:
    """The J K Gaussians of p(z_n | x_1..x_n), and ln c_n, given the data point x (D,)."""
    J, M = belief.mean.shape
    pi, C, Sigma = emission
    each = kalman.Gaussian(belief.mean[:, np.newaxis], belief.cov[:, np.newaxis])
    worth = log_normal(x - np.matvec(C, each.mean), C @ each.cov @ C.mT + Sigma)  # 13.91
    log_w = belief.log_w[:, np.newaxis] + np.log(pi) + worth
    mean, cov = kalman.update(each, x, C, Sigma)  # (J, K, ...)
    log_c = float(logsumexp(log_w))
    many = J * len(pi)
    return Belief(log_w.ravel() - log_c, mean.reshape(many, M), cov.reshape(many, M, M)), log_c


def gaussian_sum_filter(
    start: Belief,
    A: Floats,
    Gamma: Floats,
    emission: Emission,
    x: Floats,
    reduce: Callable[[Belief], Belief] = lambda belief: belief,
) -> GaussianSums:
    """Beliefs from the distribution `start` of z_1 and data x (N, D); exact unless reduced."""
    filtered: list[Belief] = []
    log_c = np.empty(len(x))
    for n, datum in enumerate(x):
        ahead = predict(reduce(filtered[-1]), A, Gamma) if n else start
        belief, log_c[n] = update(ahead, datum, emission)  # 13.85
        filtered.append(belief)
    return GaussianSums(filtered, log_c)


def beliefs_by_mixture(
    theta: kalman.LDS, mixture: Emission, means: Floats, x: Floats
) -> dict[str, list[Belief]]:
    """Exact beliefs given x (N, D), where emission, start or neither of theta are mixtures.

    `mixture` replaces the emission at all steps or, in "gaussian_first", at all except the first;
    Gaussians about `means` (J, M), of covariance V0 and equal weights, replace the initial state.
    """
    A, Gamma, C, Sigma, mu0, V0 = theta
    J = len(means)
    plain = Emission(np.ones(1), C[np.newaxis], Sigma[np.newaxis])
    one = Belief(np.zeros(1), mu0[np.newaxis], V0[np.newaxis])
    many = Belief(np.full(J, -np.log(J)), means, np.tile(V0, (J, 1, 1)))

    def beliefs(start: Belief, emission: Emission, x: Floats) -> list[Belief]:
        return gaussian_sum_filter(start, A, Gamma, emission, x).filtered

    first = beliefs(one, plain, x[:1])
    return {
        "mixture_emission": beliefs(one, mixture, x),
        "gaussian_first": first + beliefs(predict(first[0], A, Gamma), mixture, x[1:]),
        "mixture_start": beliefs(many, plain, x),
        "gaussian": beliefs(one, plain, x),
    }


def moments(belief: Belief) -> kalman.Gaussian:
    """The mean and covariance of the mixture."""
    w = np.exp(belief.log_w)
    mean = w @ belief.mean
    off = belief.mean - mean
    return kalman.Gaussian(mean, np.einsum("j,jab->ab", w, belief.cov) + (w * off.T) @ off)


def collapse(belief: Belief) -> Belief:
    """The one Gaussian that has the mixture's moments."""
    mean, cov = moments(belief)
    return Belief(np.zeros(1), mean[np.newaxis], cov[np.newaxis])


def distinct(belief: Belief, digits: int = 12) -> int:
    """The number of different components, as Gaussians."""
    rows = np.column_stack([belief.mean, belief.cov.reshape(len(belief.mean), -1)])
    return len(np.unique(np.round(rows, digits), axis=0))


def density(belief: Belief, z: Floats) -> Floats:
    """The density of a one-dimensional state at points z (G,)."""
    log_p = -0.5 * (z[:, np.newaxis] - belief.mean[:, 0]) ** 2 / belief.cov[:, 0, 0]
    log_p = log_p - 0.5 * np.log(2 * np.pi * belief.cov[:, 0, 0]) + belief.log_w
    return np.asarray(np.exp(logsumexp(log_p, axis=1)))
