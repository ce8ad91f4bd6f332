r"""Hidden Markov models: exact inference in a discrete chain (PRML 13.2, MLAPP 17.4).

    p(x, z) = pi(z_1) prod_{t=2}^T A(z_{t-1}, z_t) prod_{t=1}^T p(x_t | z_t)      z_t in 0 .. K-1

with A(j, k) = p(z_t = k | z_{t-1} = j), so that rows sum to one (Ghahramani 4.2 prints columns).
The observations enter only through their log likelihoods ln p(x_t | z_t = k), an array (..., T, K):
one set of recursions serves symbols, Gaussians, and missing values (a row of zeros). pi (..., K),
A (..., K, K) and the log likelihoods broadcast over their leading axes: one sequence, a batch of
sequences under one model, and restarts of one model over many sequences are the same call.

The recursions are compiled loops over one sequence; beside each stands `*_reference`, the same
recursion in NumPy. Filtered probabilities are scaled, not logarithmic: a state whose probability
given the data so far is below 1e-308 counts as impossible from then on.
"""

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, NamedTuple

import numpy as np

from models.gaussian_mixture import whitener
from models.types import Floats, Ints


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


class Path(NamedTuple):
    """The most probable sequence of states."""

    states: Ints  # (..., T) argmax_z p(z | x); among equals the lowest states, from the end
    log_joint: Floats  # (...) max_z ln p(x, z)


def log(p: Floats) -> Floats:
    """The logarithm with ln 0 = -inf, without the warning."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(p))


# --- The recursions, compiled -------------------------------------------------------------------


def _compiled(types: str, layout: str) -> Callable[[Callable[..., None]], Callable[..., Any]]:
    """Make a loop over one sequence a NumPy function over leading axes, compiled at its first call.

    numba costs half a second to import: who never runs a recursion does not pay it.
    """

    def decorate(loop: Callable[..., None]) -> Callable[..., Any]:
        @cache
        def build() -> Callable[..., Any]:
            import numba

            guvectorize: Any = numba.guvectorize
            function: Callable[..., Any] = guvectorize([types], layout, cache=True)(loop)
            return function

        @wraps(loop)
        def call(*arrays: Any) -> Any:
            with np.errstate(all="ignore"):  # NaN and infinity are answers here: see the results
                return build()(*arrays)

        return call

    return decorate


@_compiled("void(f8[:], f8[:,:], f8[:,:], f8[:,:], f8[:])", "(k),(k,k),(t,k)->(t,k),(t)")
def _forward(pi: Floats, A: Floats, log_lik: Floats, alpha: Floats, log_c: Floats) -> None:
    T, K = log_lik.shape
    for t in range(T):
        shift = -np.inf  # the largest log likelihood of a state that can be reached
        for k in range(K):
            predicted = pi[k] if t == 0 else 0.0
            if t > 0:
                for j in range(K):
                    predicted += alpha[t - 1, j] * A[j, k]
            alpha[t, k] = predicted
            if predicted > 0 and not log_lik[t, k] <= shift:  # `not <=`: NaN shall show
                shift = log_lik[t, k]
        if shift == -np.inf:
            alpha[t:] = np.nan
            log_c[t:] = -np.inf
            return
        c = 0.0
        for k in range(K):
            if alpha[t, k] > 0:  # exp may overflow for a state out of reach
                alpha[t, k] *= np.exp(log_lik[t, k] - shift)
            c += alpha[t, k]
        for k in range(K):
            alpha[t, k] /= c  # 13.59
        log_c[t] = np.log(c) + shift


@_compiled("void(f8[:,:], f8[:,:], f8[:,:], i8, f8[:,:])", "(k,k),(t,k),(t,k),()->(t,k)")
def _backward(A: Floats, log_lik: Floats, alpha: Floats, lag: int, beta: Floats) -> None:
    T, K = log_lik.shape
    evidence, message = np.empty((T, K)), np.empty(K)
    for t in range(T):
        shift = -np.inf
        for k in range(K):
            if alpha[t, k] > 0 and log_lik[t, k] > shift:
                shift = log_lik[t, k]
        for k in range(K):
            evidence[t, k] = np.exp(log_lik[t, k] - shift)
    beta[T - 1] = 1.0
    for t in range(T - 2, -1, -1):
        if t + lag < T - 1:
            last = t + lag
            beta[t] = 1.0  # the window ends before the data: start it anew
        else:
            last = t + 1
            beta[t] = beta[t + 1]
        for s in range(last, t, -1):
            for k in range(K):
                message[k] = evidence[s, k] * beta[t, k]
            c = 0.0
            for j in range(K):
                beta[t, j] = 0.0
                for k in range(K):
                    if A[j, k] > 0:  # the message of a state out of reach may be infinite
                        beta[t, j] += A[j, k] * message[k]  # 13.62
                if alpha[s - 1, j] != 0:
                    c += alpha[s - 1, j] * beta[t, j]
            # c is c_s: the marginals sum to one. Taken from ln c_s, it would lose digits, step by
            # step, where likelihoods are far from one.
            c = 1.0 / c
            for j in range(K):
                beta[t, j] *= c


@_compiled("void(f8[:], f8[:,:], f8[:,:], i8[:], f8[:])", "(k),(k,k),(t,k)->(t),()")
def _viterbi(log_pi: Floats, log_A: Floats, log_lik: Floats, path: Ints, value: Floats) -> None:
    T, K = log_lik.shape
    omega = log_pi + log_lik[0]  # 13.69
    origin = np.empty((T, K), dtype=np.int64)
    for t in range(1, T):
        previous = omega.copy()
        for k in range(K):
            best = 0
            for j in range(1, K):
                if previous[j] + log_A[j, k] > previous[best] + log_A[best, k]:
                    best = j
            origin[t, k] = best
            omega[k] = log_lik[t, k] + (previous[best] + log_A[best, k])  # 13.68, corrected
    path[T - 1] = np.argmax(omega)
    value[0] = omega[path[T - 1]]
    for t in range(T - 1, 0, -1):
        path[t - 1] = origin[t, path[t]]  # 13.71


# --- The same recursions in NumPy: one line a formula -------------------------------------------


def _condition(predicted: Floats, log_lik: Floats) -> tuple[Floats, Floats]:
    """Bayes' rule at one step: p(z_t | x_1 .. x_t) and ln p(x_t | x_1 .. x_{t-1})."""
    reachable = np.where(predicted > 0, log_lik, -np.inf)
    shift = reachable.max(axis=-1, keepdims=True)
    joint = predicted * np.exp(reachable - shift)
    c = joint.sum(axis=-1, keepdims=True)
    return joint / c, (np.log(c) + shift)[..., 0]


