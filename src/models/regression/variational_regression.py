r"""Variational linear regression: unknown prior precision, noise known or not (PRML 10.3).

    alpha ~ Gam(a_0, b_0),   w | alpha ~ N(0, alpha^-1 I),   t | w ~ N(Phi w, beta^-1 I)

and q(w, alpha) = q(w) q(alpha) with q(alpha) = Gam(a_N, b_N), q(w) = N(m_N, S_N):

    a_N = a_0 + D / 2,   b_N = b_0 + E[w^T w] / 2                                     10.94, 10.95
    m_N = beta S_N Phi^T t,   S_N = (E[alpha] I + beta Phi^T Phi)^-1                10.100, 10.101

An unknown beta ~ Gam(c_0, d_0) has a factor Gam(c_N, d_N) as well (Exercise 10.26):

    c_N = c_0 + N / 2,   d_N = d_0 + E|t - Phi w|^2 / 2

and its mean replaces beta in the other factors.

Everything depends on Phi = U diag(s) V^T through s and U^T t, so after one decomposition a step
costs a few vectors, for a whole batch of data sets. The bound (10.107) is summed with ln Gamma(a_0)
in (10.110), where the book prints ln Gamma(a_N). For a_0 = b_0 = 0 the prior cannot be normalised;
its constant a_0 ln b_0 - ln Gamma(a_0) is then left out, which is the same for all models.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, logsumexp, psi

from bythebook.models.convergence import warn_not_converged
from bythebook.models.em import expectation_maximisation
from bythebook.models.regression import bayesian_regression
from bythebook.models.types import Bools, Floats


class VariationalRegression(NamedTuple):
    """q(alpha), and the precision of the noise, of R data sets, and the bound's history."""

    a: float  # a_N
    b: Floats  # (R,) b_N; E[alpha] = a / b
    beta: Floats  # (R,) E[beta], or the known beta
    bound: Floats  # (R,) L(q) at the end
    history: Floats  # (R, T + 1) L(q) after each update of q(w); NaN after convergence
    converged: Bools  # (R,)


class _State(NamedTuple):
    """The precisions' factors, and the data (the loop drops data sets that converged)."""

    b: Floats  # (R,)
    d: Floats  # (R,)
    s2: Floats  # (R, D) squared singular values, zero in directions without data
    c2: Floats  # (R, D) (U^T t)^2
    rest: Floats  # (R,) squared residual of the best weights


class _Moments(NamedTuple):
    w2: Floats  # (R,) E[w^T w]
    error: Floats  # (R,) E|t - Phi w|^2


def fit(
    Phi: Floats,
    t: Floats,
    beta: float | None,
    a0: float = 0.0,
    b0: float = 0.0,
    c0: float = 0.0,
    d0: float = 0.0,
    *,
    tol: float = 1e-9,
    max_iter: int = 1000,
) -> VariationalRegression:
    """Alternate the factors for R data sets, Phi (R, N, D) and t (R, N), from precisions of one.

    The noise has the precision beta, or its own factor. Where the data need no weights at all, an
    improper prior lets E[alpha] grow without limit, at a decreasing rate: such a data set does not
    converge, though its bound converges to a few digits.
    """
    R, N, D = Phi.shape
    U, s, _ = np.linalg.svd(Phi, full_matrices=False)
    along = np.vecmat(t, U)
    s2, c2 = np.zeros((2, R, D))
    s2[:, : s.shape[-1]], c2[:, : s.shape[-1]] = s**2, along**2
    rest = t - np.matvec(U, along)
    a, c = a0 + D / 2, c0 + N / 2  # (10.94)

    def weights_step(state: _State) -> tuple[_Moments, Floats]:
        alpha, noise = a / state.b, c / state.d  # (10.102)
        log_alpha, log_noise = psi(a) - np.log(state.b), psi(c) - np.log(state.d)
        v = alpha[:, None] + noise[:, None] * state.s2  # precisions of q(w) along the columns of V
        m2 = ((noise[:, None] / v) ** 2 * state.s2 * state.c2).sum(-1)  # m_N^T m_N (10.100)
        w2 = m2 + (1 / v).sum(-1)  # (10.103)
        error = state.rest + (state.c2 * (alpha[:, None] / v) ** 2 + state.s2 / v).sum(-1)
        if beta is not None:
            log_noise = np.log(noise)
        likelihood = N / 2 * (log_noise - np.log(2 * np.pi)) - noise / 2 * error  # (10.108)
        prior_w = D / 2 * (log_alpha - np.log(2 * np.pi)) - alpha / 2 * w2  # (10.109)
        entropy_w = -np.log(v).sum(-1) / 2 + D / 2 * (1 + np.log(2 * np.pi))  # (10.111)
        bound = likelihood + prior_w + entropy_w + _gamma_terms(a0, b0, a, state.b)  # (10.107)
        if beta is None:
            bound = bound + _gamma_terms(c0, d0, c, state.d)
        return _Moments(w2, error), bound

    def precisions_step(state: _State, q: _Moments) -> _State:
        d = d0 + q.error / 2 if beta is None else state.d
        return state._replace(b=b0 + q.w2 / 2, d=d)  # (10.95)

    start = _State(np.full(R, a), np.full(R, c / (beta or 1.0)), s2, c2, (rest**2).sum(-1))
    run = expectation_maximisation(start, weights_step, precisions_step, tol=tol, max_iter=max_iter)
    end, unmet = run.theta, int((~run.converged).sum())
    warn_not_converged("variational regression", iterations=max_iter, tol=tol, fits=unmet)
    return VariationalRegression(a, end.b, c / end.d, run.final, run.objective, run.converged)


def _gamma_terms(a0: float, b0: float, a: float, b: Floats) -> Floats:
    """E[ln p] - E[ln q] of a precision with prior Gam(a0, b0) and factor Gam(a, b)."""
    prior = (a0 - 1) * (psi(a) - np.log(b)) - b0 * a / b + _log_constant(a0, b0)  # (10.110)
    return np.asarray(prior + gammaln(a) - (a - 1) * psi(a) - np.log(b) + a)  # (10.112)


def log_evidence(Phi: Floats, t: Floats, beta: float, a0: float, b0: float) -> Floats:
    """The log evidence ln p(t), (...), alpha integrated out numerically (a_0, b_0 > 0)."""
    log_alpha = np.linspace(-40.0, 40.0, 1001)
    given_alpha = bayesian_regression.log_evidence(Phi, t, 1 / beta, np.exp(-log_alpha))
    prior = a0 * log_alpha - b0 * np.exp(log_alpha) + _log_constant(a0, b0)  # density of ln alpha
    step = log_alpha[1] - log_alpha[0]
    shape = (-1, *(1,) * (given_alpha.ndim - 1))
    return np.asarray(logsumexp(given_alpha + prior.reshape(shape), axis=0) + np.log(step))


def _log_constant(a0: float, b0: float) -> float:
    """a_0 ln b_0 - ln Gamma(a_0), or zero for the prior 1 / alpha that has no constant."""
    return float(a0 * np.log(b0) - gammaln(a0)) if a0 > 0 and b0 > 0 else 0.0
