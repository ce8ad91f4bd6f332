"""The recursions of `hmm_recursions`, compiled: loops over one sequence, and over a block.

Each writes into arrays that the caller has made, and names the plain NumPy of that module which
states what it computes. They share a file because numba's cache compiles a kernel anew when its own
file has changed, not when another has. Arrays are assigned, added and searched in loops: NumPy's
words for it would take longer to compile than all the rest.

Likelihoods enter relative to the largest of their time, p(x_t | k) / max_k p(x_t | k), exponentials
that NumPy takes before the loop: once a symbol, where symbols are observed. Only where the largest
belongs to a state out of reach does the loop take its own. Two states, the smallest chain and the
commonest, have kernels that keep them in registers.
"""

from typing import Any, NamedTuple

import numpy as np

from models.compiled import compiled
from models.types import AnyArray, Floats, Ints

FAINT = 1e-8  # p(x_t | x_1 .. x_{t-1}) / max_k p(x_t | k) below which weights are taken anew
MANY = 12  # states, from which on `_arrive` is faster than a search for each
LIFT = 2.0**27  # more than a step can lose: 1 / FAINT


class Evidence(NamedTuple):
    """What the observations say, in M rows that times may share: the rows of the symbols seen."""

    log_lik: Floats  # (..., M, K) ln p(x | z = k)
    lik: Floats  # (..., M, K) p(x | z = k) relative to the largest of its row
    top: Floats  # (..., M) the logarithm of the largest
    at: Ints  # (..., T) the row of each time


# --- One sequence -------------------------------------------------------------------------------


@compiled
def _forward(pi: Floats, A: Floats, x: Evidence, alpha: Floats, c: Floats, shift: Floats) -> None:
    """Write alpha-hat, and c as c exp(shift): `forward_reference`."""
    T, K = alpha.shape
    if K == 2 and _forward_pair(pi, A, x, alpha, c, shift):
        return
    log_lik, lik, top, at = x
    predicted, near = np.empty(K), np.empty(lik.shape)
    for k in range(K):
        predicted[k] = pi[k]
    for t in range(T):
        m = at[t]
        shift[t] = top[m]
        c[t] = _condition(predicted, lik, m, alpha, t)
        if not c[t] > FAINT:
            shift[t] = _reachable(log_lik[m], predicted, near[m])
            c[t] = _condition(predicted, near, m, alpha, t)
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
    """Write alpha-hat at t but for its scale, and return that: the joint and c of `condition`."""
    c: float = 0.0
    for k in range(len(predicted)):
        alpha[t, k] = predicted[k] * lik[m, k] if predicted[k] > 0 else 0.0  # 0 * inf
        c += alpha[t, k]
    return c


@compiled
def _reachable(log_lik: Floats, p: Floats, lik: Floats) -> float:
    """Write likelihoods relative to the largest of a state with p > 0, and return its logarithm.

    The shift of `condition`, but those of states out of reach stay, and may be infinite.
    """
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
    """Write beta-hat and gamma: `backward_reference`, which times alpha-hat is gamma."""
    T, K = alpha.shape
    if K == 2 and lag >= T - 1 and _backward_pair(A, x, alpha, beta, gamma):
        return
    log_lik, lik, _, at = x
    later, near = np.empty(K), np.empty(lik.shape)
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
                _reachable(log_lik[at[s]], alpha[s], near[at[s]])
                c = _collect(A_T, near, at[s], later, alpha, s - 1, beta, t)
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
    """Write beta-hat at t but for its scale, and return that: a step of `backward_reference`."""
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
    """Write the best path, and return its log joint: `viterbi_reference`."""
    T, K = origin.shape
    if K == 2:
        return _viterbi_pair(log_pi, log_A, log_lik, at, origin, path)
    omega, previous, log_A_T = np.empty(K), np.empty(K), np.empty((K, K))
    best_of, source_of = np.empty(K), np.empty(K, dtype=np.int64)
    for k in range(K):
        omega[k] = log_pi[k] + log_lik[at[0], k]  # 13.69
        for j in range(K):
            log_A_T[k, j] = log_A[j, k]
    for t in range(1, T):
        for k in range(K):
            previous[k] = omega[k]
        if K >= MANY:
            _arrive(previous, log_A, best_of, source_of)
            for k in range(K):
                omega[k] = log_lik[at[t], k] + best_of[k]  # 13.68, corrected
                origin[t, k] = source_of[k]
            continue
        for k in range(K):
            best, source = previous[0] + log_A_T[k, 0], 0
            for j in range(1, K):
                arriving = previous[j] + log_A_T[k, j]
                source = j if arriving > best else source
                best = arriving if arriving > best else best
            omega[k] = log_lik[at[t], k] + best  # 13.68, corrected
            origin[t, k] = source
    last = _argmax(omega)
    path[T - 1] = last
    for t in range(T - 1, 0, -1):
        path[t - 1] = origin[t, path[t]]  # 13.71
    return omega[last]


