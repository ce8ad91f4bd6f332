r"""The recursions of a hidden Markov model, compiled, and beside them the same in plain NumPy.

    forward     alpha-hat_t(k) c_t  = p(x_t | k) sum_j alpha-hat_{t-1}(j) A(j, k)         PRML 13.59
    backward    beta-hat_t(j) c_t+1 = sum_k A(j, k) p(x_{t+1} | k) beta-hat_{t+1}(k)      PRML 13.62
    viterbi     omega_t(k) = ln p(x_t | k) + max_j {ln A(j, k) + omega_{t-1}(j)}          PRML 13.68

A kernel runs over one sequence. Likelihoods enter relative to the largest of their time, p(x_t | k)
/ max_k p(x_t | k), exponentials that NumPy takes before the loop: once a symbol, where symbols are
observed. Only where the largest belongs to a state out of reach does the loop take its own. Two
states, the smallest chain and the commonest, have kernels that keep them in registers.

`forward`, `backward`, `viterbi`, `counts` and `track` run the kernels over leading axes, in blocks
of sequences; `models.hmm` wraps them. A `*_reference` is the same recursion a line a formula, to
read and to test the kernels against.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from models.compiled import compiled, in_blocks
from models.types import AnyArray, Floats, Ints

FAINT = 1e-8  # p(x_t | x_1 .. x_{t-1}) / max_k p(x_t | k) below which weights are taken anew
LIFT = 2.0**27  # more than a step can lose: 1 / FAINT
BLOCK = 100_000  # time steps in a block of sequences: what a cache holds


def log(p: Floats, out: Floats | None = None) -> Floats:
    """The logarithm with ln 0 = -inf, without the warning."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(p, out=out))


class Evidence(NamedTuple):
    """What the observations say, in M rows that times may share: the rows of the symbols seen."""

    log_lik: Floats  # (..., M, K) ln p(x | z = k)
    lik: Floats  # (..., M, K) p(x | z = k) relative to the largest of its row
    top: Floats  # (..., M) the logarithm of the largest
    at: Ints  # (..., T) the row of each time


def evidence(log_lik: Floats, symbols: Ints | None = None) -> Evidence:
    """The log likelihoods of T times, or of L symbols and, (..., T), which of them is seen."""
    log_lik = np.asarray(log_lik, dtype=np.float64)
    top = log_lik.max(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):  # a row of -inf has no largest: its lik is NaN
        lik = np.exp(log_lik - top)
    return Evidence(log_lik, lik, top[..., 0], rows(log_lik, symbols))


def rows(log_lik: Floats, symbols: Ints | None = None) -> Ints:
    """The row of the log likelihoods that each time takes: its own, or that of its symbol."""
    M = log_lik.shape[-2]
    if symbols is None:
        return np.arange(M)
    at = np.asarray(symbols, dtype=np.int64)
    if at.size and not 0 <= at.min() <= at.max() < M:
        raise IndexError(f"symbols from {at.min()} to {at.max()}, where rows are from 0 to {M - 1}")
    return at


# --- Kernels: one sequence ----------------------------------------------------------------------


@compiled
def _forward(pi: Floats, A: Floats, x: Evidence, alpha: Floats, c: Floats, shift: Floats) -> None:
    T, K = alpha.shape
    if K == 2 and _forward_pair(pi, A, x, alpha, c, shift):
        return
    log_lik, lik, top, at = x
    predicted, near = pi.copy(), np.empty((1, K))
    for t in range(T):
        m = at[t]
        shift[t] = top[m]
        c[t] = _condition(predicted, lik, m, alpha, t)
        if not c[t] > FAINT:
            shift[t] = _reachable(log_lik[m], predicted, near[0])
            c[t] = _condition(predicted, near, 0, alpha, t)
        if shift[t] == -np.inf:
            alpha[t:] = np.nan
            c[t:] = 0.0
            shift[t:] = 0.0
            return
        for k in range(K):
            alpha[t, k] /= c[t]  # 13.59
            predicted[k] = 0.0
        for j in range(K):
            for k in range(K):
                predicted[k] += alpha[t, j] * A[j, k]


@compiled
def _condition(predicted: Floats, lik: Floats, m: int, alpha: Floats, t: int) -> float:
    c: float = 0.0
    for k in range(len(predicted)):
        alpha[t, k] = predicted[k] * lik[m, k] if predicted[k] > 0 else 0.0  # 0 * inf
        c += alpha[t, k]
    return c


