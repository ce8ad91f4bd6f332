"""Compiled forward and backward sums of `hmm_recursions`, over one sequence and over a block.

Each kernel writes into arrays that the caller has allocated, and names the function of
`hmm_recursions` that states the same in plain NumPy. The kernels share a file because numba's cache
recompiles a kernel when its own file has changed, not when another file has. `hmm_path_kernels` has
the best paths, and calls none of these kernels. Arrays are assigned, added and searched in loops,
because the NumPy functions for it would take longer to compile than all the rest.

Likelihoods enter relative to the largest of their time, p(x_t | k) / max_k p(x_t | k), exponentials
that NumPy takes before the loop: once per symbol, where symbols are observed. The loop computes its
own exponentials only where the largest belongs to an unreachable state. Chains of two states, the
smallest and the most common, have kernels that keep the states in registers.

A step takes tens of nanoseconds, as long as a few calls. So what every step does is written out in
its loop, and only what few steps need is called. Products with A take `ROWS` of its rows at a time:
a sum that is stored after every term spends most of its time on the way to memory and back.
"""

from typing import NamedTuple

import numpy as np

from bythebook.models.compiled import compiled
from bythebook.models.types import Floats, Ints

FAINT = 1e-8  # p(x_t | x_1 .. x_{t-1}) / max_k p(x_t | k) below which weights are recomputed
ROWS = 4  # rows of A that a sum takes before it is stored
LANES = 8  # numbers that a processor adds in one instruction
LIFT = 2.0**27  # more than a step can lose: 1 / FAINT


class Evidence(NamedTuple):
    """Likelihoods of the observations, in M rows that times may share: one row per symbol."""

    log_lik: Floats  # (..., M, K) ln p(x | z = k)
    lik: Floats  # (..., M, K) p(x | z = k) relative to the largest of its row
    top: Floats  # (..., M) the logarithm of the largest
    at: Ints  # (..., T) the row of each time


# --- One sequence -------------------------------------------------------------------------------


@compiled
def _forward(pi: Floats, A: Floats, x: Evidence, alpha: Floats, c: Floats, shift: Floats) -> None:
    """Write alpha-hat, and c as c exp(shift): `hmm_recursions.forward_plain`."""
    T, K = alpha.shape
    if K == 2 and _forward_pair(pi, A, x, alpha, c, shift):
        return
    log_lik, lik, top, at = x
    rows, wide = A.shape
    predicted, now, near = np.empty(wide), np.empty(rows), np.empty(K)
    for k in range(K, rows):
        now[k] = 0.0
    for k in range(K):
        predicted[k] = pi[k]
    for t in range(T):
        m = at[t]
        total, largest = 0.0, top[m]
        for k in range(K):
            now[k] = predicted[k] * lik[m, k] if predicted[k] > 0 else 0.0  # 0 * inf
            total += now[k]
        if not total > FAINT:
            largest = _reachable(log_lik, m, predicted, near)
            total = 0.0
            for k in range(K):
                now[k] = predicted[k] * near[k] if predicted[k] > 0 else 0.0
                total += now[k]
            if largest == -np.inf:
                alpha[t:], c[t:], shift[t:] = np.nan, 0.0, 0.0
                return
        c[t], shift[t] = total, largest
        for k in range(K):
            now[k] /= total  # 13.59
            alpha[t, k] = now[k]
        for k in range(wide):
            predicted[k] = 0.0
        for j in range(0, rows, ROWS):
            for k in range(wide):
                p = predicted[k]
                for i in range(ROWS):
                    p += now[j + i] * A[j + i, k]
                predicted[k] = p


@compiled
def _reachable(log_lik: Floats, m: int, p: Floats, lik: Floats) -> float:
    """Write likelihoods relative to the largest of a state with p > 0, and return its logarithm.

    The shift is that of `hmm_recursions.condition`; likelihoods of unreachable states are kept, and
    may be infinite.
    """
    shift: float = -np.inf
    for k in range(len(lik)):
        if p[k] > 0 and not log_lik[m, k] <= shift:  # `not <=` lets NaN through
            shift = log_lik[m, k]
    for k in range(len(lik)):
        lik[k] = np.exp(log_lik[m, k] - shift)
    return shift


