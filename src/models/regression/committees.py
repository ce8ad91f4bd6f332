r"""Committees: averages of the predictions of many models, and their errors (PRML 14.2).

    y_COM(x) = 1/M sum_m y_m(x),    E_COM <= E_AV, the average error of the members    (14.7-14.11)

with equality only where members agree. Were their errors uncorrelated with mean zero, E_COM would
be E_AV / M (14.14). Members fitted to bootstrap samples of one data set are far from that.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from bythebook.models.regression.bias_variance import ridge_predictions
from bythebook.models.types import Bools, Floats

LOSSES: dict[str, Callable[[Floats], Floats]] = {  # convex in the error except the last
    "square": np.square,
    "absolute": np.abs,
    "fourth_power": lambda e: e**4,
    "exponential": np.exp,
    "root": lambda e: np.sqrt(np.abs(e)),
}


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


def correlated_errors(
    rho: float, n_members: int, n_points: int, rng: np.random.Generator
) -> Floats:
    """Errors with mean 0, variance 1 and correlation rho >= -1 / (members - 1); (members, points).

    Noise common to all members has eigenvalue 1 + (members - 1) rho, the rest 1 - rho.
    """
    v = rng.standard_normal((n_members, n_points))
    common = v.mean(0)
    own = np.sqrt(1 - rho) * (v - common)
    return np.asarray(own + np.sqrt(1 + (n_members - 1) * rho) * common)


def committee_ratio(rho: float, n_members: int) -> float:
    """E_COM / E_AV for zero-mean errors of equal size and correlation rho; at rho = 0 (14.14)."""
    return rho + (1 - rho) / n_members


def skewed_losses(n_members: int, n_trials: int, rng: np.random.Generator) -> CommitteeErrors:
    """Errors (losses, trials) under each of `LOSSES`: the members' are skewed (ex. 14.3)."""
    errors = rng.gamma(1.0, size=(n_trials, n_members, 20)) - rng.uniform(0, 2, (n_trials, 1, 1))
    return CommitteeErrors(
        average=np.stack([loss(errors).mean((1, 2)) for loss in LOSSES.values()]),
        committee=np.stack([loss(errors.mean(1)).mean(-1) for loss in LOSSES.values()]),
    )


class WeightedMeans(NamedTuple):
    """Ex. 14.5: weighted means are between their members' extremes if and only if (14.57) holds."""

    convex_stay_inside: Bools  # (T,) convex weights and any predictions
    are_convex: Bools  # (T,) other weights, some of which obey the rule
    stay_inside: Bools  # (T,) the same for predictions that violate the bound if any do


def weighted_means(n_members: int, n_trials: int, rng: np.random.Generator) -> WeightedMeans:
    """Draw weights, and check whether their means leave the range of the members."""
    convex = rng.dirichlet(np.ones(n_members), n_trials)
    stay = between(convex, rng.standard_normal((n_trials, n_members)))
    # A third sums to anything, a third to one with any signs, a third obeys the rule.
    weights = rng.normal(1 / n_members, 0.5, (n_trials, n_members))
    weights[n_trials // 3 :] /= weights[n_trials // 3 :].sum(-1, keepdims=True)
    weights[2 * n_trials // 3 :] = convex[2 * n_trials // 3 :]
    obeys = np.all(weights >= 0, axis=-1) & (np.abs(weights.sum(-1) - 1) < 1e-9)
    # Two sets of predictions decide: all 1, and 1 at the smallest weight and 0 elsewhere.
    least = (weights == weights.min(-1, keepdims=True)).astype(np.float64)
    held = between(weights, np.ones((n_trials, n_members))) & between(weights, least)
    return WeightedMeans(stay, obeys, held)


def between(weights: Floats, y: Floats) -> Bools:
    """Whether y_min <= y_COM <= y_max (14.56), up to rounding."""
    mean = np.sum(weights * y, axis=-1)
    return np.asarray((y.min(-1) - 1e-9 <= mean) & (mean <= y.max(-1) + 1e-9))