@compiled
def _reachable(log_lik: Floats, p: Floats, lik: Floats) -> float:
    """Likelihoods relative to the largest of a state with p > 0; others may be infinite."""
    shift: float = -np.inf
    for k in range(len(p)):
        if p[k] > 0 and not log_lik[k] <= shift:  # `not <=`: NaN shall show
            shift = log_lik[k]
    for k in range(len(p)):
        lik[k] = np.exp(log_lik[k] - shift)
    return shift


@compiled
def _backward(
    A: Floats, A_T: Floats, x: Evidence, alpha: Floats, lag: int, beta: Floats, gamma: Floats
) -> None:
    T, K = alpha.shape
    if K == 2 and lag >= T - 1 and _backward_pair(A, x, alpha, beta, gamma):
        return
    log_lik, lik, _, at = x
    later, near = np.empty(K), np.empty((1, K))
    for t in range(T - 1, -1, -1):
        if t == T - 1 or t + lag < T - 1:  # the window ends before the data: start it anew
            last = min(t + lag, T - 1)
            for k in range(K):
                beta[t, k] = 1.0
        else:
            last = t + 1
            for k in range(K):
                beta[t, k] = beta[t + 1, k]
        for s in range(last, t, -1):
            for k in range(K):
                later[k] = beta[t, k]
            # c is c_s: the marginals sum to one. Taken from ln c_s, it would lose digits, step by
            # step, where likelihoods are far from one.
            c = _collect(A_T, lik, at[s], later, alpha, s - 1, beta, t)
            if not FAINT < c < np.inf:
                _reachable(log_lik[at[s]], alpha[s], near[0])
                c = _collect(A_T, near, 0, later, alpha, s - 1, beta, t)
            c = 1.0 / c
            for j in range(K):
                beta[t, j] *= c
        for k in range(K):
            # A state that the past excludes stays excluded, however well it explains the future.
            gamma[t, k] = alpha[t, k] * beta[t, k] if alpha[t, k] != 0 else 0.0  # 13.64


@compiled
def _collect(
    A_T: Floats, lik: Floats, m: int, later: Floats, alpha: Floats, s: int, beta: Floats, t: int
) -> float:
    K = len(later)
    for j in range(K):
        beta[t, j] = 0.0
    for k in range(K):
        message = lik[m, k] * later[k] if lik[m, k] != 0 else 0.0  # 0 * inf
        for j in range(K):  # the message of a state out of reach may be infinite
            beta[t, j] += A_T[k, j] * message if A_T[k, j] > 0 else 0.0  # 13.62
    c: float = 0.0
    for j in range(K):
        c += alpha[s, j] * beta[t, j] if alpha[s, j] != 0 else 0.0
    return c


@compiled
def _viterbi(
    log_pi: Floats, log_A: Floats, log_lik: Floats, at: Ints, origin: AnyArray, path: Ints
) -> Any:
    T, K = origin.shape
    if K == 2:
        return _viterbi_pair(log_pi, log_A, log_lik, at, origin, path)
    omega = log_pi + log_lik[at[0]]  # 13.69
    previous, log_A_T = np.empty(K), log_A.T.copy()
    for t in range(1, T):
        previous[:] = omega
        for k in range(K):
            best, source = previous[0] + log_A_T[k, 0], 0
            for j in range(1, K):
                arriving = previous[j] + log_A_T[k, j]
                source = j if arriving > best else source
                best = arriving if arriving > best else best
            omega[k] = log_lik[at[t], k] + best  # 13.68, corrected
            origin[t, k] = source
    path[T - 1] = np.argmax(omega)
    for t in range(T - 1, 0, -1):
        path[t - 1] = origin[t, path[t]]  # 13.71
    return omega[path[T - 1]]


