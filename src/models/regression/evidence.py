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
zero, and whatever its alpha, nothing of it is left in the evidence.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize, minimize_scalar

from models.em import take
from models.types import Bools, Floats, Ints

DIRECT, EM = METHODS = ("direct", "em")
REMOVED = 1e9  # a precision from which on a weight is taken for zero
_GRID = np.linspace(-15, 20, 71)  # of ln alpha, where a search begins


class Precisions(NamedTuple):
    """Of R data sets with M weights."""

    alpha: Floats  # (R, M)
    beta: Floats  # (R,)
    kept: Bools  # (R, M) weights that are not removed


class Posterior(NamedTuple):
    """p(w | t) = N(m, S) of R data sets."""

    m: Floats  # (R, M)
    S: Floats  # (R, M, M)


class Maximised(NamedTuple):
    """Where re-estimation ended, and the evidence on the way."""

    at: Precisions
    log_evidence: Floats  # (R,)
    history: Floats  # (R, T + 1) NaN after a data set came to rest
    first: Precisions  # after one step
    iterations: Ints  # (R,)
    converged: Bools  # (R,)


def started(Phi: Floats, alpha: float, beta: float) -> Precisions:
    """The same precisions for all weights of all data sets (R, N, M)."""
    R, _, M = Phi.shape
    return Precisions(np.full((R, M), alpha), np.full(R, beta), np.ones((R, M), dtype=bool))


def posterior(Phi: Floats, t: Floats, at: Precisions) -> Posterior:
    """The posterior of the weights, removed ones at zero but for a variance that nothing sees."""
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
    """Re-estimate until no precision moves by a share of `tol`: evidence rests long before them."""
    if shared:
        return _maximise_shared(Phi, t, start, method, known_noise, tol, max_iter)
    R = len(t)
    end = Precisions(start.alpha.copy(), start.beta.copy(), start.kept.copy())
    history = np.full((R, max_iter + 1), np.nan)
    history[:, 0] = log_evidence(Phi, t, end)
    iterations, active, at = np.zeros(R, dtype=np.int64), np.arange(R), end
    first = re_estimate(Phi, t, at, method, shared=shared, known_noise=known_noise)
    for k in range(1, max_iter + 1):
        some = Phi[active], t[active]
        new = re_estimate(*some, at, method, shared=shared, known_noise=known_noise)
        history[active, k], iterations[active] = log_evidence(*some, new), k
        change = np.maximum(
            np.abs(np.log(new.alpha / at.alpha)).max(-1), np.abs(np.log(new.beta / at.beta))
        )
        for field, value in zip(end, new, strict=True):
            field[active] = value
        going = change > tol
        active, at = active[going], take(new, going)
        if not active.size:
            break
    history = history[:, : iterations.max() + 1]
    final = history[np.arange(R), iterations]
    return Maximised(end, final, history, first, iterations, ~np.isin(np.arange(R), active))


class _Spectrum(NamedTuple):
    """All that a shared alpha needs of R data sets, and where it is."""

    alpha: Floats  # (R,)
    beta: Floats  # (R,)
    s2: Floats  # (R, r) squared singular values of Phi
    c2: Floats  # (R, r) squared components of t along its left singular vectors
    rest: Floats  # (R,) what no weights can explain


def _spectrum(Phi: Floats, t: Floats, start: Precisions) -> _Spectrum:
    U, s, _ = np.linalg.svd(Phi, full_matrices=False)
    c = np.vecmat(t, U)
    rest = ((t - np.matvec(U, c)) ** 2).sum(-1)
    return _Spectrum(start.alpha[:, 0].copy(), start.beta.copy(), s**2, c**2, rest)


def _shared_step(at: _Spectrum, method: str, N: int, M: int, known_noise: bool) -> _Spectrum:
    """One re-estimation of the shared alpha, and of beta: a few vectors along the spectrum."""
    values = at.beta[:, None] * at.s2
    precision = at.alpha[:, None] + values  # of the weights along the right singular vectors
    gamma = (values / precision).sum(-1)
    m2 = (at.beta[:, None] * values * at.c2 / precision**2).sum(-1)
    error = at.rest + (at.c2 * (at.alpha[:, None] / precision) ** 2).sum(-1)
    if method == EM:
        trace = (1 / precision).sum(-1) + (M - at.s2.shape[1]) / at.alpha
        alpha, variance = M / (m2 + trace), (error + gamma / at.beta) / N  # (9.63), (9.68)
    else:
        alpha, variance = gamma / m2, error / (N - gamma)  # notes 2.32, 2.34
    return at._replace(alpha=alpha, beta=at.beta if known_noise else 1 / variance)


def _shared_evidence(at: _Spectrum, N: int) -> Floats:
    """Log density of t ~ N(0, I / beta + Phi Phi^T / alpha), (R,)."""
    variance = 1 / at.beta[:, None] + at.s2 / at.alpha[:, None]
    log_det = np.log(variance).sum(-1) - (N - at.s2.shape[1]) * np.log(at.beta)
    square = (at.c2 / variance).sum(-1) + at.rest * at.beta
    return np.asarray(-(N * np.log(2 * np.pi) + log_det + square) / 2)


