r"""Regularised least squares along a path of penalties, from one decomposition.

    w(lambda) = argmin |t - Phi w|^2 + lambda |w|^2 = (Phi^T Phi + lambda I)^-1 Phi^T t

With Phi = U diag(s) V^T the weights are V diag(s / (s^2 + lambda)) U^T t, so one singular value
decomposition serves every penalty and every vector of targets. The fit is linear in t, y = H t:

    H = U diag(s^2 / (s^2 + lambda)) U^T,    effective degrees of freedom = trace H

and as the penalty does not depend on the data, leaving points out one by one takes no refitting:

    t_n - y_{-n}(x_n) = (t_n - y_n) / (1 - H_nn).

`lambda` is the total penalty: PRML and the notes use it as it stands (notes 2.2); FCML penalises
the average loss, and its lambda times the number of points is ours (FCML 1.21). A bias that is not
penalised (notes 2.1.3) is the same thing after the columns and the targets have been centred.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from models.types import Floats, Ints

_EPS = float(np.finfo(np.float64).eps)
_BLOCK = 2**15  # residuals at once: 256 KiB, which stay in the processor's cache


class RidgePath(NamedTuple):
    """The fits of L penalties to (...) vectors of N targets."""

    weights: Floats  # (L, ..., D)
    fitted: Floats  # (L, ..., N) y = Phi w
    leverage: Floats  # (L, N) diagonal of H
    dof: Floats  # (L,) trace of H


def ridge_path(
    Phi: Floats, t: Floats, penalties: Floats, *, penalise_bias: bool = True
) -> RidgePath:
    """Fit t (..., N) on Phi (N, D) with each of the total penalties (L,).

    `penalise_bias=False` leaves the weight of the first column free, which must be constant. At
    penalty 0 a direction that Phi does not determine to machine precision gets weight zero.
    """
    if not penalise_bias:
        return _with_free_bias(Phi, t, penalties)
    U, s, Vt = np.linalg.svd(Phi, full_matrices=False)
    shrink, kept = _filters(s, penalties, Phi.shape)
    c = (t @ U)[None]  # (1, ..., r)
    wide = (len(shrink), *(1,) * (t.ndim - 1), len(s))
    weights = (c * shrink.reshape(wide)) @ Vt  # FCML 1.21, notes 2.2.1
    fitted = (c * kept.reshape(wide)) @ U.T
    return RidgePath(weights, fitted, kept @ (U**2).T, kept.sum(-1))


def _filters(s: Floats, penalties: Floats, shape: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Factors of each direction, (L, r): s / (s^2 + lambda) in w, s^2 / (s^2 + lambda) in y."""
    lam = np.asarray(penalties, dtype=np.float64)[:, None]
    determined = s > s.max(initial=0.0) * max(shape) * _EPS
    denominator = np.where(determined | (lam > 0), s**2 + lam, np.inf)
    return s / denominator, s**2 / denominator


def _with_free_bias(Phi: Floats, t: Floats, penalties: Floats) -> RidgePath:
    slopes, centred, level = _centred(Phi, t)
    path = ridge_path(slopes, centred, penalties)
    bias = (level - path.weights @ Phi[:, 1:].mean(0)[:, None]) / Phi[0, 0]
    return RidgePath(
        weights=np.concatenate([bias, path.weights], axis=-1),
        fitted=path.fitted + level,
        leverage=path.leverage + 1 / len(Phi),
        dof=path.dof + 1,
    )


def _centred(Phi: Floats, t: Floats) -> tuple[Floats, Floats, Floats]:
    """The columns after the first and the targets, less their means, and the mean target."""
    if np.ptp(Phi[:, 0]) != 0 or Phi[0, 0] == 0:
        raise ValueError("a free bias needs a constant first column")
    level = t.mean(-1, keepdims=True)
    return Phi[:, 1:] - Phi[:, 1:].mean(0), t - level, level


def loo_residuals(path: RidgePath, t: Floats) -> Floats:
    """Errors at points left out one by one, (L, ..., N); infinite where a point fixes itself."""
    return _left_out(t - path.fitted, path.leverage)


def loo_by_penalty(
    Phi: Floats, t: Floats, penalties: Floats, *, penalise_bias: bool = True
) -> Floats:
    """The mean squares of `loo_residuals`, (L, ...), some penalties at a time and no fit kept."""
    bias = 0.0
    if not penalise_bias:
        Phi, t, _ = _centred(Phi, t)
        bias = 1 / len(Phi)  # its share in every leverage
    U, s, _ = np.linalg.svd(Phi, full_matrices=False)
    kept = _filters(s, penalties, Phi.shape)[1]
    c, U2 = t @ U, U**2
    step = max(1, _BLOCK // t.size)
    parts = [np.empty((0, *t.shape[:-1]))]
    for begin in range(0, len(kept), step):
        some = kept[begin : begin + step]
        fitted = (c * some.reshape(-1, *(1,) * (t.ndim - 1), len(s))) @ U.T
        errors = _left_out(t - fitted, some @ U2.T + bias)
        parts.append(np.vecdot(errors, errors) / t.shape[-1])
    return np.concatenate(parts)


def kfold_by_penalty(
    Phi: Floats,
    t: Floats,
    penalties: Sequence[Floats],
    folds: Sequence[Ints],
    *,
    penalise_bias: bool = True,
) -> Floats:
    """Mean squared errors (L, ...) at folds left out in turn, each with total penalties (L,)."""
    errors = np.empty((len(penalties[0]), *t.shape))
    for some, fold in zip(penalties, folds, strict=True):
        rest = np.setdiff1d(np.arange(len(Phi)), fold)
        path = ridge_path(Phi[rest], t[..., rest], some, penalise_bias=penalise_bias)
        errors[..., fold] = t[..., fold] - path.weights @ Phi[fold].T
    return np.asarray(np.mean(errors**2, axis=-1))


def gradient(
    path: RidgePath, Phi: Floats, t: Floats, penalties: Floats, *, penalise_bias: bool = True
) -> Floats:
    """Of half the penalised squared error at each fit of a path, (L, ..., D)."""
    pull = penalties.reshape(-1, *(1,) * t.ndim) * path.weights
    pull[..., 0] *= penalise_bias
    return np.asarray(pull + (path.fitted - t) @ Phi)


def _left_out(residuals: Floats, leverage: Floats) -> Floats:
    """Residuals (L, ..., N) over the slack 1 - H_nn that the leverages (L, N) leave them."""
    slack = 1 - leverage.reshape(len(leverage), *(1,) * (residuals.ndim - 2), -1)
    free = slack > 1e-10
    return np.where(free, residuals / np.where(free, slack, 1.0), np.inf)
