"""Compiled best paths of `hmm_recursions`: maxima where `hmm_kernels` has sums.

Each kernel names the function of `hmm_recursions` that it computes. Values of paths, omega, run
forward in one of three ways, by the number of states; the path is then read backwards from the
stored origins of the best values. No kernel calls one of another file, for the reason given in
`hmm_kernels`.
"""

import numpy as np

from bythebook.models.compiled import compiled
from bythebook.models.types import AnyArray, Floats, Ints

MANY = 9  # states, from which on processing all of them together is faster than a search for each
ROWS = 4  # rows of ln A that a maximum takes before it is stored
LANES = 8  # numbers that a processor compares in one instruction


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
    """The best path of every sequence, and its log joint: `hmm_recursions.viterbi_plain`.

    Row n of `which` has the rows of pi, A, likelihoods and times of sequence n.
    """
    T, K = origin.shape
    omega = np.empty(K)
    for n in range(len(which)):
        i, j, m, s = which[n, 0], which[n, 1], which[n, 2], which[n, 3]
        for k in range(K):
            omega[k] = log_pi[i, k] + log_lik[m, at[s, 0], k]  # 13.69
        if K == 2:
            _values_of_two(log_A[j], log_lik[m], at[s], origin, omega)
        elif K < MANY:
            _values_of_few(log_A[j], log_lik[m], at[s], origin, omega)
        else:
            _values_of_many(log_A[j], log_lik[m], at[s], origin, omega)
        state = _argmax(omega)
        value[n], path[n, T - 1] = omega[state], state
        for t in range(T - 1, 0, -1):
            state = origin[t, state]  # 13.71
            path[n, t - 1] = state


@compiled
def _values_of_two(
    log_A: Floats, log_lik: Floats, at: Ints, origin: AnyArray, omega: Floats
) -> None:
    """Run omega to the last time, and write its origins: `hmm_recursions.viterbi_plain`."""
    (pp, pq), (qp, qq) = (log_A[0, 0], log_A[0, 1]), (log_A[1, 0], log_A[1, 1])
    p, q = omega[0], omega[1]
    for t in range(1, len(origin)):
        to_p, to_q = q + qp > p + pp, q + qq > p + pq
        origin[t, 0], origin[t, 1] = to_p, to_q
        p, q = (q + qp if to_p else p + pp), (q + qq if to_q else p + pq)
        p, q = log_lik[at[t], 0] + p, log_lik[at[t], 1] + q  # 13.68, corrected
    omega[0], omega[1] = p, q


@compiled
def _values_of_few(
    log_A: Floats, log_lik: Floats, at: Ints, origin: AnyArray, omega: Floats
) -> None:
    """The same, one state after another: `hmm_recursions.viterbi_plain`."""
    T, K = origin.shape
    previous = np.empty(K)
    for t in range(1, T):
        for k in range(K):
            previous[k] = omega[k]
        for k in range(K):
            best, source = previous[0] + log_A[0, k], 0
            for j in range(1, K):
                arriving = previous[j] + log_A[j, k]
                source = j if arriving > best else source
                best = arriving if arriving > best else best
            omega[k] = log_lik[at[t], k] + best  # 13.68, corrected
            origin[t, k] = source


@compiled
def _values_of_many(
    log_A: Floats, log_lik: Floats, at: Ints, origin: AnyArray, omega: Floats
) -> None:
    """The same, several states at a time: `hmm_recursions.viterbi_plain`.

    Unreachable states pad the matrix to whole ROWS and LANES. The copy of ln A cannot overlap with
    any array that the loop writes, which makes the loop twice as fast.
    """
    T, K = origin.shape
    rows, wide = -(-K // ROWS) * ROWS, -(-K // LANES) * LANES
    best, source = np.empty(wide), np.empty(wide, dtype=np.int64)
    previous, padded = np.empty(rows), np.empty((rows, wide))
    for j in range(rows):
        previous[j] = omega[j] if j < K else -np.inf
        for k in range(wide):
            padded[j, k] = log_A[j, k] if j < K and k < K else -np.inf
    for t in range(1, T):
        for k in range(wide):
            best[k], source[k] = previous[0] + padded[0, k], 0
        for j in range(0, rows, ROWS):
            for k in range(wide):
                b, s = best[k], source[k]
                for i in range(ROWS):
                    arriving = previous[j + i] + padded[j + i, k]
                    s = j + i if arriving > b else s
                    b = arriving if arriving > b else b
                best[k], source[k] = b, s
        for k in range(K):
            previous[k] = log_lik[at[t], k] + best[k]  # 13.68, corrected
            origin[t, k] = source[k]
    for k in range(K):
        omega[k] = previous[k]


@compiled
def _argmax(a: Floats) -> int:
    """The first of the largest, or the first NaN: `np.argmax` in `hmm_recursions.viterbi_plain`."""
    best = 0
    for k in range(len(a)):
        if np.isnan(a[k]):
            return k
        if a[k] > a[best]:
            best = k
    return best
