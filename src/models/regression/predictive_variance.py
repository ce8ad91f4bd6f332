r"""Variance of the predictions of a fitted polynomial.

    t_new = x_new^T w,    var(t_new) = sigma^2 x_new^T (Phi^T Phi)^-1 x_new        FCML 2.50-2.51
    w ~ N(w_hat, sigma^2 (Phi^T Phi)^-1)                                           FCML 2.48

with the maximum likelihood estimate for sigma^2. With Phi = Q R the weights' covariance is
sigma^2 R^-1 R^-T, so in the basis z(x) = R^-T phi(x) the coefficients of a fit are independent with
variance sigma^2, and the first k + 1 of them are the fit of order k: one QR serves every order.
Leading axes are a batch of data sets; `keep` says which points of each take part.
"""

from typing import NamedTuple

import numpy as np
from numpy.polynomial.legendre import legvander
from numpy.polynomial.polyutils import mapdomain

from bythebook.models.types import Bools, Floats


class Predictions(NamedTuple):
    """The predictions of order 0 to K at G new inputs, from (...) data sets."""

    mean: Floats  # (..., K + 1, G)
    variance: Floats  # (..., K + 1, G) of the mean, the noise of a new target not included
    sigma2: Floats  # (..., K + 1) maximum likelihood noise variance
    basis: Floats  # (..., K + 1, G) z(x): functions of order k are mean + sigma z[:k + 1]^T N(0, I)


def predict(x: Floats, t: Floats, keep: Bools, max_order: int, new: Floats) -> Predictions:
    """Fit t (..., N) on x (..., N) where `keep`, and predict at the new inputs (G,)."""
    ends = np.min(x), np.max(x)  # one scale for all data sets

    def design(inputs: Floats) -> Floats:
        scaled = mapdomain(inputs, ends, (-1, 1))
        return np.asarray(legvander(scaled, max_order), dtype=np.float64)

    kept = keep.astype(np.float64)
    Q, R = np.linalg.qr(design(x) * kept[..., None])
    c = np.einsum("...nk,...n->...k", Q, t)
    fitted = np.swapaxes(np.cumsum(Q * c[..., None, :], axis=-1), -1, -2)
    residuals = (t[..., None, :] - fitted) * kept[..., None, :]
    sigma2 = (residuals**2).sum(-1) / kept.sum(-1)[..., None]  # FCML 2.35
    wide = np.broadcast_to(design(new).T, (*R.shape[:-1], len(new)))
    z = np.linalg.solve(np.swapaxes(R, -1, -2), wide)
    mean = np.cumsum(z * c[..., None], axis=-2)  # FCML 2.50
    variance = sigma2[..., None] * np.cumsum(z**2, axis=-2)  # FCML 2.51
    return Predictions(mean, variance, sigma2, z)


def sample_functions(
    predictions: Predictions, order: int, count: int, rng: np.random.Generator
) -> Floats:
    """Functions whose weights are drawn from N(w_hat, cov), at the new inputs: (..., count, G)."""
    z = predictions.basis[..., : order + 1, :]
    eps = rng.standard_normal((*z.shape[:-2], count, order + 1))
    sigma = np.sqrt(predictions.sigma2[..., order, None, None])
    return np.asarray(predictions.mean[..., order, None, :] + sigma * (eps @ z))  # FCML 2.48


def ranges(values: Floats, group: int) -> Floats:
    """The ranges of values (..., S, G) over groups of `group` along S: (..., S / group, G)."""
    groups = values.reshape(*values.shape[:-2], -1, group, values.shape[-1])
    return np.asarray(np.ptp(groups, axis=-2))