def forward_reference(pi: Floats, A: Floats, log_lik: Floats) -> Filtered:
    """What `forward_filter` computes, for data of positive probability."""
    alpha, log_c = np.empty(log_lik.shape), np.empty(log_lik.shape[:-1])
    predicted = np.broadcast_to(pi, log_lik[..., 0, :].shape)
    for t in range(log_lik.shape[-2]):
        alpha[..., t, :], log_c[..., t] = _condition(predicted, log_lik[..., t, :])  # 13.59
        predicted = np.einsum("...j,...jk->...k", alpha[..., t, :], A)  # MLAPP 17.44
    return Filtered(alpha, log_c)


def backward_reference(A: Floats, log_lik: Floats, log_c: Floats, lag: int) -> Floats:
    """The backward messages of the next `lag` observations, for all times at once."""
    ratio = np.exp(log_lik - log_c[..., None])
    beta = np.ones(log_lik.shape)
    for _ in range(min(lag, log_lik.shape[-2] - 1)):
        message = (ratio * beta)[..., 1:, :]
        beta[..., :-1, :] = np.einsum("...jk,...tk->...tj", A, message)  # 13.62
    return beta


def viterbi_reference(pi: Floats, A: Floats, log_lik: Floats) -> Path:
    """What `viterbi` computes."""
    T = log_lik.shape[-2]
    path = np.empty(log_lik.shape[:-1], dtype=np.int64)
    origin = np.empty(log_lik.shape, dtype=np.int64)
    omega = log(pi) + log_lik[..., 0, :]  # 13.69
    for t in range(1, T):
        arriving = omega[..., :, None] + log(A)
        origin[..., t, :] = arriving.argmax(axis=-2)
        omega = log_lik[..., t, :] + arriving.max(axis=-2)  # 13.68, corrected
    path[..., -1] = omega.argmax(axis=-1)
    for t in range(T - 1, 0, -1):
        step = np.take_along_axis(origin[..., t, :], path[..., t, None], axis=-1)
        path[..., t - 1] = step[..., 0]  # 13.71
    return Path(path, omega.max(axis=-1))


# --- Inference ----------------------------------------------------------------------------------


def forward_filter(pi: Floats, A: Floats, log_lik: Floats) -> Filtered:
    """p(z_t | x_1 .. x_t) and the log evidence (PRML 13.2.4, MLAPP 17.4.2)."""
    return Filtered(*_forward(pi, A, log_lik))


