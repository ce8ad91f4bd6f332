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

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.optimize import LinearConstraint, linprog, minimize, nnls

from bythebook.models.types import Bools, Floats

Kernel = Callable[[Floats, Floats], Floats]  # of points (N, D) and (M, D), shape (N, M)
_PAIRS = 100  # steps of two points between two steps of all free ones
FREE, MEAN, HIGHEST, HIGHEST_OF_1 = BIAS_RULES = ("free", "mean", "highest", "highest of +1")


class Svm(NamedTuple):
    """The solutions of R problems with N points each."""

    alpha: Floats  # (R, N) influence of each point
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
    rest = t - np.einsum("rnm,rm->rn", K, alpha * t)  # no accumulated rounding error
    return Svm(alpha, t - rest, _free_bias(alpha, rest, t, C), gap, C)


def scores(
    X: Floats, t: Floats, Z: Floats, kernel: Kernel, C: float, *, tol: float = 1e-9
) -> Floats:
    """Outputs, without b, at new points (R, M, D) of machines trained on X (R, N, D): (R, M)."""
    influence = solve(np.stack([kernel(x, x) for x in X]), t, C, tol=tol).alpha * t
    return np.stack([kernel(z, x) @ a for x, z, a in zip(X, Z, influence, strict=True)])


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
    """B of (5.16), averaged over the free support vectors; without any, mid-way in its range."""
    free = (alpha > 0) & (alpha < C)
    count = free.sum(1)
    mean = np.where(free, rest, 0.0).sum(1) / np.maximum(count, 1)
    low = np.where(np.where(t > 0, alpha < C, alpha > 0), rest, -np.inf).max(1)
    high = np.where(np.where(t > 0, alpha > 0, alpha < C), rest, np.inf).min(1)
    return np.asarray(np.where(count > 0, mean, (low + high) / 2))


def bias(fit: Svm, t: Floats, rule: str = FREE) -> Floats:
    """B of each problem, shape (R,), by one of four rules.

    `free`: from the points between the bounds, which is right. `mean`: t - f averaged over all
    support vectors, as in the authors' script. `highest`: from the support vector with the largest
    output, as in FCML 5.3.2.5; wrong where that one is at the bound. `highest of +1`: the same
    among the support vectors of class +1, another reading of the sentence.
    """
    if rule == FREE:
        return fit.bias
    rest = t - fit.output  # FCML 5.16
    if rule == MEAN:
        return np.asarray(np.where(fit.support, rest, 0.0).sum(1) / fit.support.sum(1))
    allowed = fit.support if rule == HIGHEST else fit.support & (t > 0)
    top = np.where(allowed, fit.output, -np.inf).argmax(1)
    return np.asarray(rest[np.arange(len(rest)), top])


def dual_objective(fit: Svm, t: Floats) -> Floats:
    """Sum alpha - 1/2 sum alpha alpha t t k, shape (R,)."""
    return np.asarray(fit.alpha.sum(1) - (fit.alpha * t * fit.output).sum(1) / 2)


def dual_as_printed(fit: Svm, K: Floats) -> Floats:
    """The dual objective with its second sum over n alone, m = n, for K (R, N, N), shape (R,)."""
    own = np.einsum("rnn->rn", K)
    return np.asarray(fit.alpha.sum(1) - (fit.alpha**2 * own).sum(1) / 2)  # FCML 5.3.2.6


def weights(fit: Svm, X: Floats, t: Floats) -> Floats:
    """W = sum_n alpha_n t_n x_n of a linear machine for points (R, N, D), shape (R, D)."""
    return np.asarray(np.einsum("rn,rnd->rd", fit.alpha * t, X))  # FCML 5.13


def line(fit: Svm, X: Floats, t: Floats) -> Floats:
    """Weights and bias of a linear machine, shape (R, D + 1)."""
    return np.column_stack([weights(fit, X, t), fit.bias])