@compiled
def _count(
    A: Floats,
    A_T: Floats,
    x: Evidence,
    alpha: Floats,
    beta: Floats,
    gamma: Floats,
    first: Floats,
    xi: Floats,
    seen: Floats,
) -> None:
    T, K = alpha.shape
    if K == 2 and _count_pair(A, x, alpha, first, xi, seen):
        return
    _backward(A, A_T, x, alpha, T, beta, gamma)
    first[:], xi[:], seen[:] = gamma[0], 0.0, 0.0  # 17.98
    predicted = np.empty(K)
    for t in range(T):
        for k in range(K):
            seen[x.at[t], k] += gamma[t, k]  # 17.104
            predicted[k] = 0.0
        if t == 0:
            continue
        for j in range(K):
            for k in range(K):
                predicted[k] += alpha[t - 1, j] * A[j, k]
        for k in range(K):
            arriving = gamma[t, k] / predicted[k] if predicted[k] != 0 else 0.0
            for j in range(K):
                xi[j, k] += alpha[t - 1, j] * arriving
    xi *= A  # 13.65, corrected


# --- Kernels: two states, p and q ---------------------------------------------------------------
# A step waits for the last, and a division takes longer than all the rest of it. So p and q run on
# unscaled, and the scaled probabilities branch off; a power of two keeps p and q in range, chosen
# by the step before so that nothing waits for it. Where evidence wants more care these kernels give
# up, and leave the sequence to those above.


@compiled
def _lift(scale: float) -> tuple[float, float]:
    """A factor that keeps numbers of the size 1 / scale in range, and its inverse."""
    if scale > LIFT:
        return LIFT, 1 / LIFT
    if scale < 1 / LIFT:
        return 1 / LIFT, LIFT
    return 1.0, 1.0


@compiled
def _forward_pair(
    pi: Floats, A: Floats, x: Evidence, alpha: Floats, c: Floats, shift: Floats
) -> bool:
    (pp, pq), (qp, qq) = (A[0, 0], A[0, 1]), (A[1, 0], A[1, 1])
    p, q, last, up, down = pi[0], pi[1], 1.0, 1.0, 1.0
    for t in range(len(alpha)):
        m = x.at[t]
        p, q = p * x.lik[m, 0], q * x.lik[m, 1]
        total = p + q
        if not total * last > FAINT:
            return False
        c[t], shift[t] = total * last, x.top[m]
        scale = 1.0 / total
        alpha[t, 0], alpha[t, 1] = p / total, q / total  # 13.59
        p, q = (p * pp + q * qp) * up, (p * pq + q * qq) * up
        last = scale * down
        up, down = _lift(scale)
    return True


@compiled
def _backward_pair(A: Floats, x: Evidence, alpha: Floats, beta: Floats, gamma: Floats) -> bool:
    (pp, pq), (qp, qq) = (A[0, 0], A[0, 1]), (A[1, 0], A[1, 1])
    T = len(alpha)
    p, q, last, up, down = 1.0, 1.0, 1.0, 1.0, 1.0
    beta[T - 1], gamma[T - 1] = 1.0, alpha[T - 1]
    for t in range(T - 2, -1, -1):
        a, b, m = alpha[t, 0], alpha[t, 1], x.at[t + 1]
        p, q = x.lik[m, 0] * p, x.lik[m, 1] * q
        p, q = (pp * p + pq * q) * up, (qp * p + qq * q) * up  # 13.62
        total = a * p + b * q
        if not FAINT < total * (last * down) < np.inf:
            return False
        scale = 1.0 / total
        beta[t, 0], beta[t, 1] = p * scale, q * scale
        gamma[t, 0] = a * beta[t, 0] if a != 0 else 0.0  # 13.64
        gamma[t, 1] = b * beta[t, 1] if b != 0 else 0.0
        last = scale
        up, down = _lift(scale)
    return True