def smoother(pi: Floats, A: Floats, log_lik: Floats) -> Smoothed:
    """p(z_t | x_1 .. x_T) by the forward-backward algorithm (PRML 13.2.2, MLAPP 17.4.3)."""
    forward = forward_filter(pi, A, log_lik)
    beta = _backward(A, log_lik, forward.filtered, log_lik.shape[-2])
    return Smoothed(forward, beta, _combine(forward.filtered, beta))


def _combine(alpha: Floats, beta: Floats) -> Floats:
    # A state that the past excludes stays excluded, however well it would explain the future.
    return np.multiply(alpha, beta, out=np.zeros(beta.shape), where=alpha != 0)  # 13.64


def _arriving(A: Floats, posterior: Smoothed) -> Floats:
    """p(z_t | x_1 .. x_T) / p(z_t | x_1 .. x_{t-1}) for t = 2 .. T, (..., T - 1, K).

    This is p(x_t | z_t) beta-hat(z_t) / c_t of (13.65), without a likelihood that could overflow.
    """
    predicted = posterior.forward.filtered[..., :-1, :] @ A
    gamma = posterior.smoothed[..., 1:, :]
    return np.divide(gamma, predicted, out=np.zeros(gamma.shape), where=predicted != 0)


def pairwise_marginals(A: Floats, posterior: Smoothed) -> Floats:
    """xi: p(z_t, z_{t+1} | x_1 .. x_T), shape (..., T - 1, K, K).

    PRML prints (13.65) with a factor c where 1 / c belongs; (13.103) has it right.
    """
    leaving = posterior.forward.filtered[..., :-1, :, None]
    return leaving * A[..., None, :, :] * _arriving(A, posterior)[..., None, :]  # 13.65, corrected


def expected_transitions(A: Floats, posterior: Smoothed) -> Floats:
    """The sum of the pairwise marginals over time, (..., K, K), without storing them (17.61)."""
    leaving = np.swapaxes(posterior.forward.filtered[..., :-1, :], -1, -2)
    return A * (leaving @ _arriving(A, posterior))


def fixed_lag_smoother(A: Floats, log_lik: Floats, forward: Filtered, lag: int) -> Floats:
    """p(z_t | x_1 .. x_{t+lag}), (..., T, K); near the end from all the data (MLAPP 17.4.1)."""
    return _combine(forward.filtered, _backward(A, log_lik, forward.filtered, lag))


def two_filter_smoother(pi: Floats, A: Floats, log_lik: Floats) -> Floats:
    """p(z_t | x_1 .. x_T), (..., T, K), from filters in both directions (MLAPP exercise 17.2).

    The chain run backwards in time has transitions p(z_t = j | z_{t+1} = k) = Pi_t(j) A(j, k) /
    Pi_{t+1}(k), with Pi_t = p(z_t), which must be positive. Its filter predicts
    r_t = p(z_t | x_{t+1} .. x_T), and the smoothed marginals are alpha_t r_t / Pi_t, normalised.
    """
    alpha = forward_filter(pi, A, log_lik).filtered
    Pi = forward_filter(pi, A, np.zeros(log_lik.shape)).filtered  # without evidence: the marginals
    r = Pi.copy()
    for t in range(log_lik.shape[-2] - 2, -1, -1):
        current, _ = _condition(r[..., t + 1, :], log_lik[..., t + 1, :])
        reverse = Pi[..., t, :, None] * A / Pi[..., t + 1, None, :]
        r[..., t, :] = np.einsum("...jk,...k->...j", reverse, current)
    product = alpha * r / Pi
    return np.asarray(product / product.sum(axis=-1, keepdims=True))


def viterbi(pi: Floats, A: Floats, log_lik: Floats) -> Path:
    """The most probable sequence of states (PRML 13.2.5, MLAPP 17.4.4).

    PRML prints (13.68) with ln p(x_{t+1} | z_t) for the transition ln p(z_{t+1} | z_t).
    """
    return Path(*_viterbi(log(pi), log(A), log_lik))


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


# --- Emissions and simulation -------------------------------------------------------------------


def categorical_log_likelihood(B: Floats, symbols: Ints) -> Floats:
    """Terms ln p(x_t | z_t = k), (R.., N.., T, K), for symbols (N.., T) and B (R.., K, L).

    Every model meets every sequence: the leading axes form an outer product.
    """
    return np.asarray(np.swapaxes(log(B), -1, -2)[..., symbols, :])


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
    """Symbols x_t ~ B(z_t, .) of the same shape as the states, from as many uniforms."""
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
