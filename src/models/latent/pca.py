r"""Principal components analysis, for a batch of data sets (FCML 7.2).

    C = 1/N sum_n (y_n - ybar)(y_n - ybar)^T,     C w = lambda w                     (7.3)

The eigenvector of the largest eigenvalue is the direction of largest variance, and the eigenvalue
is that variance: lambda = w^T C w. The projection on the first D of them is X = Y W.
"""

from typing import NamedTuple

import numpy as np

from bythebook.models.types import Floats


class PCA(NamedTuple):
    """All M directions of a data set (or of each of a batch), largest variance first."""

    eigenvalues: Floats  # (..., M) variance along each direction
    W: Floats  # (..., M, M) the directions as columns, of length one
    X: Floats  # (..., N, M) centred data in these directions


def covariance(Y: Floats) -> Floats:
    """The sample covariance of rows, over N, shape (..., M, M)."""
    centred = Y - Y.mean(-2, keepdims=True)
    return np.asarray(centred.swapaxes(-2, -1) @ centred / Y.shape[-2])


def pca(Y: Floats) -> PCA:
    """Principal components of data (..., N, M); the largest entry of a direction is positive."""
    values, W = np.linalg.eigh(covariance(Y))  # (7.3), ascending
    values, W = values[..., ::-1], W[..., ::-1]
    largest = np.take_along_axis(W, np.abs(W).argmax(-2)[..., None, :], -2)
    W = W * np.sign(largest)  # the sign of an eigenvector is arbitrary
    return PCA(values, W, (Y - Y.mean(-2, keepdims=True)) @ W)
