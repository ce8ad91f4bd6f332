r"""The recursions of a hidden Markov model, compiled, and beside them the same in plain NumPy.

    forward     alpha-hat_t(k) c_t  = p(x_t | k) sum_j alpha-hat_{t-1}(j) A(j, k)         PRML 13.59
    backward    beta-hat_t(j) c_t+1 = sum_k A(j, k) p(x_{t+1} | k) beta-hat_{t+1}(k)      PRML 13.62
    viterbi     omega_t(k) = ln p(x_t | k) + max_j {ln A(j, k) + omega_{t-1}(j)}          PRML 13.68

The compiled loops run over one sequence and broadcast over leading axes; `models.hmm` wraps them.
A `*_reference` is the same recursion a line a formula, to read and to test the loop against.
"""

import math
import re
from collections.abc import Callable
from functools import cache, wraps
from typing import Any

import numpy as np

from models.types import Floats, Ints


def log(p: Floats) -> Floats:
    """The logarithm with ln 0 = -inf, without the warning."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(p))


# --- The recursions, compiled -------------------------------------------------------------------


def _compiled(layout: str) -> Callable[[Callable[..., None]], Callable[..., Any]]:
    """Make a loop over one sequence a function over leading axes, compiled at its first call.

    The layout names the core axes as NumPy's generalised ufuncs do, `(k),(k,k),(t,k)->(t,k),(t)`,
    with `()` for a whole number; outputs written `i(t)` hold whole numbers. numba costs half a
    second to import: who never runs a recursion does not pay it. (Its own gufuncs are not used:
    two processes that compile one at the same moment spoil the cache for everybody after them.)
    """
    ins, outs = (re.findall(r"(i?)\(([\w,]*)\)", side) for side in layout.split("->"))

    def decorate(loop: Callable[..., None]) -> Callable[..., Any]:
        @cache
        def build() -> Callable[..., None]:
            import numba

            compiled: Callable[..., None] = numba.njit(cache=True, error_model="numpy")(loop)
            return compiled

        @wraps(loop)
        def call(*arrays: Any) -> Any:
            cores = [axes.split(",") if axes else [] for _, axes in ins]
            given = [np.asarray(a) for a in arrays]
            lead = np.broadcast_shapes(
                *(a.shape[: a.ndim - len(core)] for a, core in zip(given, cores, strict=True))
            )
            size: dict[str, int] = {}
            flat: list[Any] = []
            for a, core in zip(given, cores, strict=True):
                shape = a.shape[a.ndim - len(core) :]
                size |= dict(zip(core, shape, strict=True))
                kind = np.float64 if core else np.int64
                whole = np.broadcast_to(a, (*lead, *shape)).astype(kind, order="C", copy=False)
                flat.append(np.ascontiguousarray(whole).reshape(-1, *shape))
            results = []
            for whole, axes in outs:
                shape = tuple(size[axis] for axis in axes.split(",")) if axes else (1,)
                dtype = np.int64 if whole else np.float64
                results.append(np.empty((math.prod(lead), *shape), dtype))
            kernel = build()
            for n in range(math.prod(lead)):
                kernel(*(a[n] for a in flat), *(r[n] for r in results))
            shaped = [
                r.reshape((*lead, *r.shape[1:]) if axes else lead)
                for r, (_, axes) in zip(results, outs, strict=True)
            ]
            return shaped[0] if len(shaped) == 1 else tuple(shaped)

        return call

    return decorate


@_compiled("(k),(k,k),(t,k)->(t,k),(t)")
def forward(pi: Floats, A: Floats, log_lik: Floats, alpha: Floats, log_c: Floats) -> None:
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


@_compiled("(k,k),(t,k),(t,k),()->(t,k)")
def backward(A: Floats, log_lik: Floats, alpha: Floats, lag: int, beta: Floats) -> None:
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
                message[k] = 0.0 if evidence[s, k] == 0 else evidence[s, k] * beta[t, k]  # 0 * inf
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


@_compiled("(k),(k,k),(t,k)->i(t),()")
def viterbi(log_pi: Floats, log_A: Floats, log_lik: Floats, path: Ints, value: Floats) -> None:
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


def condition(predicted: Floats, log_lik: Floats) -> tuple[Floats, Floats]:
    """Bayes' rule at one step: p(z_t | x_1 .. x_t) and ln p(x_t | x_1 .. x_{t-1})."""
    reachable = np.where(predicted > 0, log_lik, -np.inf)
    shift = reachable.max(axis=-1, keepdims=True)
    joint = predicted * np.exp(reachable - shift)
    c = joint.sum(axis=-1, keepdims=True)
    return joint / c, (np.log(c) + shift)[..., 0]


def forward_reference(pi: Floats, A: Floats, log_lik: Floats) -> tuple[Floats, Floats]:
    """What `forward` computes, for data of positive probability."""
    alpha, log_c = np.empty(log_lik.shape), np.empty(log_lik.shape[:-1])
    predicted = np.broadcast_to(pi, log_lik[..., 0, :].shape)
    for t in range(log_lik.shape[-2]):
        alpha[..., t, :], log_c[..., t] = condition(predicted, log_lik[..., t, :])  # 13.59
        predicted = np.einsum("...j,...jk->...k", alpha[..., t, :], A)  # MLAPP 17.44
    return alpha, log_c


def backward_reference(A: Floats, log_lik: Floats, log_c: Floats, lag: int) -> Floats:
    """The backward messages of the next `lag` observations, for all times at once."""
    ratio = np.exp(log_lik - log_c[..., None])
    beta = np.ones(log_lik.shape)
    for _ in range(min(lag, log_lik.shape[-2] - 1)):
        message = (ratio * beta)[..., 1:, :]
        beta[..., :-1, :] = np.einsum("...jk,...tk->...tj", A, message)  # 13.62
    return beta


def viterbi_reference(pi: Floats, A: Floats, log_lik: Floats) -> tuple[Ints, Floats]:
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
    return path, omega.max(axis=-1)


# --- The sums as they are first written: joint probabilities, which underflow in long chains ------


def forward_unscaled(pi: Floats, A: Floats, lik: Floats) -> Floats:
    """alpha_t(k) = p(x_1 .. x_t, z_t = k), (..., T, K), from likelihoods p(x_t | z_t = k)."""
    alpha = [lik[..., 0, :] * pi]  # 13.37
    for t in range(1, lik.shape[-2]):
        alpha.append(lik[..., t, :] * (alpha[-1][..., None, :] @ A)[..., 0, :])  # 13.36
    return np.stack(alpha, axis=-2)


def backward_unscaled(A: Floats, lik: Floats) -> Floats:
    """beta_t(j) = p(x_{t+1} .. x_T | z_t = j), (..., T, K)."""
    beta = [np.ones_like(lik[..., 0, :])]
    for t in range(lik.shape[-2] - 1, 0, -1):
        beta.append((A @ (lik[..., t, :] * beta[-1])[..., None])[..., 0])  # 13.38
    return np.stack(beta[::-1], axis=-2)