@compiled
def _backward(
    A: Floats, A_T: Floats, x: Evidence, alpha: Floats, lag: int, beta: Floats, gamma: Floats
) -> None:
    """Write beta-hat and gamma: `hmm_recursions.backward_plain`."""
    T, K = alpha.shape
    if K == 2 and lag >= T - 1 and _backward_pair(A, x, alpha, beta, gamma):
        return
    log_lik, lik, _, at = x
    rows, wide = A_T.shape
    later, message, now, near = np.empty(K), np.empty(rows), np.empty(wide), np.empty(K)
    for k in range(K, rows):
        message[k] = 0.0
    for t in range(T - 1, -1, -1):
        last = t + 1
        if t == T - 1 or t + lag < T - 1:  # the window ends before the data: restart it
            last = t + lag if t + lag < T - 1 else T - 1
            for k in range(K):
                later[k] = 1.0
        for s in range(last, t, -1):
            m = at[s]
            for k in range(K):
                message[k] = lik[m, k] * later[k] if lik[m, k] != 0 else 0.0  # 0 * inf
            for k in range(wide):
                now[k] = 0.0
            for k in range(0, rows, ROWS):
                for j in range(wide):
                    p = now[j]
                    for i in range(ROWS):
                        p += A_T[k + i, j] * message[k + i]  # 13.62
                    now[j] = p
            # c is c_s: the marginals sum to one. Taken from ln c_s, it would lose digits, step by
            # step, where likelihoods are far from one.
            c = 0.0
            for j in range(K):
                c += alpha[s - 1, j] * now[j]
            if not now[0] < np.inf:  # as all are, or NaN, where a message is infinite
                c = _collect(A_T, lik[m], later, alpha[s - 1], now)
            if not FAINT < c < np.inf:
                _reachable(log_lik, m, alpha[s], near)
                c = _collect(A_T, near, later, alpha[s - 1], now)
            c = 1.0 / c
            for j in range(K):
                later[j] = now[j] * c
        for k in range(K):
            beta[t, k] = later[k]
            # A state that the past excludes stays excluded, however well it explains the future.
            gamma[t, k] = alpha[t, k] * later[k] if alpha[t, k] != 0 else 0.0  # 13.64


@compiled
def _collect(A_T: Floats, lik: Floats, later: Floats, alpha: Floats, now: Floats) -> float:
    """Write unscaled beta-hat, and return its scale: a step of `hmm_recursions.backward_plain`.

    The message of an unreachable state may be infinite: states that cannot lead to it ignore it.
    """
    K = len(later)
    for j in range(K):
        now[j] = 0.0
    for k in range(K):
        message = lik[k] * later[k] if lik[k] != 0 else 0.0  # 0 * inf
        for j in range(K):
            now[j] += A_T[k, j] * message if A_T[k, j] > 0 else 0.0  # 13.62
    c: float = 0.0
    for j in range(K):
        c += alpha[j] * now[j] if alpha[j] != 0 else 0.0
    return c


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
    """Write first gamma, and the sums of xi and gamma: `hmm_recursions.counts_plain`."""
    T, K = alpha.shape
    if K == 2 and _count_pair(A, x, alpha, first, xi, seen):
        return
    _backward(A, A_T, x, alpha, T, beta, gamma)
    xi[:], seen[:] = 0.0, 0.0
    predicted = np.empty(K)
    for k in range(K):
        first[k] = gamma[0, k]  # 17.98
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
    for j in range(K):
        for k in range(K):
            xi[j, k] *= A[j, k]  # 13.65, corrected


# --- Two states, p and q ------------------------------------------------------------------------
# A step waits for the last, and a division takes longer than all the rest of it. So p and q stay
# unscaled, and the scaled probabilities are computed from them; a power of two, chosen one step
# before so that no step waits for it, keeps p and q in range. For evidence that would leave the
# range these kernels stop, and the general kernels above process the sequence.