@compiled
def _count_pair(
    A: Floats, x: Evidence, alpha: Floats, first: Floats, xi: Floats, seen: Floats
) -> bool:
    (pp, pq), (qp, qq) = (A[0, 0], A[0, 1]), (A[1, 0], A[1, 1])
    p, q, last, up, down = 1.0, 1.0, 1.0, 1.0, 1.0
    g, h = alpha[-1, 0], alpha[-1, 1]  # gamma
    stay_p, to_q, to_p, stay_q = 0.0, 0.0, 0.0, 0.0
    seen[:] = 0.0
    for t in range(len(alpha) - 2, -1, -1):
        a, b, m = alpha[t, 0], alpha[t, 1], x.at[t + 1]
        seen[m, 0] += g  # 17.104
        seen[m, 1] += h
        u, v = x.lik[m, 0] * p * up, x.lik[m, 1] * q * up
        p, q = pp * u + pq * v, qp * u + qq * v  # 13.62
        total = a * p + b * q
        if not FAINT < total * (last * down) < np.inf:
            return False
        last = 1.0 / total
        up, down = _lift(last)
        g, h, u, v = a * p * last, b * q * last, u * last, v * last
        stay_p, to_q, to_p, stay_q = stay_p + a * u, to_q + a * v, to_p + b * u, stay_q + b * v
    if not stay_p + to_q + to_p + stay_q < np.inf:
        return False
    seen[x.at[0], 0] += g
    seen[x.at[0], 1] += h
    first[0], first[1] = g, h
    xi[0, 0], xi[0, 1] = pp * stay_p, pq * to_q  # 13.65, corrected
    xi[1, 0], xi[1, 1] = qp * to_p, qq * stay_q
    return True


@compiled
def _viterbi_pair(
    log_pi: Floats, log_A: Floats, log_lik: Floats, at: Ints, origin: AnyArray, path: Ints
) -> Any:
    T, m = len(path), at[0]
    (pp, pq), (qp, qq) = (log_A[0, 0], log_A[0, 1]), (log_A[1, 0], log_A[1, 1])
    p, q = log_pi[0] + log_lik[m, 0], log_pi[1] + log_lik[m, 1]  # 13.69
    for t in range(1, T):
        to_p, to_q = q + qp > p + pp, q + qq > p + pq
        origin[t, 0], origin[t, 1] = to_p, to_q
        p, q = (q + qp if to_p else p + pp), (q + qq if to_q else p + pq)
        p, q = log_lik[at[t], 0] + p, log_lik[at[t], 1] + q  # 13.68, corrected
    omega = np.array([p, q])
    path[T - 1] = np.argmax(omega)
    for t in range(T - 1, 0, -1):
        path[t - 1] = origin[t, path[t]]  # 13.71
    return omega[path[T - 1]]


# --- Kernels: a block of sequences --------------------------------------------------------------
# Row n of `which` says whose pi, A, likelihoods and times are those of sequence n.


@compiled
def _of(x: Evidence, m: int, s: int) -> Evidence:
    return Evidence(x.log_lik[m], x.lik[m], x.top[m], x.at[s])


@compiled
def _forward_block(
    which: Ints, pi: Floats, A: Floats, x: Evidence, alpha: Floats, c: Floats, shift: Floats
) -> None:
    for n in range(len(which)):
        i, j, m, s = which[n, 0], which[n, 1], which[n, 2], which[n, 3]
        _forward(pi[i], A[j], _of(x, m, s), alpha[n], c[n], shift[n])


@compiled
def _backward_block(
    which: Ints,
    A: Floats,
    A_T: Floats,
    x: Evidence,
    alpha: Floats,
    lag: int,
    beta: Floats,
    gamma: Floats,
) -> None:
    for n in range(len(which)):
        j, m, s, a = which[n, 0], which[n, 1], which[n, 2], which[n, 3]
        _backward(A[j], A_T[j], _of(x, m, s), alpha[a], lag, beta[n], gamma[n])


@compiled
def _viterbi_block(
    which: Ints,
    log_pi: Floats,
    log_A: Floats,
    log_lik: Floats,
    at: Ints,
    origin: AnyArray,
    path: Ints,
    value: Floats,
) -> None:
    for n in range(len(which)):
        i, j, m, s = which[n, 0], which[n, 1], which[n, 2], which[n, 3]
        value[n] = _viterbi(log_pi[i], log_A[j], log_lik[m], at[s], origin, path[n])


@compiled
def _count_block(
    which: Ints,
    pi: Floats,
    A: Floats,
    A_T: Floats,
    x: Evidence,
    c: Floats,
    shift: Floats,
    first: Floats,
    xi: Floats,
    seen: Floats,
) -> None:
    T, K = c.shape[1], pi.shape[1]
    alpha, beta, gamma = np.empty((T, K)), np.empty((T, K)), np.empty((T, K))
    for n in range(len(which)):
        i, j, m, s = which[n, 0], which[n, 1], which[n, 2], which[n, 3]
        one = _of(x, m, s)
        _forward(pi[i], A[j], one, alpha, c[n], shift[n])
        _count(A[j], A_T[j], one, alpha, beta, gamma, first[n], xi[n], seen[n])