def _maximise_shared(
    Phi: Floats,
    t: Floats,
    start: Precisions,
    method: str,
    known_noise: bool,
    tol: float,
    max_iter: int,
) -> Maximised:
    R, N, M = Phi.shape
    end = _spectrum(Phi, t, start)
    history = np.full((R, max_iter + 1), np.nan)
    history[:, 0] = _shared_evidence(end, N)
    first = _shared_step(end, method, N, M, known_noise)
    iterations, active, at = np.zeros(R, dtype=np.int64), np.arange(R), end
    for k in range(1, max_iter + 1):
        new = _shared_step(at, method, N, M, known_noise)
        history[active, k], iterations[active] = _shared_evidence(new, N), k
        change = np.maximum(*(np.abs(np.log(n / o)) for n, o in zip(new[:2], at[:2], strict=True)))
        going = change > tol
        at = new
        if not going.all():
            end.alpha[active], end.beta[active] = new.alpha, new.beta
            active, at = active[going], take(new, going)
        if not active.size:
            break
    end.alpha[active], end.beta[active] = at.alpha, at.beta
    history = history[:, : iterations.max() + 1]
    whole = [
        Precisions(np.repeat(one.alpha[:, None], M, axis=1), one.beta, start.kept.copy())
        for one in (end, first)
    ]
    rests = ~np.isin(np.arange(R), active)
    return Maximised(
        whole[0], history[np.arange(R), iterations], history, whole[1], iterations, rests
    )


class Summary(NamedTuple):
    """All that the evidence of a shared alpha needs of one data set."""

    s2: Floats  # (r,) squared singular values of Phi
    c2: Floats  # (r,) squared components of t along its left singular vectors
    rest: float  # what no weights can explain
    N: int
    M: int


def summary(Phi: Floats, t: Floats) -> Summary:
    """Of one data set, Phi (N, M) and t (N,)."""
    U, s, _ = np.linalg.svd(Phi, full_matrices=False)
    c = t @ U
    return Summary(s**2, c**2, float(((t - U @ c) ** 2).sum()), *Phi.shape)


def shared_log_evidence(data: Summary, log_alpha: Floats, log_beta: Floats) -> Floats:
    """Log density of t ~ N(0, I / beta + Phi Phi^T / alpha), for any shape of precisions."""
    alpha, beta = np.exp(np.asarray(log_alpha))[..., None], np.exp(np.asarray(log_beta))[..., None]
    variance = 1 / beta + data.s2 / alpha
    idle = data.N - len(data.s2)  # directions in which there is noise alone
    log_det = np.log(variance).sum(-1) - idle * np.asarray(log_beta)
    square = (data.c2 / variance).sum(-1) + data.rest * beta[..., 0]
    return np.asarray(-(data.N * np.log(2 * np.pi) + log_det + square) / 2)


def search(data: Summary, beta: float | None = None) -> tuple[float, float, float]:
    """Alpha, beta and the log evidence at its highest; the noise is known if beta is given.

    From the best place of a grid, with nothing but the values of the evidence.
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


def m_step_slopes(Phi: Floats, t: Floats, at: Precisions) -> tuple[Floats, Floats]:
    """Where EM's step is off the maximum of the expected complete-data log likelihood (9.66).

    Newton steps by differences in ln alpha_i, the largest, and in ln beta; each of shape (R,).
    """
    q = posterior(Phi, t, at)
    new = re_estimate(Phi, t, at, EM, shared=False, known_noise=False)
    S_ii = np.diagonal(q.S, axis1=-2, axis2=-1)
    spread = np.einsum("rnm,rmk,rnk->r", Phi, q.S, Phi)  # Tr(Phi^T Phi S)
    step, N = 1e-3, t.shape[-1]

    def of_alpha(log_alpha: Floats) -> Floats:
        return np.asarray((log_alpha - np.exp(log_alpha) * (q.m**2 + S_ii)) / 2)

    def of_beta(log_beta: Floats) -> Floats:
        expected = misfit(Phi, t, q.m) + spread
        return np.asarray((N * log_beta - np.exp(log_beta) * expected) / 2)

    found = []
    for height, u in ((of_alpha, np.log(new.alpha)), (of_beta, np.log(new.beta))):
        up, here, down = (height(u + shift) for shift in (step, 0.0, -step))
        found.append(np.abs((up - down) * step / (2 * (up + down - 2 * here))))
    return found[0].max(-1), found[1]


def em_move(Phi: Floats, t: Floats, at: Precisions) -> Floats:
    """How far one EM step moves what direct re-estimation ended with: largest share, (R,)."""
    new = re_estimate(Phi, t, at, EM, shared=False, known_noise=False)
    alpha = np.where(at.kept, np.abs(np.log(new.alpha / at.alpha)), 0.0).max(-1)
    return np.asarray(np.maximum(alpha, np.abs(np.log(new.beta / at.beta))))
