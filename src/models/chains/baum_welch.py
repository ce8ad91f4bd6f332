r"""Baum-Welch: expectation maximisation for hidden Markov models (PRML 13.2.1, MLAPP 17.5).

    p(x, z | theta) = pi(z_1) prod_t A(z_{t-1}, z_t) prod_t p(x_t | phi_{z_t})

    E step    gamma_t(k) = p(z_t = k | x),   xi_t(j, k) = p(z_t = j, z_{t+1} = k | x)
    M step    pi, A  <-  expected counts of first states and transitions, normalised
              phi_k  <-  the weighted fit of the emissions, with weights gamma_t(k)

for symbols, B(k, l) = p(x_t = l | z_t = k), and for Gaussians N(mu_k, Sigma_k). R restarts share
the data, N sequences of the same length T: (T,) or (N, T) symbols, (T, D) or (N, T, D) vectors.

Three members of one family differ in the inverse temperature b of the E step, where the posterior
is raised to the power b: EM (b = 1), deterministic annealing (b < 1), and Viterbi training
(b = inf), which puts all the weight on the most probable path. Each step raises

    (1 / b) ln sum_z p(x, z | theta)^b + ln p(theta),

which for b = 1 is the log likelihood with the log prior, and for b = inf that of the best path.
"""

from collections.abc import Collection
from typing import NamedTuple, TypeVar

import numpy as np
from scipy.special import xlogy

from bythebook.models.chains import hmm
from bythebook.models.clustering.gaussian_mixture import smallest_eigenvalue, whitener
from bythebook.models.em import EMFit, expectation_maximisation
from bythebook.models.types import AnyArray, Floats, Ints


class Prior(NamedTuple):
    """Pseudo-counts of Dirichlet priors (alpha - 1), and an inverse Wishart prior for covariances.

    Pseudo-counts are numbers, or arrays of the shape of the counts that they are added to. They are
    added only where a probability is not zero: a zero in the start is structure (a left-to-right
    chain) and stays.
    """

    initial: float | Floats = 0.0  # for pi
    transition: float | Floats = 0.0  # for A
    symbol: float | Floats = 0.0  # for B
    S0: float | Floats = 0.0  # (D, D) scale matrix of the prior of Sigma_k
    nu0: float | None = None  # its degrees of freedom, > D - 1; None is a flat prior


FLAT = Prior()  # maximum likelihood
ROUNDING = 1e-14  # an eigenvalue below so much of the trace of its covariance is noise


class Posterior(NamedTuple):
    """The statistics of p(z | x) that the M step uses, for R restarts over N sequences."""

    gamma: Floats  # (R, N, T, K) p(z_t = k | x)
    transitions: Floats  # (R, K, K) expected number of transitions from j to k in all sequences

    @property
    def first(self) -> Floats:
        """The expected number of sequences that begin in each state, shape (R, K)."""
        return np.asarray(self.gamma[:, :, 0].sum(axis=1))  # 17.98

    def symbols(self, x: AnyArray, L: int) -> Floats:
        """The expected number of times that each state emits each symbol, shape (R, K, L)."""
        seen = (np.ravel(x)[:, None] == np.arange(L)).astype(float)
        return np.asarray(np.swapaxes(_flat(self.gamma), 1, 2) @ seen)  # 17.104


class Counts(NamedTuple):
    """The same statistics for symbols, summed over time."""

    first: Floats  # (R, K)
    transitions: Floats  # (R, K, K)
    emissions: Floats  # (R, K, L)

    def symbols(self, x: AnyArray, L: int) -> Floats:
        """The expected number of times that each state emits each symbol, shape (R, K, L)."""
        return self.emissions