@compiled
def _arrive(omega: Floats, log_A: Floats, best: Floats, source: Ints) -> None:
    """Write max_j {ln A(j, k) + omega(j)} and its j: the `arriving` of `viterbi_reference`.

    A processor compares several k at once, as it cannot several j; few states are not worth it.
    """
    K = len(omega)
    for k in range(K):
        best[k], source[k] = omega[0] + log_A[0, k], 0
    for j in range(1, K):
        for k in range(K):
            arriving = omega[j] + log_A[j, k]
            source[k] = j if arriving > best[k] else source[k]
            best[k] = arriving if arriving > best[k] else best[k]


@compiled
def _argmax(a: Floats) -> int:
    """The first of the largest, or the first NaN: the `argmax` of `viterbi_reference`."""
    best = 0
    for k in range(len(a)):
        if np.isnan(a[k]):
            return k
        if a[k] > a[best]:
            best = k
    return best


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
    """Write gamma at the first time, and the sums of xi and gamma: `counts_reference`."""
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
# A step waits for the last, and a division takes longer than all the rest of it. So p and q run on
# unscaled, and the scaled probabilities branch off; a power of two keeps p and q in range, chosen
# by the step before so that nothing waits for it. Where evidence wants more care these kernels give
# up, and leave the sequence to those above.


@compiled
def _lift(scale: float) -> tuple[float, float]:
    """A factor that keeps numbers of the size 1 / scale in range, and its inverse.

    Being a power of two it rounds nothing. `forward_reference` divides by c_t instead.
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
    """`forward_reference` for two states; False where it gave up."""
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
    """`backward_reference` for two states; False where it gave up."""
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
    """`counts_reference` for two states; False where it gave up."""
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
    """`viterbi_reference` for two states."""
    T, m = len(path), at[0]
    (pp, pq), (qp, qq) = (log_A[0, 0], log_A[0, 1]), (log_A[1, 0], log_A[1, 1])
    p, q = log_pi[0] + log_lik[m, 0], log_pi[1] + log_lik[m, 1]  # 13.69
    for t in range(1, T):
        to_p, to_q = q + qp > p + pp, q + qq > p + pq
        origin[t, 0], origin[t, 1] = to_p, to_q
        p, q = (q + qp if to_p else p + pp), (q + qq if to_q else p + pq)
        p, q = log_lik[at[t], 0] + p, log_lik[at[t], 1] + q  # 13.68, corrected
    omega = np.empty(2)
    omega[0], omega[1] = p, q
    last = _argmax(omega)
    path[T - 1] = last
    for t in range(T - 1, 0, -1):
        path[t - 1] = origin[t, path[t]]  # 13.71
    return omega[last]


# --- A block of sequences -----------------------------------------------------------------------
# Row n of `which` says whose pi, A, likelihoods and times are those of sequence n (`_broadcast`).


@compiled
def _of(x: Evidence, m: int, s: int) -> Evidence:
    """The evidence of one sequence: likelihoods m at times s, as `counts_reference` takes them."""
    return Evidence(x.log_lik[m], x.lik[m], x.top[m], x.at[s])


@compiled
def forward_block(
    which: Ints, pi: Floats, A: Floats, x: Evidence, alpha: Floats, c: Floats, shift: Floats
) -> None:
    """The forward pass of every sequence: `forward_reference`, but for ln c."""
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
    """The backward pass of every sequence: `backward_reference`, and gamma."""
    for n in range(len(which)):
        j, m, s, a = which[n, 0], which[n, 1], which[n, 2], which[n, 3]
        _backward(A[j], A_T[j], _of(x, m, s), alpha[a], lag, beta[n], gamma[n])


@compiled
def viterbi_block(
    which: Ints,
    log_pi: Floats,
    log_A: Floats,
    log_lik: Floats,
    at: Ints,
    origin: AnyArray,
    path: Ints,
    value: Floats,
) -> None:
    """The best path of every sequence, and its log joint: `viterbi_reference`."""
    for n in range(len(which)):
        i, j, m, s = which[n, 0], which[n, 1], which[n, 2], which[n, 3]
        value[n] = _viterbi(log_pi[i], log_A[j], log_lik[m], at[s], origin, path[n])


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
    """Both passes of every sequence, summed over time: `counts_reference`."""
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
    """One state of `forward_reference` and `backward_reference`, and `viterbi_reference`."""
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