@compiled
def _lift(scale: float) -> tuple[float, float]:
    """A factor that keeps numbers of the size 1 / scale in range, and its inverse.

    A power of two causes no rounding. `hmm_recursions.forward_plain` divides by c_t instead.
    """
    if scale > LIFT:
        return LIFT, 1 / LIFT
    if scale < 1 / LIFT:
        return 1 / LIFT, LIFT
    return 1.0, 1.0


@compiled
def _forward_pair(
    pi: Floats, A: Floats, x: Evidence, alpha: Floats, c: Floats, shift: Floats
) -> bool:
    """`hmm_recursions.forward_plain` for two states; False if the kernel stopped early."""
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
    """`hmm_recursions.backward_plain` for two states; False if the kernel stopped early."""
    (pp, pq), (qp, qq) = (A[0, 0], A[0, 1]), (A[1, 0], A[1, 1])
    T = len(alpha)
    p, q, last, up, down = 1.0, 1.0, 1.0, 1.0, 1.0
    for k in range(2):
        beta[T - 1, k], gamma[T - 1, k] = 1.0, alpha[T - 1, k]
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
    """`hmm_recursions.counts_plain` for two states; False if the kernel stopped early."""
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


# --- A block of sequences -----------------------------------------------------------------------
# Row n of `which` has the rows of pi, A, likelihoods and times of sequence n (`_broadcast`).


@compiled
def _of(x: Evidence, m: int, s: int) -> Evidence:
    """The evidence of one sequence: likelihoods m at times s, for `hmm_recursions.counts_plain`."""
    return Evidence(x.log_lik[m], x.lik[m], x.top[m], x.at[s])


@compiled
def forward_block(
    which: Ints, pi: Floats, A: Floats, x: Evidence, alpha: Floats, c: Floats, shift: Floats
) -> None:
    """The forward pass of every sequence: `hmm_recursions.forward_plain`, except ln c."""
    for n in range(len(which)):
        i, j, m, s = which[n, 0], which[n, 1], which[n, 2], which[n, 3]
        _forward(pi[i], A[j], _of(x, m, s), alpha[n], c[n], shift[n])


@compiled
def backward_block(
    which: Ints,
    A: Floats,
    A_T: Floats,
    x: Evidence,
    alpha: Floats,
    lag: int,
    beta: Floats,
    gamma: Floats,
) -> None:
    """The backward pass of every sequence: `hmm_recursions.backward_plain`, and gamma."""
    for n in range(len(which)):
        j, m, s, a = which[n, 0], which[n, 1], which[n, 2], which[n, 3]
        _backward(A[j], A_T[j], _of(x, m, s), alpha[a], lag, beta[n], gamma[n])


@compiled
def count_block(
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
    """Both passes of every sequence, summed over time: `hmm_recursions.counts_plain`."""
    T, K = c.shape[1], pi.shape[1]
    alpha, beta, gamma = np.empty((T, K)), np.empty((T, K)), np.empty((T, K))
    for n in range(len(which)):
        i, j, m, s = which[n, 0], which[n, 1], which[n, 2], which[n, 3]
        one = _of(x, m, s)
        _forward(pi[i], A[j], one, alpha, c[n], shift[n])
        _count(A[j], A_T[j], one, alpha, beta, gamma, first[n], xi[n], seen[n])


@compiled
def track_block(
    which: Ints,
    pi: Floats,
    A: Floats,
    A_T: Floats,
    x: Evidence,
    state: int,
    c: Floats,
    shift: Floats,
    filtered: Floats,
    smoothed: Floats,
) -> None:
    """Both passes of every sequence, for one state, as `hmm_recursions.track` returns them.

    The sums are those of `hmm_recursions.forward_plain` and `hmm_recursions.backward_plain`.
    """
    T, K = c.shape[1], pi.shape[1]
    alpha, beta, gamma = np.empty((T, K)), np.empty((T, K)), np.empty((T, K))
    for n in range(len(which)):
        i, j, m, s = which[n, 0], which[n, 1], which[n, 2], which[n, 3]
        one = _of(x, m, s)
        _forward(pi[i], A[j], one, alpha, c[n], shift[n])
        _backward(A[j], A_T[j], one, alpha, T, beta, gamma)
        for t in range(T):
            filtered[n, t], smoothed[n, t] = alpha[t, state], gamma[t, state]
