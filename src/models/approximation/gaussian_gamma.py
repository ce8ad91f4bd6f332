r"""Posterior of the mean and precision of a Gaussian: exact, factorised, by Gibbs sampling.

    x_n ~ N(mu, 1 / tau),   tau ~ Gam(a_0, b_0)
    conjugate     mu ~ N(mu_0, 1 / (lambda_0 tau))        10.22: constants mu_0, lambda_0, a_0, b_0
    independent   mu ~ N(mu_0, s_0)               exercise 11.13: constants mu_0, s_0, a_0, b_0
    q(mu, tau) = N(mu | m, 1 / r) Gam(tau | a, b)                                          10.24

The equations are those of PRML 10.1.3. An independent prior with s_0 = 0 represents one that is
flat in mu. Data sets are a batch, given by their size, mean and mean square: arrays of one shape.
"""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.special import gammaln, psi

from bythebook.models.types import Floats


class Data(NamedTuple):
    """Sufficient statistics of the points."""

    N: int
    mean: Floats  # (S,)
    square: Floats  # (S,) the mean of x^2

    @property
    def biased(self) -> Floats:
        """The variance of maximum likelihood."""
        return self.square - self.mean**2


class Prior(NamedTuple):
    """Constants of the prior, of either kind."""

    conjugate: bool
    mu: float
    width: float  # lambda_0, or s_0
    a: float
    b: float


class Factors(NamedTuple):
    """q(mu) q(tau)."""

    mean: Floats
    precision: Floats
    a: Floats
    b: Floats

    @property
    def tau(self) -> Floats:
        return self.a / self.b


def shape(prior: Prior, N: int) -> float:
    """a_N: half a power of tau comes from a conjugate prior of mu, and is lost in 10.29."""
    return prior.a + (N + prior.conjugate) / 2


def _mean_factor(data: Data, prior: Prior, tau: Floats) -> tuple[Floats, Floats]:
    if prior.conjugate:
        precision = (prior.width + data.N) * tau  # 10.27
        return (prior.width * prior.mu + data.N * data.mean) / (prior.width + data.N), precision
    own = 1 / prior.width if prior.width else 0.0
    precision = own + data.N * tau
    return (own * prior.mu + tau * data.N * data.mean) / precision, precision


def expected_squares(data: Data, m: Floats, variance: Floats) -> Floats:
    """E{sum_n (x_n - mu)^2} for mu of this mean and variance."""
    return np.asarray(data.N * (data.square - 2 * data.mean * m + m**2 + variance))


def _rate(data: Data, prior: Prior, m: Floats, variance: Floats) -> Floats:
    squares = expected_squares(data, m, variance)
    if prior.conjugate:
        squares = squares + prior.width * ((m - prior.mu) ** 2 + variance)
    return np.asarray(prior.b + squares / 2)  # 10.30


def climb(data: Data, prior: Prior, tau: Floats, *, steps: int) -> list[Factors]:
    """Alternate updates of q(mu) and q(tau) from a first guess of E[tau]; one entry each.

    The first entry has the guess with the final shape, so that it is a pair of factors.
    """
    a = np.full(data.mean.shape, shape(prior, data.N))
    q = Factors(*_mean_factor(data, prior, tau), a, a / tau)
    found = [q]
    for _ in range(steps):
        q = Factors(q.mean, q.precision, a, _rate(data, prior, q.mean, 1 / q.precision))
        found.append(q)
        q = Factors(*_mean_factor(data, prior, q.tau), q.a, q.b)
        found.append(q)
    return found


def bound(data: Data, prior: Prior, q: Factors) -> Floats:
    """E{ln p(data, mu, tau)} - E{ln q}; without the prior's constants where it has none."""
    log_tau, tau, v = psi(q.a) - np.log(q.b), q.a / q.b, 1 / q.precision
    data_term = data.N * (log_tau - np.log(2 * np.pi)) / 2
    data_term = data_term - tau * expected_squares(data, q.mean, v) / 2
    off = (q.mean - prior.mu) ** 2 + v
    if prior.conjugate:
        width = np.log(prior.width / (2 * np.pi)) if prior.width else 0.0
        mean_term = (width + log_tau - prior.width * tau * off) / 2
    elif prior.width:
        mean_term = -(np.log(2 * np.pi * prior.width) + off / prior.width) / 2
    else:
        mean_term = np.zeros_like(off)
    constant = prior.a * np.log(prior.b) - gammaln(prior.a) if prior.a and prior.b else 0.0
    tau_term = constant + (prior.a - 1) * log_tau - prior.b * tau
    entropy = (1 + np.log(2 * np.pi * v)) / 2
    entropy = entropy + q.a - np.log(q.b) + gammaln(q.a) + (1 - q.a) * psi(q.a)
    return np.asarray(data_term + mean_term + tau_term + entropy)