def refit_gap(fit: Svm, X: Floats, t: Floats) -> Floats:
    """Relative change of a hard linear machine that is refitted to its support vectors only."""
    lines, found = line(fit, X, t), []
    for points, labels, kept, before in zip(X, t, fit.support, lines, strict=True):
        points, labels = points[kept][None], labels[kept][None]
        again = line(solve(points @ points.swapaxes(1, 2), labels), points, labels)
        found.append(np.abs(again[0] - before).max() / np.abs(before).max())
    return np.array(found)


def primal_objective(fit: Svm, t: Floats) -> Floats:
    """|w|^2 / 2 + C sum_n max(0, 1 - t_n f(x_n)), (R,): an upper bound of the dual objective."""
    slack = np.maximum(0, 1 - t * (fit.output + fit.bias[:, None]))
    return np.asarray((fit.alpha * t * fit.output).sum(1) / 2 + fit.C * slack.sum(1))


class Primal(NamedTuple):
    """The optimum of the primal problem."""

    w: Floats  # (D,)
    b: float
    objective: float


def solve_primal(X: Floats, t: Floats, C: float) -> Primal:
    """Min |w|^2 / 2 + C sum xi_n  with xi_n >= 0, t_n (w^T x_n + b) >= 1 - xi_n, by SLSQP."""
    N, D = X.shape
    A = np.column_stack([t[:, None] * X, t, np.eye(N)])

    def objective(v: Floats) -> tuple[float, Floats]:
        gradient = np.concatenate([v[:D], [0.0], np.full(N, C)])
        return float(v[:D] @ v[:D] / 2 + C * v[D + 1 :].sum()), gradient

    found = minimize(
        objective,
        np.concatenate([np.zeros(D + 1), np.ones(N)]),
        jac=True,
        method="SLSQP",
        bounds=[(None, None)] * (D + 1) + [(0, None)] * N,
        constraints=LinearConstraint(A, np.ones(N), np.inf),  # FCML 5.18
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    return Primal(found.x[:D], float(found.x[D]), float(found.fun))


def widest(X: Floats, t: Floats) -> Floats:
    """Weights and bias of the line with the widest margin between points (N, 2), by enumeration.

    It is perpendicular to the line from a point of one class to one of the other, or runs along
    that between two points of the same class; all are tried. Scaled as in FCML 5.12.
    """
    positive, negative = X[t > 0], X[t < 0]
    across = (positive[:, None] - negative).reshape(-1, 2)
    along = [each[i] - each[j] for each in (positive, negative) for i, j in _pairs(len(each))]
    turned = np.reshape(along, (-1, 2))[:, ::-1] * [1, -1]
    directions = np.concatenate([across, turned, -turned])
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    above, below = (positive @ directions.T).min(0), (negative @ directions.T).max(0)
    best = (above - below).argmax()
    margin = (above[best] - below[best]) / 2
    return np.array([*directions[best], -(above[best] + below[best]) / 2]) / float(margin)


def _pairs(n: int) -> Iterator[tuple[int, int]]:
    return combinations(range(n), 2)


def stationarity_gap(line: Floats, X: Floats, t: Floats, sign: int) -> float:
    """Gradient norm of |w|^2 / 2 + sign sum_n lambda_n g_n, for the best lambda >= 0.

    g_n = 1 - t_n (w^T x_n + b) <= 0 are the constraints of a hard margin; relative to |w|.
    """
    gradients = -t[:, None] * np.column_stack([X, np.ones(len(X))])
    _, residual = nnls(sign * gradients.T, -np.append(line[:2], 0.0))
    return float(residual / np.linalg.norm(line[:2]))


def separable(X: Floats, t: Floats) -> bool:
    """Whether a hyperplane separates the classes of points (N, D): a linear programme."""
    A = t[:, None] * np.column_stack([X, np.ones(len(X))])
    if (A @ np.linalg.lstsq(A, np.ones(len(X)))[0] > 0).all():  # a separating guess is a proof
        return True
    found = linprog(np.zeros(A.shape[1]), -A, -np.ones(len(X)), bounds=(None, None))  # FCML 5.17
    return bool(found.status == 0)
