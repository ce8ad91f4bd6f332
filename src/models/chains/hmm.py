r"""Hidden Markov models: exact inference in a discrete chain (PRML 13.2, MLAPP 17.4).

    p(x, z) = pi(z_1) prod_{t=2}^T A(z_{t-1}, z_t) prod_{t=1}^T p(x_t | z_t)      z_t in 0 .. K-1

with A(j, k) = p(z_t = k | z_{t-1} = j), so that rows sum to one (Ghahramani 4.2 prints columns).
The observations enter only through their log likelihoods ln p(x_t | z_t = k), an array (..., T, K):
one set of recursions serves symbols, Gaussians, and missing values (a row of zeros). pi (..., K),
A (..., K, K) and the log likelihoods broadcast over their leading axes: one sequence, a batch of
sequences under one model, and restarts of one model over many sequences are the same call. Where
times share their rows, as those of one symbol do, the rows are given once, (..., L, K), and with
them `symbols` (..., T), the row of each time: `symbol_table` gives the rows for B.

The recursions are compiled loops (`hmm_recursions`). Filtered probabilities are scaled, not
logarithmic: a state whose probability given the data so far is below 1e-280 may count as
impossible, until another state leads to it again.
"""

from typing import NamedTuple

import numpy as np

from bythebook.models.chains import hmm_recursions
from bythebook.models.chains.hmm_recursions import evidence, log
from bythebook.models.clustering.gaussian_mixture import whitener
from bythebook.models.compiled import at_once
from bythebook.models.types import Floats, Ints


class Filtered(NamedTuple):
    """The forward pass. Where the data become impossible, log_scale is -inf and filtered NaN."""

    filtered: Floats  # (..., T, K) p(z_t | x_1 .. x_t): alpha-hat
    log_scale: Floats  # (..., T) ln p(x_t | x_1 .. x_{t-1}): ln c_t

    @property
    def log_evidence(self) -> Floats:
        """The log evidence ln p(x_1 .. x_T), shape (...)."""
        return np.asarray(self.log_scale.sum(axis=-1))  # 13.63


class Smoothed(NamedTuple):
    """The forward and the backward pass together."""

    forward: Filtered
    backward: Floats  # (..., T, K) p(x_{t+1} .. | z_t) / p(x_{t+1} .. | x_1 .. x_t): beta-hat
    smoothed: Floats  # (..., T, K) p(z_t | x_1 .. x_T): gamma


class SymbolCounts(NamedTuple):
    """Expected counts given the symbols of each sequence."""

    first: Floats  # (..., K) p(z_1 = k | x)
    transitions: Floats  # (..., K, K) number of transitions from j to k
    emissions: Floats  # (..., K, L) number of times that state k emits symbol l
    log_evidence: Floats  # (...) ln p(x)


class Tracked(NamedTuple):
    """Filtered and smoothed probabilities of one state k, and the most probable path."""

    filtered: Floats  # (..., T) p(z_t = k | x_1 .. x_t)
    smoothed: Floats  # (..., T) p(z_t = k | x_1 .. x_T)
    states: Ints  # (..., T) argmax_z p(z | x)
    log_evidence: Floats  # (...) ln p(x_1 .. x_T)


class Path(NamedTuple):
    """The most probable sequence of states."""

    states: Ints  # (..., T) argmax_z p(z | x); among equals the lowest states, from the end
    log_joint: Floats  # (...) max_z ln p(x, z)


# --- Inference ----------------------------------------------------------------------------------


def forward_filter(pi: Floats, A: Floats, log_lik: Floats, symbols: Ints | None = None) -> Filtered:
    """p(z_t | x_1 .. x_t) and the log evidence (PRML 13.2.4, MLAPP 17.4.2)."""
    return Filtered(*hmm_recursions.forward(pi, A, evidence(log_lik, symbols)))


def smoother(pi: Floats, A: Floats, log_lik: Floats, symbols: Ints | None = None) -> Smoothed:
    """p(z_t | x_1 .. x_T) by the forward-backward algorithm (PRML 13.2.2, MLAPP 17.4.3)."""
    x = evidence(log_lik, symbols)
    forward = Filtered(*hmm_recursions.forward(pi, A, x))
    return Smoothed(forward, *hmm_recursions.backward(A, x, forward.filtered, x.at.shape[-1]))


