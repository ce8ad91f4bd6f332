"""The recursions of a hidden Markov model, in NumPy and compiled.

    forward     alpha-hat_t(k) c_t  = p(x_t | k) sum_j alpha-hat_{t-1}(j) A(j, k)         PRML 13.59
    backward    beta-hat_t(j) c_t+1 = sum_k A(j, k) p(x_{t+1} | k) beta-hat_{t+1}(k)      PRML 13.62
    viterbi     omega_t(k) = ln p(x_t | k) + max_j {ln A(j, k) + omega_{t-1}(j)}          PRML 13.68

`forward_plain`, `backward_plain`, `viterbi_plain` and `counts_plain` are the recursions as the
books print them, one line per formula, for data of positive probability. `forward`, `backward`,
`viterbi`, `counts` and `track` run the same as compiled kernels (`hmm_kernels`,
`hmm_path_kernels`) over leading axes, in blocks of sequences; `bythebook.models.chains.hmm` wraps
them.
"""

import math

import numpy as np

from bythebook.models.chains.hmm_kernels import (
    LANES,
    ROWS,
    Evidence,
    backward_block,
    count_block,
    forward_block,
    track_block,
)
from bythebook.models.chains.hmm_path_kernels import viterbi_block
from bythebook.models.compiled import in_blocks
from bythebook.models.types import AnyArray, Floats, Ints

BLOCK = 100_000  # time steps in a block of sequences: they fit in the cache


def log(p: Floats, out: Floats | None = None) -> Floats:
    """The logarithm with ln 0 = -inf, without the warning."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(p, out=out))


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


# --- The recursions of the page, in NumPy -------------------------------------------------------


def condition(predicted: Floats, log_lik: Floats) -> tuple[Floats, Floats]:
    """Bayes' rule at one step: p(z_t | x_1 .. x_t) and ln p(x_t | x_1 .. x_{t-1})."""
    reachable = np.where(predicted > 0, log_lik, -np.inf)
    shift = reachable.max(axis=-1, keepdims=True)
    joint = predicted * np.exp(reachable - shift)
    c = joint.sum(axis=-1, keepdims=True)
    return joint / c, (np.log(c) + shift)[..., 0]


def predict(filtered: Floats, A: Floats) -> Floats:
    """p(z_{t+1} | x_1 .. x_t), (..., K), from p(z_t | x_1 .. x_t)."""
    return np.asarray((filtered[..., None, :] @ A)[..., 0, :])  # MLAPP 17.44


def forward_plain(pi: Floats, A: Floats, log_lik: Floats) -> tuple[Floats, Floats]:
    """alpha-hat (..., T, K) and ln c (..., T) of pi (..., K), A (..., K, K), ln p(x_t | k)."""
    alpha, log_c = np.empty(log_lik.shape), np.empty(log_lik.shape[:-1])
    belief = np.broadcast_to(pi, log_lik[..., 0, :].shape)
    for t in range(log_lik.shape[-2]):
        alpha[..., t, :], log_c[..., t] = condition(belief, log_lik[..., t, :])  # PRML 13.59
        belief = predict(alpha[..., t, :], A)
    return alpha, log_c


def backward_plain(A: Floats, log_lik: Floats, log_c: Floats, lag: int) -> Floats:
    """beta-hat (..., T, K) of the next `lag` observations, for all times at once."""
    ratio = np.exp(log_lik - log_c[..., None])
    beta = np.ones(log_lik.shape)
    for _ in range(min(lag, log_lik.shape[-2] - 1)):
        message = (ratio * beta)[..., 1:, :]
        beta[..., :-1, :] = np.einsum("...jk,...tk->...tj", A, message)  # PRML 13.62
    return beta


def viterbi_plain(log_pi: Floats, log_A: Floats, log_lik: Floats) -> tuple[Ints, Floats]:
    """The best path (..., T) and its log joint (...)."""
    T = log_lik.shape[-2]
    omega = log_pi + log_lik[..., 0, :]  # PRML 13.69
    origin, path = np.empty(log_lik.shape, np.int64), np.empty(log_lik.shape[:-1], np.int64)
    for t in range(1, T):
        arriving = omega[..., :, None] + log_A
        origin[..., t, :] = arriving.argmax(axis=-2)
        omega = log_lik[..., t, :] + arriving.max(axis=-2)  # PRML 13.68, corrected
    path[..., -1] = omega.argmax(axis=-1)
    for t in range(T - 1, 0, -1):
        step = np.take_along_axis(origin[..., t, :], path[..., t, None], axis=-1)
        path[..., t - 1] = step[..., 0]  # PRML 13.71
    return path, omega.max(axis=-1)


def counts_plain(pi: Floats, A: Floats, x: Evidence) -> tuple[Floats, Floats, Floats, Floats]:
    """Gamma at the first time, the sums of xi and of gamma by row, and the log evidence."""
    M, T = x.log_lik.shape[-2], x.at.shape[-1]
    log_lik = np.take_along_axis(x.log_lik, x.at[..., None], axis=-2)
    alpha, log_c = forward_plain(pi, A, log_lik)
    beta = backward_plain(A, log_lik, log_c, T)
    gamma = alpha * beta  # PRML 13.64
    arriving = np.exp(log_lik - log_c[..., None]) * beta
    xi = A * (np.swapaxes(alpha[..., :-1, :], -1, -2) @ arriving[..., 1:, :])  # 13.65, corrected
    seen = (np.arange(M)[:, None] == x.at[..., None, :]) @ gamma  # MLAPP 17.104
    return gamma[..., 0, :], xi, seen, log_c.sum(axis=-1)  # MLAPP 17.98, PRML 13.63


