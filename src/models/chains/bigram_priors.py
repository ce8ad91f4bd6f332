r"""Rows of a transition matrix that share a Dirichlet prior, and deleted interpolation.

    A_jk = (1 - lambda) f_jk + lambda f_k                                          MLAPP 17.13
    A_j ~ Dir(alpha_0 m),  p(k | j, D) = (N_jk + alpha_0 m_k) / (N_j + alpha_0)     17.14, 17.15
    p(D | alpha) = prod_j B(N_j + alpha) / B(alpha)                                  17.17

Counts N (K, K) have a row for each context. (17.15) and (17.16) print alpha for alpha_0.
"""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import gammaln, psi

from bythebook.models.types import Floats, Ints


def log_evidence(N: Floats, alpha: Floats) -> float:
    """Log evidence of a text, ln p(D | alpha) (17.17); alpha (K,) is alpha_0 m."""
    j, k = np.nonzero(N)  # of all others the difference is zero
    rows = gammaln(N[j, k] + alpha[k]) - gammaln(alpha[k])
    a0 = alpha.sum()
    return float(rows.sum() + (gammaln(a0) - gammaln(N.sum(1) + a0)).sum())


def predictive(N: Floats, alpha: Floats) -> Floats:
    """p(k | j, D), (K, K), as the mixture of (17.15)."""
    Nj, a0 = N.sum(1, keepdims=True), alpha.sum()
    weight = a0 / (Nj + a0)  # 17.16
    f = np.divide(N, Nj, out=np.zeros_like(N), where=Nj > 0)
    return np.asarray((1 - weight) * f + weight * alpha / a0)


def fit_alpha(N: Floats, iterations: int = 300) -> Floats:
    """The alpha (K,) of highest evidence, by Minka's fixed point; symbols never reached get none.

    Each iteration multiplies alpha_k by sum_j psi(N_jk + alpha_k) - psi(alpha_k) over the same of
    the totals.
    """
    Nj = N.sum(1)
    alpha = contexts(N) / len(N)
    j, k = np.nonzero(N)  # of all others the difference is zero
    for _ in range(iterations):
        a, a0 = alpha[k], alpha.sum()
        up = np.bincount(k, psi(N[j, k] + a) - psi(a), len(alpha))
        alpha *= up / (psi(Nj + a0) - psi(a0)).sum()
    return alpha


def fit_strength(N: Floats, m: Floats) -> float:
    """The alpha_0 of highest evidence for a given prior mean m."""
    seen = m > 0
    found = minimize_scalar(
        lambda a: -log_evidence(N[:, seen], np.exp(a) * m[seen]), bounds=(-7, 10), method="bounded"
    )
    return float(np.exp(found.x))


def contexts(N: Floats) -> Floats:
    """The number of contexts in which each symbol occurs, (K,): |{j: N_jk > 0}| (17.18)."""
    return np.asarray((N > 0).sum(0, dtype=np.float64))


def interpolated(N: Floats, weight: float) -> Floats:
    """Deleted interpolation (17.13); a row without counts has no frequencies of its own."""
    Nj = N.sum(1, keepdims=True)
    f = np.divide(N, Nj, out=np.zeros_like(N), where=Nj > 0)
    return np.asarray((1 - weight) * f + weight * N.sum(0) / N.sum())


def pair_bits(A: Floats, pairs: Ints) -> float:
    """Bits per pair (2, N) for its second symbol; infinite if a symbol is impossible."""
    with np.errstate(divide="ignore"):
        return float(-np.log2(A[pairs[0], pairs[1]]).mean())


def interpolated_bits(N: Floats, pairs: Ints, weights: Floats) -> Floats:
    """Bits per pair by deleted interpolation, at each weight; it is linear in the weight."""
    own, single = (interpolated(N, w)[pairs[0], pairs[1]] for w in (0.0, 1.0))
    with np.errstate(divide="ignore"):
        bits = -np.log2(np.outer(1 - weights, own) + np.outer(weights, single))
    return np.asarray(bits.mean(1))


def pairs_within(symbols: Ints, N: Floats) -> Ints:
    """The pairs (2, N) of a text, known symbols both, whose second has been counted."""
    pairs = np.stack([symbols[:-1], symbols[1:]])
    pairs = pairs[:, pairs.max(0) < len(N)]
    return np.asarray(pairs[:, N.sum(0)[pairs[1]] > 0])


def cross_validated_weight(symbols: Ints, K: int, weights: Floats, folds: int = 5) -> float:
    """The weight of deleted interpolation that predicts each fifth best from the others.

    Symbols that the others do not have are left out: no weight makes them possible.
    """
    pairs = np.stack([symbols[:-1], symbols[1:]])
    fold = np.arange(pairs.shape[1]) * folds // pairs.shape[1]
    bits = np.zeros(len(weights))
    for k in range(folds):
        N = np.zeros((K, K))
        np.add.at(N, tuple(pairs[:, fold != k]), 1)
        left = pairs[:, fold == k]
        left = left[:, N.sum(0)[left[1]] > 0]
        bits += left.shape[1] * interpolated_bits(N, left, weights)
    return float(weights[np.argmin(bits)])
