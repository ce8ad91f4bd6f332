r"""Expectation maximisation: one loop for every latent-variable model.

The log likelihood of data x with latent z is bounded from below by

    ln p(x | theta) >= L(q, theta) = E_q[ln p(x, z | theta)] - E_q[ln q(z)]

and EM increases the bound in alternate steps (PRML 9.4, Ghahramani section 3):

    E step    q     <- p(z | x, theta)                    the bound touches ln p(x | theta)
    M step    theta <- argmax E_q[ln p(x, z | theta)]

Restarts are a batch axis. theta is a NamedTuple of arrays that all carry a leading axis of R
restarts; an E step returns the posterior's statistics, a NamedTuple of the same kind, and the
objective, shape (R,). A converged restart is removed from the batch and costs no more time.
"""

from collections.abc import Callable, Collection
from itertools import count
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from bythebook.models.convergence import warn_not_converged
from bythebook.models.types import Bools, Floats, Ints

Theta = TypeVar("Theta", bound=tuple[Any, ...])
Q = TypeVar("Q", bound=tuple[Any, ...])


class EMFit(NamedTuple, Generic[Theta]):
    """The results of R restarts, and the objective at every iteration."""

    theta: Theta  # final parameters, leading axis (R,)
    objective: (
        Floats  # (R, T + 1) at the start and after each M step; NaN after the restart stopped
    )
    iterations: Ints  # (R,) M steps taken
    converged: Bools  # (R,) stopped by the tolerance, not by the limit
    snapshots: dict[int, Theta]  # parameters after the requested iterations (0 is the start)

    @property
    def final(self) -> Floats:
        """The objective at the end of each restart, shape (R,)."""
        return self.objective[np.arange(len(self.iterations)), self.iterations]

    @property
    def best(self) -> int:
        """The restart with the largest final objective (NaN, a collapsed restart, is ignored)."""
        return int(np.nanargmax(self.final))


def take(theta: Theta, restarts: Any) -> Theta:
    """The parameters of some restarts (an index array, a mask, a slice or one number)."""
    return type(theta)(*(field[restarts] for field in theta))


def held(objective: Floats, length: int | None = None) -> Floats:
    """Objectives (R, T) with the last value of each restart repeated up to `length` places."""
    last = (~np.isnan(objective)).sum(axis=1) - 1  # NaN is after the end
    places = np.minimum(np.arange(length or objective.shape[1]), last[:, None])
    return np.take_along_axis(objective, places, axis=1)


def smallest_gain(objective: Floats) -> float:
    """The smallest gain of a step of any restart, in units of the largest objective (R, T).

    The gain is infinite if no restart has taken a step whose gain is defined.
    """
    tiny = np.finfo(float).tiny
    least = np.nanmin(np.diff(objective), initial=np.inf)
    return float(least / np.nanmax(np.abs(objective), initial=tiny))


def path(em: EMFit[Theta], T: int) -> Theta:
    """The first restart's parameters at the start and after T iterations, all in snapshots."""
    steps = [take(em.snapshots[t], [0]) for t in range(T + 1)]
    return type(steps[0])(*map(np.concatenate, zip(*steps, strict=True)))


def count_optima(em: EMFit[Any], resolution: float) -> int:
    """Groups of converged values that lie more than the resolution apart."""
    values = np.sort(em.final[em.converged])
    return int((np.diff(values, prepend=-np.inf) > resolution).sum())  # the first begins a group


def first_reached(objective: Floats, level: float) -> Ints:
    """The first place at which each row (R, T) has reached the level; T if none has."""
    reached = objective - level >= 0
    return np.asarray(np.where(reached.any(1), reached.argmax(1), objective.shape[1]))


def _put(theta: Theta, restarts: Ints, values: Theta) -> None:
    for field, value in zip(theta, values, strict=True):
        field[restarts] = value


def expectation_maximisation(
    theta: Theta,
    e_step: Callable[[Theta], tuple[Q, Floats]],
    m_step: Callable[[Theta, Q], Theta],
    *,
    tol: float,
    max_iter: int,
    snapshots: Collection[int] = (),
) -> EMFit[Theta]:
    """Alternate E and M steps until a restart's objective gains no more than `tol` (absolute).

    `tol = 0` stops only where the objective no longer rises at all; a negative `tol` never stops
    early (`-np.inf`: exactly `max_iter` iterations). A restart that reaches the limit before it
    meets a positive tolerance gives the warning `NotConverged`.
    """
    final = type(theta)(*(np.array(field) for field in theta))  # converged restarts are parked here
    kept: dict[int, Theta] = {}

    q, value = e_step(final)
    objective = [value]
    iterations = np.zeros(len(value), dtype=np.int64)
    converged = np.zeros(len(value), dtype=bool)
    # A NaN objective (a collapsed component) ends its restart, here and below.
    active = np.flatnonzero(~np.isnan(value))
    theta, q = take(final, active), take(q, active)
    for iteration in count():
        if iteration in snapshots:
            _put(final, active, theta)
            kept[iteration] = type(theta)(*(field.copy() for field in final))
        if iteration == max_iter or not active.size:
            break
        theta = m_step(theta, q)
        q, value = e_step(theta)
        iterations[active] += 1
        with np.errstate(invalid="ignore"):  # a step from -inf to -inf has no defined gain
            gain = value - objective[-1][active]
        objective.append(np.full(len(iterations), np.nan))
        objective[-1][active] = value
        going = gain > tol
        if not going.all():
            converged[active[~going]] = np.isfinite(gain[~going])
            _put(final, active[~going], take(theta, ~going))
            active, theta, q = active[going], take(theta, going), take(q, going)
    if active.size:
        _put(final, active, theta)
        if tol > 0 and max_iter > 0:
            warn_not_converged("EM", iterations=max_iter, tol=tol, fits=active.size)
    else:  # all have stopped: later snapshots are the final parameters
        for later in set(snapshots) - set(kept):
            kept[later] = type(theta)(*(field.copy() for field in final))
    return EMFit(final, np.stack(objective, axis=1), iterations, converged, kept)