class CategoricalHMM(NamedTuple):
    """Parameters of R chains of K states that emit one of L symbols."""

    pi: Floats  # (R, K) p(z_1 = k)
    A: Floats  # (R, K, K) p(z_t = k | z_{t-1} = j)
    B: Floats  # (R, K, L) p(x_t = l | z_t = k)

    def log_likelihood(self, x: AnyArray) -> Floats:
        """Terms ln p(x_t | z_t = k), shape (R, N, T, K)."""
        return hmm.categorical_log_likelihood(self.B, np.atleast_2d(np.asarray(x, dtype=np.int64)))

    def observed(self, x: AnyArray) -> tuple[Floats, Ints | None]:
        """The same as a table (R, 1, L, K) and the symbols (1, N, T) that choose its rows."""
        return hmm.symbol_table(self.B)[:, None], np.atleast_2d(np.asarray(x, dtype=np.int64))[None]

    def log_prior(self, prior: Prior) -> Floats:
        """The log prior of B, up to a constant, shape (R,)."""
        return _log_dirichlet(self.B, prior.symbol)

    def maximise(self, x: AnyArray, q: Posterior | Counts, prior: Prior) -> "CategoricalHMM":
        """The emissions that fit the symbols x best."""
        counts = q.symbols(x, self.B.shape[-1])
        return self._replace(B=_normalise(counts, self.B, prior.symbol))  # 13.23, 17.105


class GaussianHMM(NamedTuple):
    """Parameters of R chains of K states that emit Gaussian vectors in D dimensions."""

    pi: Floats  # (R, K) p(z_1 = k)
    A: Floats  # (R, K, K) p(z_t = k | z_{t-1} = j)
    mu: Floats  # (R, K, D) E[x_t | z_t = k]
    Sigma: Floats  # (R, K, D, D) cov[x_t | z_t = k]

    def log_likelihood(self, x: AnyArray) -> Floats:
        """Terms ln p(x_t | z_t = k), shape (R, N, T, K); NaN for a state that has collapsed."""
        log_lik = hmm.gaussian_log_likelihood(self.mu, self.Sigma, x if x.ndim == 3 else x[None])
        # A state on D points or fewer is singular, and rounding hides it: where the smallest
        # eigenvalue is lost in the largest, the likelihood is noise.
        size = np.trace(self.Sigma, axis1=-2, axis2=-1)
        noise = smallest_eigenvalue(self.Sigma) < ROUNDING * size
        return np.where(noise[:, None, None, :], np.nan, log_lik)

    def observed(self, x: AnyArray) -> tuple[Floats, Ints | None]:
        """The same; no two vectors share a row."""
        return self.log_likelihood(x), None

    def log_prior(self, prior: Prior) -> Floats:
        """The log prior of Sigma, up to a constant, shape (R,)."""
        if prior.nu0 is None:
            return np.zeros(len(self.pi))
        D = self.mu.shape[-1]
        W = whitener(self.Sigma)
        half_log_precision = np.log(np.diagonal(W, axis1=-2, axis2=-1)).sum(axis=-1)
        trace = np.einsum("rkij,rkil,jl->rk", W, W, np.broadcast_to(prior.S0, (D, D)))
        return np.asarray(((prior.nu0 + D + 1) * half_log_precision - 0.5 * trace).sum(axis=1))

    def maximise(self, x: AnyArray, q: Posterior | Counts, prior: Prior) -> "GaussianHMM":
        """The emissions that fit x best with weights gamma; a state without weight stays."""
        assert isinstance(q, Posterior)  # counts are of symbols
        D = self.mu.shape[-1]
        points, weights = x.reshape(-1, D), np.swapaxes(_flat(q.gamma), 1, 2)  # (R, K, N * T)
        N = weights.sum(axis=-1)[..., None]
        with np.errstate(invalid="ignore"):
            mu = np.where(N > 0, weights @ points / N, self.mu)  # 13.20
            root = np.sqrt(weights)[..., None] * (points - mu[..., None, :])
            scatter, N = np.swapaxes(root, -1, -2) @ root, N[..., None]
            if prior.nu0 is None:
                Sigma = np.where(N > 0, scatter / N, self.Sigma)  # 13.21
            else:
                Sigma = (prior.S0 + scatter) / (prior.nu0 + N + D + 1)  # the mode
        return self._replace(mu=mu, Sigma=Sigma)