@compiled
def _track_block(
    which: Ints,
    pi: Floats,
    A: Floats,
    A_T: Floats,
    log_pi: Floats,
    log_A: Floats,
    x: Evidence,
    state: int,
    origin: AnyArray,
    c: Floats,
    shift: Floats,
    filtered: Floats,
    smoothed: Floats,
    path: Ints,
) -> None:
    T, K = origin.shape
    alpha, beta, gamma = np.empty((T, K)), np.empty((T, K)), np.empty((T, K))
    for n in range(len(which)):
        i, j, m, s = which[n, 0], which[n, 1], which[n, 2], which[n, 3]
        one = _of(x, m, s)
        _forward(pi[i], A[j], one, alpha, c[n], shift[n])
        _backward(A[j], A_T[j], one, alpha, T, beta, gamma)
        _viterbi(log_pi[i], log_A[j], one.log_lik, one.at, origin, path[n])
        for t in range(T):
            filtered[n, t], smoothed[n, t] = alpha[t, state], gamma[t, state]


# --- The recursions over leading axes -----------------------------------------------------------


def forward(pi: Floats, A: Floats, x: Evidence) -> tuple[Floats, Floats]:
    """alpha-hat (..., T, K) and ln c (..., T)."""
    T, K = x.at.shape[-1], _states(pi, A, x.log_lik)
    lead, which = _broadcast((pi, 1), (A, 2), (x.log_lik, 2), (x.at, 1))
    alpha, c, shift = np.empty((len(which), T, K)), *np.empty((2, len(which), T))
    model = _flat(pi, 1), _flat(A, 2), _flat_evidence(x)

    def work(n: slice) -> None:
        _forward_block(which[n], *model, alpha[n], c[n], shift[n])
        np.add(log(c[n], out=c[n]), shift[n], out=c[n])

    in_blocks(work, len(which), _sequences(T))
    return alpha.reshape(*lead, T, K), c.reshape(*lead, T)


def backward(A: Floats, x: Evidence, alpha: Floats, lag: int) -> tuple[Floats, Floats]:
    """beta-hat of the next `lag` observations, and with it gamma, both (..., T, K)."""
    T, K = x.at.shape[-1], _states(alpha, A, x.log_lik)
    if alpha.shape[-2] != T:
        raise ValueError(f"the filter ran over {alpha.shape[-2]} steps, the data have {T}")
    lead, which = _broadcast((A, 2), (x.log_lik, 2), (x.at, 1), (alpha, 2))
    beta, gamma = np.empty((2, len(which), T, K))
    model = _flat(A, 2), _flat(np.swapaxes(A, -1, -2), 2), _flat_evidence(x), _flat(alpha, 2)

    def work(n: slice) -> None:
        _backward_block(which[n], *model, lag, beta[n], gamma[n])

    in_blocks(work, len(which), _sequences(T))
    return beta.reshape(*lead, T, K), gamma.reshape(*lead, T, K)


def viterbi(log_pi: Floats, log_A: Floats, log_lik: Floats, at: Ints) -> tuple[Ints, Floats]:
    """The best path (..., T), and its log joint (...)."""
    T, K = at.shape[-1], _states(log_pi, log_A, log_lik)
    lead, which = _broadcast((log_pi, 1), (log_A, 2), (log_lik, 2), (at, 1))
    path, value = np.empty((len(which), T), dtype=np.int64), np.empty(len(which))
    model = _flat(log_pi, 1), _flat(log_A, 2), _flat(log_lik, 2), _flat(at, 1, np.int64)

    def work(n: slice) -> None:
        origin = np.empty((T, K), dtype=np.min_scalar_type(K - 1))
        _viterbi_block(which[n], *model, origin, path[n], value[n])

    in_blocks(work, len(which), _sequences(T))
    return path.reshape(*lead, T), value.reshape(lead)


