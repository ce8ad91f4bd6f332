"""Functions common to all finite mixtures: a latent label z in 1..K for each of N data points.

    p(x) = sum_k pi_k p(x | k),        ln p(x, z = k) = ln pi_k + ln p(x | k)      PRML (9.81)

A model supplies the log joint, shape (R, N, K) with R restarts; the posterior of the label, the
lower bound for any q and its gap follow from that alone (PRML 9.4, Ghahramani section 3):

    ln p(X | theta) = L(q, theta) + KL(q || p)                                     PRML (9.70)
"""

from collections.abc import Iterator

import numpy as np
from scipy.special import xlogy

from bythebook.models.types import Floats

_BLOCK = 2**16  # numbers in one temporary array: half a megabyte, which stays in the cache
# The C library returns temporaries of this size to the kernel, and every page of the next one is a
# fault, until a larger array has been freed. Then it keeps them, and an E step takes half the time.
np.empty(16 * _BLOCK)


def row_blocks(rows: int, width: int) -> Iterator[slice]:
    """Cut the rows of a data set so that no temporary of `width` numbers per row grows large."""
    step = max(64, _BLOCK // width)  # with fewer rows the cost of each call dominates
    for begin in range(0, rows, step):
        yield slice(begin, begin + step)


def blocks(restarts: int, rows: int, width: int) -> Iterator[tuple[slice, slice]]:
    """Cut restarts, and rows where one restart is too large; `width` numbers per restart and row.

    Blocks have few restarts with all rows, not all restarts with few rows: long rows keep the calls
    cheap.
    """
    step = max(1, min(restarts, _BLOCK // max(1, rows * width)))
    for begin in range(0, restarts, step):
        for some in row_blocks(rows, step * width):
            yield slice(begin, begin + step), some


def posterior(log_joint: Floats, axis: int = -1) -> tuple[Floats, Floats]:
    """p(z | x), and ln p(x) without the axis of the labels, from ln p(x, z).

    Where every component gives x probability zero, ln p(x) is -inf and the posterior NaN.
    """
    # Explicit because scipy's logsumexp takes about six times as long, and this is the hot spot.
    peak = log_joint.max(axis, keepdims=True)
    peak[np.isneginf(peak)] = 0.0
    gamma = log_joint - peak
    np.exp(gamma, out=gamma)
    total = gamma.sum(axis, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        gamma /= total  # (9.13)
        return gamma, (peak + np.log(total)).squeeze(axis)


def mixing_proportions(N: Floats, alpha: float = 1.0) -> Floats:
    """The maximising pi for effective counts N, shape (R, K), under a Dirichlet(alpha) prior."""
    counts = N + (alpha - 1.0)
    return np.asarray(counts / counts.sum(-1, keepdims=True))  # (9.22) at alpha = 1


def log_proportions(pi: Floats) -> Floats:
    """Log of pi, where a component that died out (pi = 0) gives -inf without a warning."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(pi))


def expected_complete(log_joint: Floats, q: Floats) -> Floats:
    """E_q[ln p(X, Z | theta)], shape (R,), for any q of shape (R, N, K)."""
    # A label that q rules out contributes nothing, even where its log joint is -inf.
    return np.asarray((q * np.where(q > 0, log_joint, 0.0)).sum((-2, -1)))  # (9.40)


def free_energy(log_joint: Floats, q: Floats) -> Floats:
    """The lower bound L(q, theta) = E_q[ln p(X, Z | theta)] + H(q), shape (R,)."""
    return np.asarray(expected_complete(log_joint, q) - xlogy(q, q).sum((-2, -1)))  # (9.71)


def kl_to_posterior(log_joint: Floats, q: Floats) -> Floats:
    """KL(q || p(Z | X, theta)), shape (R,): the gap of the bound to the log likelihood."""
    _, log_evidence = posterior(log_joint)
    log_posterior = log_joint - log_evidence[..., None]
    return np.asarray(xlogy(q, q).sum((-2, -1)) - expected_complete(log_posterior, q))  # (9.72)