Model = TypeVar("Model", CategoricalHMM, GaussianHMM)


def _flat(gamma: Floats) -> Floats:
    return np.asarray(gamma.reshape(len(gamma), -1, gamma.shape[-1]))


def _normalise(counts: Floats, old: Floats, pseudo: float | Floats) -> Floats:
    """Rows of probabilities from counts; a row without counts, which no data touch, stays."""
    counts = counts + np.where(old > 0, pseudo, 0.0)
    total = counts.sum(axis=-1, keepdims=True)
    return np.asarray(np.divide(counts, total, out=old.copy(), where=total != 0))


def _log_dirichlet(p: Floats, pseudo: float | Floats) -> Floats:
    density = xlogy(np.where(p > 0, pseudo, 0.0), p)
    return np.asarray(density.reshape(len(p), -1).sum(axis=1))


def one_hot(labels: Ints, K: int) -> Floats:
    """Labels 0 .. K-1 of any shape as probabilities, with a last axis of length K."""
    return np.asarray(labels[..., None] == np.arange(K), dtype=float)


def transition_counts(gamma: Floats) -> Floats:
    """Transition counts of known states, or of states independent given the data, (R, K, K)."""
    return np.asarray((np.swapaxes(gamma[:, :, :-1], -1, -2) @ gamma[:, :, 1:]).sum(axis=1))


def _e_step(theta: Model, x: AnyArray, b: float) -> tuple[Posterior | Counts, Floats]:
    pi, A = theta.pi[:, None], theta.A[:, None]  # the same for all of the sequences
    log_lik, symbols = theta.observed(x)
    if b == np.inf:
        path = hmm.viterbi(pi, A, log_lik, symbols)
        gamma = one_hot(path.states, pi.shape[-1])
        return Posterior(gamma, transition_counts(gamma)), path.log_joint.sum(axis=1)
    pi, A, log_lik = pi**b, A**b, b * log_lik  # the recursions accept unnormalised factors
    if symbols is not None:
        *sums, log_evidence = (a.sum(axis=1) for a in hmm.symbol_counts(pi, A, log_lik, symbols))
        return Counts(*sums), log_evidence / b
    posterior = hmm.smoother(pi, A, log_lik)
    transitions = hmm.expected_transitions(A, posterior).sum(axis=1)  # 17.99
    objective = posterior.forward.log_evidence.sum(axis=1) / b
    return Posterior(posterior.smoothed, transitions), objective


def reestimate(theta: Model, x: AnyArray, q: Posterior | Counts, prior: Prior) -> Model:
    """The M step: normalised expected counts, and emissions fitted with the posterior weights."""
    return theta.maximise(x, q, prior)._replace(
        pi=_normalise(q.first, theta.pi, prior.initial),  # 13.18, 17.103
        A=_normalise(q.transitions, theta.A, prior.transition),  # 13.19, 17.103
    )


def baum_welch(
    theta: Model,
    x: AnyArray,
    *,
    prior: Prior = FLAT,
    inverse_temperature: float = 1.0,
    tol: float = 1e-8,
    max_iter: int = 500,
    snapshots: Collection[int] = (),
) -> EMFit[Model]:
    """EM from R starts. The objective is ln p(x | theta) + ln p(theta), up to a constant.

    To anneal, or to start with Viterbi training, run it again from the end of the last run.
    """
    x = np.asarray(x)

    def e_step(theta: Model) -> tuple[Posterior | Counts, Floats]:
        q, objective = _e_step(theta, x, inverse_temperature)
        log_prior = _log_dirichlet(theta.pi, prior.initial)
        log_prior = log_prior + _log_dirichlet(theta.A, prior.transition) + theta.log_prior(prior)
        return q, objective + log_prior

    def m_step(theta: Model, q: Posterior | Counts) -> Model:
        return reestimate(theta, x, q, prior)

    return expectation_maximisation(
        theta, e_step, m_step, tol=tol, max_iter=max_iter, snapshots=snapshots
    )
