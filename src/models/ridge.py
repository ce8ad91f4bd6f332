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

from typing import NamedTuple

import numpy as np

from models.types import Floats

_EPS = float(np.finfo(np.float64).eps)


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
    lam = np.asarray(penalties, dtype=np.float64)[:, None]  # (L, 1)
    determined = s > s.max(initial=0.0) * max(Phi.shape) * _EPS
    denominator = np.where(determined | (lam > 0), s**2 + lam, np.inf)
    shrink, kept = s / denominator, s**2 / denominator  # (L, r)
    c = (t @ U)[None]  # (1, ..., r)
    wide = (len(lam), *(1,) * (t.ndim - 1), len(s))
    weights = (c * shrink.reshape(wide)) @ Vt  # FCML 1.21, notes 2.2.1
    fitted = (c * kept.reshape(wide)) @ U.T
    return RidgePath(weights, fitted, kept @ (U**2).T, kept.sum(-1))


def _with_free_bias(Phi: Floats, t: Floats, penalties: Floats) -> RidgePath:
    if np.ptp(Phi[:, 0]) != 0 or Phi[0, 0] == 0:
        raise ValueError("a free bias needs a constant first column")
    slopes, centre, level = Phi[:, 1:], Phi[:, 1:].mean(0), t.mean(-1, keepdims=True)
    path = ridge_path(slopes - centre, t - level, penalties)
    bias = (level - path.weights @ centre[:, None]) / Phi[0, 0]
    return RidgePath(
        weights=np.concatenate([bias, path.weights], axis=-1),
        fitted=path.fitted + level,
        leverage=path.leverage + 1 / len(Phi),
        dof=path.dof + 1,
    )


def loo_residuals(path: RidgePath, t: Floats) -> Floats:
    """Errors at points left out one by one, (L, ..., N); infinite where a point fixes itself."""
    slack = 1 - path.leverage.reshape(len(path.leverage), *(1,) * (t.ndim - 1), -1)
    free = slack > 1e-10
    return np.where(free, (t - path.fitted) / np.where(free, slack, 1.0), np.inf)