class Exact(NamedTuple):
    """The conjugate posterior in closed form: N(mu | m, 1 / (strength tau)) Gam(tau | a, b)."""

    mean: Floats
    strength: float
    a: float
    b: Floats
    log_evidence: Floats


def exact(data: Data, prior: Prior) -> Exact:
    """Gaussian-gamma, for a proper conjugate prior (PRML 2.3.6)."""
    total = prior.width + data.N
    mean = (prior.width * prior.mu + data.N * data.mean) / total
    a = prior.a + data.N / 2
    off = prior.width * data.N / total * (data.mean - prior.mu) ** 2
    b = prior.b + (data.N * data.biased + off) / 2
    evidence = gammaln(a) - gammaln(prior.a) + prior.a * np.log(prior.b) - a * np.log(b)
    evidence = evidence + (np.log(prior.width / total) - data.N * np.log(2 * np.pi)) / 2
    return Exact(mean, total, a, b, np.asarray(evidence))


class OnGrid(NamedTuple):
    """One posterior on a grid of mu and ln tau."""

    mu: Floats  # (G,)
    tau: Floats  # (H,)
    mass: Floats  # (G, H)
    log_evidence: float

    @property
    def density(self) -> Floats:
        """The density in mu and tau, up to a constant: the grid is even in ln tau."""
        return np.asarray(self.mass / self.tau)

    @property
    def information(self) -> float:
        """The mutual information of mu and tau."""
        product = self.mass.sum(1, keepdims=True) * self.mass.sum(0, keepdims=True)
        seen = product > 1e-200
        seen &= self.mass > 1e-200
        return float((self.mass[seen] * np.log(self.mass[seen] / product[seen])).sum())


def log_joint(data: Data, prior: Prior, k: int, mu: Floats, tau: Floats) -> Floats:
    """Ln p(data, mu, tau) of data set k, for a proper prior."""
    squares = data.N * (data.square[k] - 2 * data.mean[k] * mu + mu**2)
    likelihood = data.N * np.log(tau / (2 * np.pi)) / 2 - tau * squares / 2
    precision = prior.width * tau if prior.conjugate else np.array(1 / prior.width)
    prior_mu = (np.log(precision / (2 * np.pi)) - precision * (mu - prior.mu) ** 2) / 2
    prior_tau = prior.a * np.log(prior.b) - gammaln(prior.a) + (prior.a - 1) * np.log(tau)
    return np.asarray(likelihood + prior_mu + prior_tau - prior.b * tau)


def on_grid(data: Data, prior: Prior, k: int, points: int = 241) -> OnGrid:
    """Data set k by the trapezoidal rule, in mu and ln tau."""
    q = climb(data, prior, np.ones_like(data.mean), steps=30)[-1]
    reach = (9 + 100 / q.a[k]) / np.sqrt(q.precision[k])  # small shapes have a long tail
    if not prior.conjugate:
        reach = max(reach, 9 * np.sqrt(prior.width))
    mu = q.mean[k] + np.linspace(-reach, reach, points)
    a = q.a[k]
    low, high = -max(14 / np.sqrt(a), 30 / a), 12 / np.sqrt(a)
    log_tau = np.log(q.tau[k]) + np.linspace(low, high, points)
    tau = np.exp(log_tau)
    log = log_joint(data, prior, k, mu[:, None], tau) + log_tau
    room = (mu[1] - mu[0]) * (log_tau[1] - log_tau[0])
    top = log.max()
    mass = np.exp(log - top)
    return OnGrid(mu, tau, mass / mass.sum(), float(top + np.log(mass.sum() * room)))


def gibbs(data: Data, prior: Prior, sweeps: int, rng: Generator) -> Floats:
    """Alternate draws of mu and tau from their conditionals (exercise 11.13), (sweeps, 2, S)."""
    tau = np.ones_like(data.mean)
    found = np.empty((sweeps, 2, len(tau)))
    for s in range(sweeps):
        mean, precision = _mean_factor(data, prior, tau)
        mu = mean + rng.standard_normal(len(tau)) / np.sqrt(precision)
        rate = _rate(data, prior, mu, np.zeros_like(mu))
        tau = rng.gamma(shape(prior, data.N), 1 / rate)
        found[s] = mu, tau
    return found