def counts(pi: Floats, A: Floats, x: Evidence) -> tuple[Floats, Floats, Floats, Floats]:
    """Both passes summed over time, without an array (..., T, K), and the log evidence (...).

    The sums: gamma at the first time (..., K), xi (..., K, K), gamma of each row (..., M, K).
    """
    T, M, K = x.at.shape[-1], x.log_lik.shape[-2], _states(pi, A, x.log_lik)
    lead, which = _broadcast((pi, 1), (A, 2), (x.log_lik, 2), (x.at, 1))
    N = len(which)
    first, xi, seen = np.empty((N, K)), np.empty((N, K, K)), np.empty((N, M, K))
    log_evidence = np.empty(N)
    model = _flat(pi, 1), _flat(A, 2), _flat(np.swapaxes(A, -1, -2), 2), _flat_evidence(x)

    def work(n: slice) -> None:
        c, shift = np.empty((2, len(which[n]), T))
        _count_block(which[n], *model, c, shift, first[n], xi[n], seen[n])
        log_evidence[n] = (log(c) + shift).sum(axis=-1)  # 13.63

    in_blocks(work, N, _sequences(T))
    sums = first.reshape(*lead, K), xi.reshape(*lead, K, K), seen.reshape(*lead, M, K)
    return *sums, log_evidence.reshape(lead)


def track(pi: Floats, A: Floats, x: Evidence, state: int) -> tuple[Floats, Floats, Ints, Floats]:
    """All three for one state, without an array (..., T, K): what a sequence needs stays in cache.

    Its filtered and smoothed probabilities and the best path, (..., T), and the log evidence (...).
    """
    T, K = x.at.shape[-1], _states(pi, A, x.log_lik)
    if not 0 <= state < K:
        raise IndexError(f"there is no state {state} among {K}")
    lead, which = _broadcast((pi, 1), (A, 2), (x.log_lik, 2), (x.at, 1))
    N = len(which)
    filtered, smoothed, path = np.empty((N, T)), np.empty((N, T)), np.empty((N, T), dtype=np.int64)
    log_evidence = np.empty(N)
    chain = _flat(pi, 1), _flat(A, 2), _flat(np.swapaxes(A, -1, -2), 2)
    model = *chain, log(chain[0]), log(chain[1]), _flat_evidence(x)

    def work(n: slice) -> None:
        origin = np.empty((T, K), dtype=np.min_scalar_type(K - 1))
        c, shift = np.empty((2, len(which[n]), T))
        results = c, shift, filtered[n], smoothed[n], path[n]
        _track_block(which[n], *model, state, origin, *results)
        log_evidence[n] = (log(c) + shift).sum(axis=-1)  # 13.63

    in_blocks(work, N, _sequences(T))
    by_time = filtered.reshape(*lead, T), smoothed.reshape(*lead, T), path.reshape(*lead, T)
    return *by_time, log_evidence.reshape(lead)


def _states(pi: Floats, A: Floats, log_lik: Floats) -> int:
    """K, if all agree: a kernel would read beyond the end of an array that is too short."""
    sizes: set[int] = {pi.shape[-1], *A.shape[-2:], log_lik.shape[-1]}
    if len(sizes) > 1:
        raise ValueError(f"arrays disagree on the number of states: {sorted(sizes)}")
    return sizes.pop()


def _broadcast(*arrays: tuple[AnyArray, int]) -> tuple[tuple[int, ...], Ints]:
    """The leading axes that arrays have in common, whose last axes, so many, are their own.

    For each member of the batch (N, arrays): which row it takes of each array made `_flat`.
    """
    leads = [a.shape[: a.ndim - own] for a, own in arrays]
    shape = np.broadcast_shapes(*leads)
    which = np.zeros((*shape, len(arrays)), dtype=np.int64)
    for i, lead in enumerate(leads):
        if math.prod(lead) != 1:
            which[..., i] = np.arange(math.prod(lead)).reshape(lead)
    return shape, which.reshape(math.prod(shape), len(arrays))


def _flat(a: AnyArray, own: int, dtype: type = np.float64) -> AnyArray:
    """The leading axes as one, and the memory in order."""
    lead, shape = a.shape[: a.ndim - own], a.shape[a.ndim - own :]
    return np.ascontiguousarray(a, dtype=dtype).reshape(math.prod(lead), *shape)


def _flat_evidence(x: Evidence) -> Evidence:
    at = _flat(x.at, 1, np.int64)
    return Evidence(_flat(x.log_lik, 2), _flat(x.lik, 2), _flat(x.top, 1), at)


def _sequences(T: int) -> int:
    return max(1, BLOCK // T)


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
