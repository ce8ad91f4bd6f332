r"""Expectation propagation for the means of a mixture of known Gaussians (PRML 10.7).

    f_n(m) = sum_k N(x_n | m_k, 1) / K,   q(m) = N(m, V)

A factor times q is a mixture of K Gaussians, in each of which the point belongs to one of the
components; its mean and covariance are matched. Data sets are a batch: x has shape (S, N).
"""

from typing import NamedTuple

import numpy as np

from bythebook.models.types import Floats

LEAST = 1e-6  # a precision below is left out


class Means(NamedTuple):
    """N(mean, covariance) as the approximate posterior of all means."""

    mean: Floats  # (S, K)
    covariance: Floats  # (S, K, K)


def propagate(x: Floats, K: int, prior_variance: float, passes: int) -> Means:
    """Start with the prior and refine each factor in turn, for a number of passes.

    Steps are halved, and left out where a precision would not be positive.
    """
    S, N = x.shape
    P = np.tile(np.eye(K) / prior_variance, (S, 1, 1))
    h = np.zeros((S, K))
    site_P, site_h = np.zeros((N, S, K, K)), np.zeros((N, S, K))
    for _ in range(passes):
        for n in range(N):
            cavity_P, cavity_h = P - site_P[n], h - site_h[n]
            good = np.linalg.eigvalsh(cavity_P)[:, 0] > LEAST
            V = np.linalg.inv(np.where(good[:, None, None], cavity_P, np.eye(K)))
            mean, S_new = _matched(x[:, n], (V @ cavity_h[..., None])[..., 0], V)
            inverse = np.asarray(np.linalg.inv(S_new))
            new_P = (inverse + inverse.swapaxes(-1, -2)) / 2  # rounding would grow
            new_h = (new_P @ mean[..., None])[..., 0]
            step_P, step_h = (new_P - P) / 2, (new_h - h) / 2
            good &= np.linalg.eigvalsh(P + step_P)[:, 0] > LEAST
            step_P, step_h = step_P * good[:, None, None], step_h * good[:, None]
            site_P[n], site_h[n] = site_P[n] + step_P, site_h[n] + step_h
            P, h = P + step_P, h + step_h
    covariance = np.asarray(np.linalg.inv(P))
    return Means((covariance @ h[..., None])[..., 0], covariance)


def _matched(x: Floats, m: Floats, V: Floats) -> Means:
    """Mean and covariance of a factor times N(m, V)."""
    wide = np.diagonal(V, axis1=-2, axis2=-1) + 1  # (S, K) of x, if component k has made it
    off = x[:, None] - m
    log = -(off**2 / wide + np.log(wide)) / 2
    r = np.exp(log - np.logaddexp.reduce(log, axis=-1)[:, None])
    gain = V / wide[:, None]  # (S, K, k): V e_k / (V_kk + 1)
    shift = gain * off[:, None]  # the mean moves by this if k has made x
    mean = (r[:, None] * shift).sum(-1)
    lower = np.einsum("sk,sik,sjk->sij", r * wide, gain, gain)
    spread = np.einsum("sk,sik,sjk->sij", r, shift, shift) - mean[:, :, None] * mean[:, None]
    return Means(m + mean, V - lower + spread)
