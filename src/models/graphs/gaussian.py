r"""Gaussians on graphs: conditional covariances, messages (MLAPP 19.4.4, 20.2.3).

    p(x) ~ exp(-x' A x / 2 + b' x)                                                     MLAPP 20.14
    lambda_{s\t} = A_ss + sum_{u != t} lambda_us                                       MLAPP 20.29
    lambda_{s\t} mu_{s\t} = b_s + sum_{u != t} lambda_us mu_us                          MLAPP 20.30
    lambda_st = -A_st^2 / lambda_{s\t},  lambda_st mu_st = -A_st mu_{s\t}              from 20.33

The last line is what (20.33) gives; (20.35) and (20.36) print it without the signs.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bythebook.models.types import Floats


class GaussianMessages(NamedTuple):
    """lambda_st and lambda_st mu_st, from row to column; zero where there is no link."""

    precision: Floats  # (..., N, N)
    weighted: Floats  # (..., N, N)


def pass_on(A: Floats, b: Floats, messages: GaussianMessages) -> GaussianMessages:
    """All messages from those of the last round."""
    off = A * (1 - np.eye(A.shape[-1]))
    precision, mean = _but_one(A, b, messages)
    return GaussianMessages(-(off**2) / precision, -off * mean)  # 20.33


def _but_one(A: Floats, b: Floats, messages: GaussianMessages) -> tuple[Floats, Floats]:
    r"""lambda_{s\t} and mu_{s\t}: the potential of s and all its messages except that of t."""
    own = np.diagonal(A, axis1=-2, axis2=-1) + messages.precision.sum(-2)
    weighted = b + messages.weighted.sum(-2)
    precision = own[..., :, None] - np.swapaxes(messages.precision, -1, -2)
    return precision, (weighted[..., :, None] - np.swapaxes(messages.weighted, -1, -2)) / precision


def beliefs(A: Floats, b: Floats, messages: GaussianMessages) -> tuple[Floats, Floats]:
    """The mean and the variance of each node (20.23, 20.24)."""
    precision = np.diagonal(A, axis1=-2, axis2=-1) + messages.precision.sum(-2)
    return (b + messages.weighted.sum(-2)) / precision, 1 / precision


def rounds(A: Floats, b: Floats) -> Iterator[GaussianMessages]:
    """The messages before the first round and after each round."""
    messages = GaussianMessages(np.zeros_like(A), np.zeros_like(A))
    while True:
        yield messages
        messages = pass_on(A, b, messages)


def conditional_covariance(Sigma: Floats, i: int, j: int) -> float:
    """cov(x_i, x_j) given all other variables, by the Schur complement; var(x_i) if j is i."""
    own, rest = sorted({i, j}), [k for k in range(len(Sigma)) if k not in (i, j)]
    across = Sigma[np.ix_(own, rest)]
    known = across @ np.linalg.solve(Sigma[np.ix_(rest, rest)], across.T)
    return float((Sigma[np.ix_(own, own)] - known)[0, -1])
