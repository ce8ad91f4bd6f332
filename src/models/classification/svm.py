r"""Support vector machines: the margin's dual problem, with hard and soft margins and kernels.

    max_alpha  sum_n alpha_n - 1/2 sum_nm alpha_n alpha_m t_n t_m k(x_n, x_m)      FCML 5.3.2.2
    subject to sum_n alpha_n t_n = 0,  0 <= alpha_n <= C                           FCML 5.14, 5.18

    f(x) = sum_n alpha_n t_n k(x_n, x) + b,   t_new = sign f(x)                    FCML 5.15
    b = t_n - sum_m alpha_m t_m k(x_m, x_n)   for n with f(x_n) = t_n              FCML 5.16

C = inf is the hard margin. The quadratic programme is solved by sequential minimal optimisation
(Platt; the pair of largest second-order gain, Fan, Chen and Lin 2005), for a batch of R problems
at once, with a step of the active-set method in between. At the optimum (5.16) must hold for the
points with 0 < alpha_n < C, and only for them; points at the bound may be inside the margin, so
they do not determine b.

The primal optimum is min_{w, b} |w|^2 / 2 + C sum_n max(0, 1 - t_n f(x_n)); it equals the dual's.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog

from bythebook.models.convergence import warn_not_converged
from bythebook.models.types import Bools, Floats

_PAIRS = 100  # steps of two points between two steps of all free ones
FREE, MEAN, HIGHEST = RULES = ("free", "mean", "highest")


class Svm(NamedTuple):
    """The solutions of R problems with N points each."""

    alpha: Floats  # (R, N) Lagrange multiplier of each point
    output: Floats  # (R, N) sum_m alpha_m t_m k(x_m, x_n): f without b
    bias: Floats  # (R,) b from the points with 0 < alpha < C
    gap: Floats  # (R,) largest violation of the optimality conditions
    C: float

    @property
    def support(self) -> Bools:
        """Whether a point is a support vector, shape (R, N)."""
        return np.asarray(self.alpha > 1e-6 * np.maximum(self.alpha.max(-1, keepdims=True), 1e-300))


def solve(
    K: Floats, t: Floats, C: float = np.inf, *, tol: float = 1e-9, max_iter: int = 200_000
) -> Svm:
    """Solve R problems with Gram matrices (R, N, N) and labels -1, +1 of shape (R, N).

    A hard margin needs classes that can be separated (see `separable`).
    """
    R, N = t.shape
    alpha, rest = np.zeros((R, N)), t.astype(np.float64)  # rest = t - sum_m alpha_m t_m K
    diagonal = np.einsum("rnn->rn", K)
    active = np.arange(R)
    gap = np.full(R, np.inf)
    for iteration in range(1, max_iter + 1):
        if iteration % _PAIRS == 0:
            for r in active:
                alpha[r] = _ascend(K[r], t[r], alpha[r], C)
                rest[r] = t[r] - K[r] @ (alpha[r] * t[r])
        a, e, label, every = alpha[active], rest[active], t[active], np.arange(len(active))
        can_rise = np.where(label > 0, a < C, a > 0)  # t_n alpha_n may grow; or fall:
        can_fall = np.where(label > 0, a > 0, a < C)
        up = np.where(can_rise, e, -np.inf)
        i = up.argmax(1)
        best = up[every, i]
        lead = best[:, None] - np.where(can_fall, e, np.inf)
        gap[active] = lead.max(1)
        Ki = K[active, i]
        curvature = diagonal[active, i][:, None] + diagonal[active] - 2 * Ki
        curvature = np.maximum(curvature, 1e-12)
        j = np.where(lead > 0, lead**2 / curvature, -np.inf).argmax(1)
        going = gap[active] > tol
        if not going.any():
            break
        step = lead[every, j] / curvature[every, j]
        room_i = np.where(label[every, i] > 0, C - a[every, i], a[every, i])
        room_j = np.where(label[every, j] > 0, a[every, j], C - a[every, j])
        step = np.where(going, np.minimum(step, np.minimum(room_i, room_j)), 0.0)
        for index, room, sign in ((i, room_i, 1), (j, room_j, -1)):
            moved = a[every, index] + sign * label[every, index] * step
            # Exactly on the bound where the step was cut there.
            edge = np.where(sign * label[every, index] > 0, C, 0.0)
            alpha[active, index] = np.where(going & (step == room), edge, moved)
        rest[active] = e - step[:, None] * (Ki - K[active, j])
        active = active[going]
    warn_not_converged(
        "sequential minimal optimisation",
        iterations=max_iter,
        tol=tol,
        fits=int(np.count_nonzero(gap > tol)),
    )
    rest = t - np.einsum("rnm,rm->rn", K, alpha * t)  # no accumulated rounding error
    return Svm(alpha, t - rest, _free_bias(alpha, rest, t, C), gap, C)


def _ascend(K: Floats, t: Floats, alpha: Floats, C: float) -> Floats:
    """Go to the optimum over the points between the bounds, others fixed; stop at new bounds.

    Steps of pairs alone are slow where the margin is narrow; this step is direct once the pairs
    have found the points of the margin.
    """
    for _ in range(len(t)):
        free = np.flatnonzero((alpha > 0) & (alpha < C))
        if len(free) < 2:
            break
        # max g^T v - v^T K v / 2 for the changes v of alpha_n t_n, which keep (5.14): sum v = 0
        g = t[free] - K[free] @ (alpha * t)
        H = K[np.ix_(free, free)]
        H = H - H.mean(0) - H.mean(1)[:, None] + H.mean()
        curvature, axes = np.linalg.eigh(H)
        slope = (g - g.mean()) @ axes
        flat = curvature <= 1e-10 * curvature[-1]  # all, where points coincide
        rising = flat & (np.abs(slope) > 1e-9 * max(1.0, np.abs(slope).max()))
        if rising.any():  # along these the objective is linear: as far as the bounds allow
            v, longest = axes[:, rising] @ slope[rising], np.inf
        else:
            v, longest = axes[:, ~flat] @ (slope[~flat] / curvature[~flat]), 1.0
        change = (v - v.mean()) * t[free]
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(change < 0, -alpha[free] / change, (C - alpha[free]) / change)
        room[change == 0] = np.inf
        step = min(longest, room.min())
        if not np.isfinite(step):
            break
        moved = alpha[free] + step * change
        if step < longest:
            hit = room.argmin()
            moved[hit] = 0.0 if change[hit] < 0 else C
        alpha = alpha.copy()
        alpha[free] = np.clip(moved, 0.0, C)
        if step == longest:
            break
    return alpha


def _free_bias(alpha: Floats, rest: Floats, t: Floats, C: float) -> Floats:
    """Bias of (5.16), averaged over the free support vectors; without any, mid-way in its range."""
    free = (alpha > 0) & (alpha < C)
    count = free.sum(1)
    mean = np.where(free, rest, 0.0).sum(1) / np.maximum(count, 1)
    low = np.where(np.where(t > 0, alpha < C, alpha > 0), rest, -np.inf).max(1)
    high = np.where(np.where(t > 0, alpha > 0, alpha < C), rest, np.inf).min(1)
    return np.asarray(np.where(count > 0, mean, (low + high) / 2))


def bias(fit: Svm, t: Floats, rule: str = FREE) -> Floats:
    """Bias b of each problem by one of three rules, shape (R,).

    `free`: from the points with 0 < alpha < C, which is right. `mean`: t - f averaged over all
    support vectors, as in the authors' script. `highest`: from the support vector with the largest
    output (FCML 5.3.2.5), which is wrong if that one is at the bound.
    """
    if rule == FREE:
        return fit.bias
    rest = t - fit.output  # FCML 5.16
    if rule == MEAN:
        return np.asarray(np.where(fit.support, rest, 0.0).sum(1) / fit.support.sum(1))
    top = np.where(fit.support, fit.output, -np.inf).argmax(1)
    return np.asarray(rest[np.arange(len(rest)), top])


def weights(fit: Svm, X: Floats, t: Floats) -> Floats:
    """Weights sum_n alpha_n t_n x_n of a linear machine for points (R, N, D), shape (R, D)."""
    return np.asarray(np.einsum("rn,rnd->rd", fit.alpha * t, X))  # FCML 5.13


def line(fit: Svm, X: Floats, t: Floats) -> Floats:
    """Weights and bias of a linear machine, shape (R, D + 1)."""
    return np.column_stack([weights(fit, X, t), fit.bias])


def separable(X: Floats, t: Floats) -> bool:
    """Whether a hyperplane separates the classes of points (N, D): a linear programme."""
    A = t[:, None] * np.column_stack([X, np.ones(len(X))])
    if (A @ np.linalg.lstsq(A, np.ones(len(X)))[0] > 0).all():  # a separating guess is a proof
        return True
    found = linprog(np.zeros(A.shape[1]), -A, -np.ones(len(X)), bounds=(None, None))  # FCML 5.17
    return bool(found.status == 0)
