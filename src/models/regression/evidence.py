r"""The evidence of linear regression, and the precisions that maximise it, for R data sets at once.

    w_i ~ N(0, 1 / alpha_i),   t | w ~ N(Phi w, I / beta)

    ln p(t) = sum_i ln alpha_i / 2 + N ln beta / 2 - E(m) - ln|A| / 2 - N ln(2 pi) / 2    notes 2.23
    E(m) = beta |t - Phi m|^2 / 2 + sum_i alpha_i m_i^2 / 2                               notes 2.24
    A = diag(alpha) + beta Phi^T Phi,   S = A^-1,   m = beta S Phi^T t

One alpha for all weights (the evidence framework) or one for each (the relevance vector machine).
Two re-estimations have the stationary points of the evidence for fixed points, with
gamma_i = 1 - alpha_i S_ii:

    direct   alpha_i = gamma_i / m_i^2,         1 / beta = |t - Phi m|^2 / (N - sum gamma)
    em       alpha_i = 1 / (m_i^2 + S_ii),      1 / beta = (|t - Phi m|^2 + sum gamma / beta) / N

PRML 9.3.4, (9.63), (9.67), (9.68); notes 2.2.5, (2.32), (2.34). A shared alpha has the sums over i
in numerator and denominator. A weight whose precision passes a limit is removed: its column is then
zero, and the evidence does not depend on its alpha.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize, minimize_scalar

from bythebook.models.convergence import warn_not_converged
from bythebook.models.em import take
from bythebook.models.types import Bools, Floats, Ints

DIRECT, EM = METHODS = ("direct", "em")
REMOVED = 1e9  # a precision from which on a weight is set to zero
_GRID = np.linspace(-15, 20, 71)  # of ln alpha, where a search begins


class Precisions(NamedTuple):
    """Precisions of R data sets with M weights."""

    alpha: Floats  # (R, M)
    beta: Floats  # (R,)
    kept: Bools  # (R, M) weights that are not removed


class Posterior(NamedTuple):
    """p(w | t) = N(m, S) of R data sets."""

    m: Floats  # (R, M)
    S: Floats  # (R, M, M)


class Maximised(NamedTuple):
    """The result of re-estimation, and the evidence at each iteration."""

    at: Precisions
    log_evidence: Floats  # (R,)
    history: Floats  # (R, T + 1) NaN after a data set has converged
    first: Precisions  # after one step
    iterations: Ints  # (R,)
    converged: Bools  # (R,)


def started(Phi: Floats, alpha: float, beta: float) -> Precisions:
    """The same precisions for all weights of all data sets (R, N, M)."""
    R, _, M = Phi.shape
    return Precisions(np.full((R, M), alpha), np.full(R, beta), np.ones((R, M), dtype=bool))


def posterior(Phi: Floats, t: Floats, at: Precisions) -> Posterior:
    """The posterior of the weights, removed ones at zero with a variance that is not used."""
    seen = Phi * at.kept[:, None]
    A = at.beta[:, None, None] * (seen.mT @ seen) + at.alpha[..., None] * np.eye(Phi.shape[-1])
    S = np.asarray(np.linalg.solve(A, np.broadcast_to(np.eye(Phi.shape[-1]), A.shape)), np.float64)
    m = at.beta[:, None] * np.matvec(S, np.vecmat(t, seen))
    return Posterior(m, S)


def misfit(Phi: Floats, t: Floats, m: Floats) -> Floats:
    """|t - Phi m|^2, shape (R,)."""
    return np.asarray(((t - np.matvec(Phi, m)) ** 2).sum(-1))


def log_evidence(Phi: Floats, t: Floats, at: Precisions, q: Posterior | None = None) -> Floats:
    """The five terms of notes (2.23), shape (R,)."""
    m, S = q or posterior(Phi, t, at)
    N = t.shape[-1]
    energy = (at.beta * misfit(Phi, t, m) + (at.alpha * m**2).sum(-1)) / 2
    log_det_A = -np.linalg.slogdet(S).logabsdet
    return np.asarray(
        (np.log(at.alpha).sum(-1) + N * np.log(at.beta / (2 * np.pi)) - log_det_A) / 2 - energy
    )


def relevance(at: Precisions, q: Posterior) -> Floats:
    """gamma_i = 1 - alpha_i S_ii, (R, M): how far the data, not the prior, fix a weight."""
    return np.where(at.kept, 1 - at.alpha * np.diagonal(q.S, axis1=-2, axis2=-1), 0.0)


def re_estimate(
    Phi: Floats, t: Floats, at: Precisions, method: str, *, shared: bool, known_noise: bool
) -> Precisions:
    """One step of re-estimation, `direct` or `em`."""
    q = posterior(Phi, t, at)
    gamma, error = relevance(at, q), misfit(Phi, t, q.m)
    total, N = gamma.sum(-1), t.shape[-1]
    if method == EM:
        above, below = np.ones_like(gamma), q.m**2 + np.diagonal(q.S, axis1=-2, axis2=-1)
        variance = (error + total / at.beta) / N  # (9.68)
    else:
        above, below = gamma, q.m**2
        variance = error / (N - total)  # notes 2.34
    if shared:
        above, below = (np.broadcast_to(p.sum(-1, keepdims=True), p.shape) for p in (above, below))
    with np.errstate(divide="ignore", invalid="ignore"):
        alpha = above / below  # (9.63), (9.67); notes 2.32
    kept = at.kept & (alpha > 0) & (alpha < REMOVED) if not shared else at.kept
    alpha = np.where(kept, alpha, 1.0)
    return Precisions(alpha, at.beta if known_noise else 1 / variance, kept)


def maximise(
    Phi: Floats,
    t: Floats,
    start: Precisions,
    method: str,
    *,
    shared: bool,
    known_noise: bool,
    tol: float = 1e-7,
    max_iter: int = 1000,
) -> Maximised:
    """Re-estimate until no precision moves by a share of `tol`; the evidence converges earlier.

    A shared alpha needs a few vectors along the spectrum of each data set, and no matrices.
    """
    R, _, M = Phi.shape
    if shared:
        data, at = summary(Phi, t), start._replace(alpha=start.alpha[:, :1])

        def step(at: Precisions, some: Ints) -> Precisions:
            return _shared_step(at, _of(data, some), method, known_noise)

        def height(at: Precisions, some: Ints) -> Floats:
            return shared_log_evidence(_of(data, some), np.log(at.alpha[:, 0]), np.log(at.beta))
    else:
        at = start

        def step(at: Precisions, some: Ints) -> Precisions:
            some_data = Phi[some], t[some]
            return re_estimate(*some_data, at, method, shared=False, known_noise=known_noise)

        def height(at: Precisions, some: Ints) -> Floats:
            return log_evidence(Phi[some], t[some], at)

    active = np.arange(R)
    end, first = take(at, active), step(at, active)
    history, iterations = np.full((R, max_iter + 1), np.nan), np.zeros(R, dtype=np.int64)
    history[:, 0] = height(at, active)
    for k in range(1, max_iter + 1):
        new = step(at, active)
        history[active, k], iterations[active] = height(new, active), k
        going = _moved(new, at) > tol
        for field, value in zip(end, new, strict=True):
            field[active] = value
        active, at = active[going], take(new, going)
        if not active.size:
            break
    warn_not_converged(f"{method} re-estimation", iterations=max_iter, tol=tol, fits=active.size)
    history = history[:, : iterations.max() + 1]
    wide = [one._replace(alpha=np.broadcast_to(one.alpha, (R, M)).copy()) for one in (end, first)]
    rests = ~np.isin(np.arange(R), active)
    return Maximised(
        wide[0], history[np.arange(R), iterations], history, wide[1], iterations, rests
    )


def _moved(new: Precisions, old: Precisions) -> Floats:
    """The largest change of the logarithm of a precision, (R,)."""
    alpha = np.abs(np.log(new.alpha / old.alpha)).max(-1)
    return np.asarray(np.maximum(alpha, np.abs(np.log(new.beta / old.beta))))


class Summary(NamedTuple):
    """Sufficient statistics of the evidence of a shared alpha, for any batch (...) of data sets."""

    s2: Floats  # (..., M) squared singular values of Phi, zero for directions without data
    c2: Floats  # (..., M) squared components of t along its left singular vectors
    rest: Floats  # (...) squared residual of the best weights
    N: int


def summary(Phi: Floats, t: Floats) -> Summary:
    """Sufficient statistics of data sets Phi (..., N, M) and t (..., N)."""
    *batch, N, M = Phi.shape
    U, s, _ = np.linalg.svd(Phi, full_matrices=False)
    c = np.vecmat(t, U)
    s2, c2 = np.zeros((2, *batch, M))
    s2[..., : s.shape[-1]], c2[..., : s.shape[-1]] = s**2, c**2
    return Summary(s2, c2, np.asarray(((t - np.matvec(U, c)) ** 2).sum(-1)), N)


def _of(data: Summary, some: Ints) -> Summary:
    return Summary(data.s2[some], data.c2[some], data.rest[some], data.N)


def _shared_step(at: Precisions, data: Summary, method: str, known_noise: bool) -> Precisions:
    """One re-estimation of the shared alpha (R, 1), and of beta."""
    beta, M = at.beta[:, None], data.s2.shape[-1]
    values = beta * data.s2
    precision = at.alpha + values  # of the weights along the right singular vectors
    gamma = (values / precision).sum(-1)
    m2 = (beta * values * data.c2 / precision**2).sum(-1)
    error = data.rest + (data.c2 * (at.alpha / precision) ** 2).sum(-1)
    if method == EM:
        alpha = M / (m2 + (1 / precision).sum(-1))  # (9.63)
        variance = (error + gamma / at.beta) / data.N  # (9.68)
    else:
        alpha, variance = gamma / m2, error / (data.N - gamma)  # notes 2.32, 2.34
    return Precisions(alpha[:, None], at.beta if known_noise else 1 / variance, at.kept)


def shared_log_evidence(data: Summary, log_alpha: Floats, log_beta: Floats) -> Floats:
    """Log density of t ~ N(0, I / beta + Phi Phi^T / alpha).

    It takes one data set with precisions of any shape, or R data sets with R precisions.
    """
    alpha, beta = np.exp(np.asarray(log_alpha))[..., None], np.exp(np.asarray(log_beta))[..., None]
    variance = 1 / beta + data.s2 / alpha
    idle = data.N - data.s2.shape[-1]  # further directions in which there is noise alone
    log_det = np.log(variance).sum(-1) - idle * np.asarray(log_beta)
    square = (data.c2 / variance).sum(-1) + data.rest * beta[..., 0]
    return np.asarray(-(data.N * np.log(2 * np.pi) + log_det + square) / 2)


def search(data: Summary, beta: float | None = None) -> tuple[float, float, float]:
    """Alpha, beta and the log evidence at its highest; the noise is known if beta is given.

    The search starts at the best place of a grid, and uses only values of the evidence.
    """
    if beta is not None:
        known = np.log(beta)
        best = _GRID[shared_log_evidence(data, _GRID, known).argmax()]
        found = minimize_scalar(
            lambda a: -float(shared_log_evidence(data, a, known)),
            bounds=(best - 1, best + 1),
            options={"xatol": 1e-9},
        )
        return float(np.exp(found.x)), beta, -float(found.fun)
    a, b = np.meshgrid(_GRID, np.linspace(-5, 10, 61), indexing="ij")
    place = np.unravel_index(shared_log_evidence(data, a, b).argmax(), a.shape)
    found = minimize(
        lambda u: -float(shared_log_evidence(data, u[0], u[1])),
        [a[place], b[place]],
        method="Nelder-Mead",
        options={"xatol": 1e-7, "fatol": 1e-12, "maxiter": 2000, "maxfev": 4000},
    )
    return float(np.exp(found.x[0])), float(np.exp(found.x[1])), -float(found.fun)


def em_move(Phi: Floats, t: Floats, at: Precisions) -> Floats:
    """Largest relative change by one EM step of the result of direct re-estimation, (R,)."""
    new = re_estimate(Phi, t, at, EM, shared=False, known_noise=False)
    return _moved(new._replace(alpha=np.where(at.kept, new.alpha, at.alpha)), at)
