r"""Committees: averages of the predictions of many models, and their errors (PRML 14.2).

    y_COM(x) = 1/M sum_m y_m(x),    E_COM <= E_AV, the average error of the members    (14.7-14.11)

with equality only where members agree. Were their errors uncorrelated with mean zero, E_COM would
be E_AV / M (14.14). Members fitted to bootstrap samples of one data set are far from that.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from bythebook.models.regression.bias_variance import ridge_predictions
from bythebook.models.types import Floats


class CommitteeErrors(NamedTuple):
    """Errors about the true function h, of members on average and of their mean."""

    average: Floats  # (...) E_AV, the mean over members of E_x[(y_m(x) - h(x))^2] (14.10)
    committee: Floats  # (...) E_COM = E_x[(mean_m y_m(x) - h(x))^2] (14.11)


def bootstrap_predictions(
    Phi: Floats,
    t: Floats,
    Phi_grid: Floats,
    n_members: int,
    rng: np.random.Generator,
    lam: float = 0.0,
) -> Floats:
    """Predictions y_m(x) of members fitted to bootstrap data sets, shape (..., members, G).

    Phi (N, M) or (..., N, M) and t (..., N): a committee for each of the (...) data sets. Few
    distinct points may leave a flexible member undetermined; see `ridge_predictions`.
    """
    *batch, N = t.shape
    index = rng.integers(N, size=(*batch, n_members, N))
    Phi = np.broadcast_to(Phi, (*batch, *Phi.shape[-2:]))[..., np.newaxis, :, :]
    Phi = np.take_along_axis(Phi, index[..., np.newaxis], axis=-2)
    t = np.take_along_axis(t[..., np.newaxis, :], index, axis=-1)
    return np.asarray(ridge_predictions(Phi, t, Phi_grid, lam)[0])


def committee_errors(predictions: Floats, h: Floats) -> CommitteeErrors:
    """Errors of members and committee; predictions (..., members, G), the true function h (G,)."""
    error = predictions - h  # (14.8)
    return CommitteeErrors(
        average=(error**2).mean((-2, -1)),  # (14.10)
        committee=(error.mean(-2) ** 2).mean(-1),  # (14.11)
    )


def errors_by_size(predictions: Floats, h: Floats, sizes: Iterable[int]) -> CommitteeErrors:
    """Errors, (sizes, ...), of committees of the first few members."""
    found = [committee_errors(predictions[..., :size, :], h) for size in sizes]
    return CommitteeErrors(*(np.stack(part) for part in zip(*found, strict=True)))