def forward_unscaled(pi: Floats, A: Floats, lik: Floats) -> Floats:
    """alpha_t(k) = p(x_1 .. x_t, z_t = k), (..., T, K), which underflows in long chains."""
    alpha = [lik[..., 0, :] * pi]  # PRML 13.37
    for t in range(1, lik.shape[-2]):
        alpha.append(lik[..., t, :] * predict(alpha[-1], A))  # PRML 13.36
    return np.stack(alpha, axis=-2)


# --- The recursions compiled, over leading axes -------------------------------------------------


def forward(pi: Floats, A: Floats, x: Evidence) -> tuple[Floats, Floats]:
    """alpha-hat (..., T, K) and ln c (..., T)."""
    T, K = x.at.shape[-1], _states(pi, A, x.log_lik)
    lead, which = _broadcast((pi, 1), (A, 2), (x.log_lik, 2), (x.at, 1))
    alpha, c, shift = np.empty((len(which), T, K)), *np.empty((2, len(which), T))
    model = _flat(pi, 1), _padded(A), _flat_evidence(x)

    def work(n: slice) -> None:
        forward_block(which[n], *model, alpha[n], c[n], shift[n])
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
    model = _flat(A, 2), _padded(np.swapaxes(A, -1, -2)), _flat_evidence(x), _flat(alpha, 2)

    def work(n: slice) -> None:
        backward_block(which[n], *model, lag, beta[n], gamma[n])

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
        viterbi_block(which[n], *model, origin, path[n], value[n])

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
    model = _flat(pi, 1), *_both_ways(A), _flat_evidence(x)

    def work(n: slice) -> None:
        c, shift = np.empty((2, len(which[n]), T))
        count_block(which[n], *model, c, shift, first[n], xi[n], seen[n])
        log_evidence[n] = (log(c) + shift).sum(axis=-1)  # 13.63

    in_blocks(work, N, _sequences(T))
    sums = first.reshape(*lead, K), xi.reshape(*lead, K, K), seen.reshape(*lead, M, K)
    return *sums, log_evidence.reshape(lead)


def track(pi: Floats, A: Floats, x: Evidence, state: int) -> tuple[Floats, Floats, Ints, Floats]:
    """All three for one state, without an array (..., T, K): a sequence's arrays stay in cache.

    The results are its filtered and smoothed probabilities and the best path, (..., T), and the log
    evidence (...).
    """
    T, K = x.at.shape[-1], _states(pi, A, x.log_lik)
    if not 0 <= state < K:
        raise IndexError(f"there is no state {state} among {K}")
    lead, which = _broadcast((pi, 1), (A, 2), (x.log_lik, 2), (x.at, 1))
    N = len(which)
    filtered, smoothed, path = np.empty((N, T)), np.empty((N, T)), np.empty((N, T), dtype=np.int64)
    value, log_evidence = np.empty(N), np.empty(N)
    x = _flat_evidence(x)
    sums = _flat(pi, 1), *_both_ways(A), x
    maxima = log(sums[0]), log(_flat(A, 2)), x.log_lik, x.at

    def work(n: slice) -> None:
        origin = np.empty((T, K), dtype=np.min_scalar_type(K - 1))
        c, shift = np.empty((2, len(which[n]), T))
        track_block(which[n], *sums, state, c, shift, filtered[n], smoothed[n])
        viterbi_block(which[n], *maxima, origin, path[n], value[n])
        log_evidence[n] = (log(c) + shift).sum(axis=-1)  # 13.63

    in_blocks(work, N, _sequences(T))
    by_time = filtered.reshape(*lead, T), smoothed.reshape(*lead, T), path.reshape(*lead, T)
    return *by_time, log_evidence.reshape(lead)


# --- Shapes: leading axes made one --------------------------------------------------------------


def _states(pi: Floats, A: Floats, log_lik: Floats) -> int:
    """K, if all agree: a kernel would read beyond the end of an array that is too short."""
    sizes: set[int] = {pi.shape[-1], *A.shape[-2:], log_lik.shape[-1]}
    if len(sizes) > 1:
        raise ValueError(f"arrays disagree on the number of states: {sorted(sizes)}")
    return sizes.pop()


def _broadcast(*arrays: tuple[AnyArray, int]) -> tuple[tuple[int, ...], Ints]:
    """The common leading axes of arrays, each with its own number of last axes.

    The second result (N, arrays) has the row of each `_flat` array for each member of the batch.
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


def _padded(A: Floats) -> Floats:
    """The matrices, flat, with rows and columns of zeros up to whole ROWS and LANES.

    Each row starts a cache line: LANES numbers from two lines would take twice as long.
    """
    N, K = math.prod(A.shape[:-2]), A.shape[-1]
    shape = N, -(-K // ROWS) * ROWS, -(-K // LANES) * LANES
    memory = np.zeros(math.prod(shape) + LANES)
    begin = -memory.ctypes.data // memory.itemsize % LANES
    padded = memory[begin : begin + math.prod(shape)].reshape(shape)
    padded[:, :K, :K] = A.reshape(N, K, K)
    return padded


def _both_ways(A: Floats) -> tuple[Floats, Floats]:
    return _padded(A), _padded(np.swapaxes(A, -1, -2))


def _flat_evidence(x: Evidence) -> Evidence:
    at = _flat(x.at, 1, np.int64)
    return Evidence(_flat(x.log_lik, 2), _flat(x.lik, 2), _flat(x.top, 1), at)


def _sequences(T: int) -> int:
    return max(1, BLOCK // T)
