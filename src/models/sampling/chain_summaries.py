r"""Summaries of chains of samples: cumulative moments, autocorrelation, autocorrelation time.

mean      m_n = 1/n sum_s w_s,       covariance   1/n sum_s w_s w_s^T - m_n m_n^T
autocorrelation at lag k of a chain: the mean of (w_s - m)(w_(s+k) - m) over the variance

The effective number of samples of a chain of length n is n over the autocorrelation time
1 + 2 sum_k rho_k.

Chains from several starts have converged when they agree. With the average W of the variances
within C chains of n samples and the variance B / n of their means, the potential scale reduction is

    R^2 = ((n - 1) / n W + B / n) / W,

about one for chains that do not depend on their starts any more (Gelman and Rubin).
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from bythebook.models.sampling.metropolis import Chains
from bythebook.models.types import Bools, Floats, Ints


class Moments(NamedTuple):
    """Moments of the first n samples of each chain, for several n."""

    mean: Floats  # (C, n, D)
    covariance: Floats  # (C, n, D, D)


def moments(w: Floats, lengths: Sequence[int]) -> Moments:
    """Mean and covariance of the beginnings of chains (S, C, D)."""
    means = np.stack([w[:n].mean(0) for n in lengths], axis=1)
    squares = np.stack([np.einsum("sci,scj->cij", w[:n], w[:n]) / n for n in lengths], axis=1)
    return Moments(means, squares - means[..., :, None] * means[..., None, :])


def autocorrelation(w: Floats, lags: Sequence[int]) -> Floats:
    """Autocorrelation of chains (S, C, D), shape (C, lags, D); NaN for a chain that never moved."""
    z = w - w.mean(0)
    with np.errstate(invalid="ignore"):
        found = [(z[: len(z) - k] * z[k:]).mean(0) / (z**2).mean(0) for k in lags]
    return np.stack(found, axis=1) if found else np.empty((w.shape[1], 0, w.shape[2]))


def known_autocorrelation(x: Floats) -> Floats:
    """Autocorrelation at every lag of chains (S, C) of known mean 0 and variance 1; mean over C."""
    S = len(x)
    spectrum = np.fft.rfft(x, n=1 << (2 * S - 1).bit_length(), axis=0)
    power = (spectrum.real**2 + spectrum.imag**2).mean(-1)
    return np.asarray(np.fft.irfft(power)[:S] / np.arange(S, 0, -1))


def autocorrelation_time(rho: Floats) -> float:
    """Autocorrelation time from rho (lags,), beginning with lag 0; by Geyer's monotone sequence.

    Sums of two neighbours are positive and decrease for a reversible chain, also if its samples
    alternate; the first sum that is not positive is noise, and every increase is noise.
    """
    pairs = (rho / rho[0])[: len(rho) // 2 * 2].reshape(-1, 2).sum(-1)
    noise = pairs <= 0
    kept = pairs[: noise.argmax() if noise.any() else len(pairs)]
    return float(2 * np.minimum.accumulate(kept).sum() - 1) if len(kept) else 0.0


def scale_reduction(w: Floats) -> Floats:
    """The potential scale reduction R of samples (S, C, D), shape (D,)."""
    n = len(w)
    within = w.var(axis=0, ddof=1).mean(axis=0)
    between = w.mean(axis=0).var(axis=0, ddof=1)  # B / n
    return np.asarray(np.sqrt((n - 1) / n + between / within))


def parts_visited(w: Floats, means: Floats) -> Ints:
    """The number of K points (K, D) that are nearest to a sample of each chain (S, C, D)."""
    nearest = np.linalg.norm(w[:, :, None] - means, axis=-1).argmin(axis=-1)  # (S, C)
    seen: Bools = (nearest[..., None] == np.arange(len(means))).any(axis=0)
    return np.asarray(seen.sum(-1))


def squared_distance(w: Floats, mean: Floats, covariance: Floats) -> Floats:
    """Squared Mahalanobis distance of samples (S, C, D) from a Gaussian's mean, shape (S, C)."""
    z = np.linalg.solve(np.linalg.cholesky(covariance), (w - mean).reshape(-1, len(mean)).T)
    return np.asarray((z**2).sum(0).reshape(w.shape[:2]))


def summaries(
    chains: Chains, lengths: Ints, lags: Sequence[int], log_g: Callable[[Floats], Floats]
) -> dict[str, Any]:
    """Summaries that do not use moments of the target; beginnings of some lengths, n >= 2."""
    w, proposed, accepted = chains
    mean, covariance = moments(w, lengths.tolist())
    squared = (np.diff(w, axis=0) ** 2).sum(-1)
    climb = log_g(proposed) - log_g(w[:-1])
    uphill = climb >= 0
    with np.errstate(invalid="ignore", divide="ignore"):  # at first all samples may be equal
        R = [scale_reduction(w[:n]) for n in lengths]
    return {
        "rejected": np.cumsum(~accepted, axis=0)[lengths - 2].T,  # (C, n)
        "chain_mean": mean,  # (C, n, 2)
        "chain_covariance": covariance[..., [0, 0, 1], [0, 1, 1]],  # (C, n, 3)
        "scale_reduction": R,  # (n, 2)
        "autocorrelation": autocorrelation(w, lags),  # (C, lags, 2)
        "step_length": np.sqrt(squared).mean(0),  # (C,)
        "squared_step": squared.mean(0),  # (C,)
        "downhill_proposed": np.sum(~uphill, axis=0),  # (C,)
        "downhill_accepted": np.sum(~uphill & accepted, axis=0),
        "downhill_ratio": np.where(uphill, 0.0, np.exp(np.minimum(climb, 0.0))).sum(0),  # FCML 4.17
    }