def _arriving(A: Floats, posterior: Smoothed) -> Floats:
    """p(z_t | x_1 .. x_T) / p(z_t | x_1 .. x_{t-1}) for t = 2 .. T, (..., T - 1, K).

    This is p(x_t | z_t) beta-hat(z_t) / c_t of (13.65), without a likelihood that could overflow.
    """
    predicted = posterior.forward.filtered[..., :-1, :] @ A
    gamma = posterior.smoothed[..., 1:, :]
    return np.divide(gamma, predicted, out=np.zeros(gamma.shape), where=predicted != 0)


def pairwise_marginals(A: Floats, posterior: Smoothed) -> Floats:
    """xi: p(z_t, z_{t+1} | x_1 .. x_T), shape (..., T - 1, K, K).

    PRML prints (13.65) with a factor c where 1 / c belongs; (13.103) is correct.
    """
    leaving = posterior.forward.filtered[..., :-1, :, None]
    return leaving * A[..., None, :, :] * _arriving(A, posterior)[..., None, :]  # 13.65, corrected


def expected_transitions(A: Floats, posterior: Smoothed) -> Floats:
    """The sum of the pairwise marginals over time, (..., K, K), without storing them (17.61)."""
    leaving = np.swapaxes(posterior.forward.filtered[..., :-1, :], -1, -2)
    return A * (leaving @ _arriving(A, posterior))


def symbol_counts(pi: Floats, A: Floats, table: Floats, symbols: Ints) -> SymbolCounts:
    """Smoothed counts for Baum-Welch, summed over time during the recursion (MLAPP 17.5.2.1)."""
    first, xi, rows, log_evidence = hmm_recursions.counts(pi, A, evidence(table, symbols))
    return SymbolCounts(first, xi, np.swapaxes(rows, -1, -2), log_evidence)


def track_state(pi: Floats, A: Floats, table: Floats, symbols: Ints, state: int) -> Tracked:
    """Filter, smoother and Viterbi path, with the probabilities of one state only."""
    return Tracked(*hmm_recursions.track(pi, A, evidence(table, symbols), state))


def fixed_lag_smoother(A: Floats, log_lik: Floats, forward: Filtered, lag: int) -> Floats:
    """p(z_t | x_1 .. x_{t+lag}), (..., T, K); near the end from all the data (MLAPP 17.4.1)."""
    return hmm_recursions.backward(A, evidence(log_lik), forward.filtered, lag)[1]


def viterbi(pi: Floats, A: Floats, log_lik: Floats, symbols: Ints | None = None) -> Path:
    """The most probable sequence of states (PRML 13.2.5, MLAPP 17.4.4).

    PRML prints (13.68) with ln p(x_{t+1} | z_t) for the transition ln p(z_{t+1} | z_t).
    """
    log_lik = np.asarray(log_lik, dtype=np.float64)
    at = hmm_recursions.rows(log_lik, symbols)
    return Path(*hmm_recursions.viterbi(log(pi), log(A), log_lik, at))


def decode(
    pi: Floats, A: Floats, log_lik: Floats, symbols: Ints | None = None
) -> tuple[Smoothed, Path]:
    """`smoother` and `viterbi` on two threads at the same time."""
    model = pi, A, log_lik, symbols
    return at_once(lambda: smoother(*model), lambda: viterbi(*model))


def log_joint(pi: Floats, A: Floats, log_lik: Floats, states: Ints) -> Floats:
    """The log joint ln p(x, z) of paths (..., T), shape (...), for one pi and A (MLAPP 17.69)."""
    log_lik = np.broadcast_to(log_lik, (*states.shape, len(pi)))
    evidence = np.take_along_axis(log_lik, states[..., None], axis=-1)[..., 0].sum(axis=-1)
    steps = log(A)[states[..., :-1], states[..., 1:]].sum(axis=-1)
    return np.asarray(log(pi)[states[..., 0]] + steps + evidence)


def predict_states(filtered: Floats, A: Floats, horizon: int) -> Floats:
    """p(z_{t+horizon} | x_1 .. x_t) from p(z_t | x_1 .. x_t), both (..., K) (MLAPP 17.42)."""
    return np.asarray((filtered[..., None, :] @ np.linalg.matrix_power(A, horizon))[..., 0, :])


def predict_symbols(filtered: Floats, A: Floats, B: Floats, horizon: int) -> Floats:
    """p(x_{t+horizon} | x_1 .. x_t), (..., L), for B(k, l) = p(x = l | z = k) (MLAPP 17.43)."""
    return np.asarray((predict_states(filtered, A, horizon)[..., None, :] @ B)[..., 0, :])


def stationary(A: Floats) -> Floats:
    """The distribution p with p A = p, by least squares with the sum as one more equation."""
    K = len(A)
    equations = np.vstack([A.T - np.eye(K), np.ones(K)])
    return np.asarray(np.linalg.lstsq(equations, np.eye(K + 1)[K])[0])


# --- Emissions and simulation -------------------------------------------------------------------


def symbol_table(B: Floats) -> Floats:
    """Terms ln p(x = l | z = k), (..., L, K), of B (..., K, L): one row per symbol."""
    return np.swapaxes(log(B), -1, -2)


def categorical_log_likelihood(B: Floats, symbols: Ints) -> Floats:
    """Terms ln p(x_t | z_t = k), (R.., N.., T, K), for symbols (N.., T) and B (R.., K, L).

    Every model is combined with every sequence: the leading axes form an outer product.
    """
    return np.asarray(symbol_table(B)[..., symbols, :])


def gaussian_log_likelihood(mu: Floats, Sigma: Floats, x: Floats) -> Floats:
    """Terms ln N(x_t | mu_k, Sigma_k), (R.., N.., T, K), for x (N.., T, D) and mu (R.., K, D).

    A covariance that is not positive definite gives NaN.
    """
    K, D = mu.shape[-2:]
    W = whitener(Sigma)
    y = W @ (x.reshape(-1, D).T - mu[..., None])  # (R.., K, D, N * T)
    half_log_precision = np.log(np.diagonal(W, axis1=-2, axis2=-1)).sum(axis=-1, keepdims=True)
    log_density = half_log_precision - 0.5 * D * np.log(2 * np.pi) - 0.5 * (y**2).sum(axis=-2)
    by_time = np.swapaxes(log_density, -1, -2)
    return np.asarray(by_time.reshape(*mu.shape[:-2], *x.shape[:-1], K))


def _cumulative(p: Floats) -> Floats:
    """The distribution function without its last value, which is one."""
    total = np.cumsum(p, axis=-1)
    return np.asarray((total / total[..., -1:])[..., :-1])


def sample_states(pi: Floats, A: Floats, uniforms: Floats) -> Ints:
    """Chains (..., T) from uniforms (..., T): rng.random((B, T)), or a book's own stream."""
    first, following = _cumulative(pi), _cumulative(A)
    z = np.empty(uniforms.shape, dtype=np.int64)
    z[..., 0] = (first <= uniforms[..., 0, None]).sum(axis=-1)
    for t in range(1, uniforms.shape[-1]):
        z[..., t] = (following[z[..., t - 1]] <= uniforms[..., t, None]).sum(axis=-1)
    return z


def sample_symbols(B: Floats, states: Ints, uniforms: Floats) -> Ints:
    """Symbols x_t ~ B(z_t, .) of the same shape as the states, from the same number of uniforms."""
    x = np.empty(states.shape, dtype=np.int64)
    for k, cumulative in enumerate(_cumulative(B)):
        here = states == k
        x[here] = np.searchsorted(cumulative, uniforms[here], side="right")
    return x


def sample_gaussians(mu: Floats, Sigma: Floats, states: Ints, rng: np.random.Generator) -> Floats:
    """Observations x_t ~ N(mu_k, Sigma_k) with k = z_t, shape (..., T, D)."""
    noise = rng.standard_normal((*states.shape, mu.shape[-1]))
    L = np.linalg.cholesky(Sigma)[states]
    return np.asarray(mu[states] + np.einsum("...de,...e->...d", L, noise))


def sample_posterior(filtered: Floats, A: Floats, n_samples: int, rng: np.random.Generator) -> Ints:
    """Paths z ~ p(z | x), (n_samples, ..., T): filter forwards, sample backwards (MLAPP 17.4.5)."""
    uniforms = rng.random((n_samples, *filtered.shape[:-1]))
    z = np.empty(uniforms.shape, dtype=np.int64)
    last = _cumulative(filtered[..., -1, :])  # 17.91
    z[..., -1] = (last <= uniforms[..., -1, None]).sum(axis=-1)
    for t in range(filtered.shape[-2] - 2, -1, -1):
        # Row j holds p(z_t | z_{t+1} = j, x_1 .. x_t), up to a factor that normalising removes.
        given_next = filtered[..., t, None, :] * np.swapaxes(A, -1, -2)  # 17.90
        with np.errstate(invalid="ignore"):  # a state that cannot follow has a row of NaN
            rows = _cumulative(given_next)[None]
        row = np.take_along_axis(rows, z[..., t + 1, None, None], axis=-2)[..., 0, :]
        z[..., t] = (row <= uniforms[..., t, None]).sum(axis=-1)
    return z
