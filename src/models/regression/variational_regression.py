r"""Variational linear regression: known noise, unknown prior precision (PRML 10.3).

    alpha ~ Gam(a_0, b_0),   w | alpha ~ N(0, alpha^-1 I),   t | w ~ N(Phi w, beta^-1 I)

and q(w, alpha) = q(w) q(alpha) with q(alpha) = Gam(a_N, b_N), q(w) = N(m_N, S_N):

    a_N = a_0 + D / 2,   b_N = b_0 + E[w^T w] / 2                                     10.94, 10.95
    m_N = beta S_N Phi^T t,   S_N = (E[alpha] I + beta Phi^T Phi)^-1                10.100, 10.101

Everything depends on Phi = U diag(s) V^T through s and U^T t, so after one decomposition a step
costs a few vectors, for a whole batch of data sets. The bound (10.107) is summed with ln Gamma(a_0)
in (10.110), where the book prints ln Gamma(a_N). For a_0 = b_0 = 0 the prior cannot be normalised;
its constant a_0 ln b_0 - ln Gamma(a_0) is then left out, which is the same for all models.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, logsumexp, psi

from models.em import expectation_maximisation
from models.regression import bayesian_regression
from models.types import Bools, Floats


class VariationalRegression(NamedTuple):
    """q(alpha) of R data sets, and the bound on the way there."""

    a: float  # a_N
    b: Floats  # (R,) b_N; E[alpha] = a / b
    bound: Floats  # (R,) L(q) at the end
    history: Floats  # (R, T + 1) L(q) after each update of q(w); NaN after convergence
    converged: Bools  # (R,)

    @property
    def least_step(self) -> float:
        """The least change of the bound in an iteration, which should not be negative."""
        return float(np.nanmin(np.diff(self.history), initial=0.0))

    def printed_bound(self, a0: float) -> Floats:
        """The bound with ln Gamma(a_N) in (10.110), as the book has it (a_0 > 0)."""
        return np.asarray(self.bound + gammaln(a0) - gammaln(self.a))


class _State(NamedTuple):
    """q(alpha), and what the steps need of the data (the loop drops data sets that converged)."""

    b: Floats  # (R,)
    s2: Floats  # (R, r) squared singular values
    c2: Floats  # (R, r) (U^T t)^2
    rest: Floats  # (R,) squared length of what no weights can explain


class _Moments(NamedTuple):
    w2: Floats  # (R,) E[w^T w]


def fit(
    Phi: Floats,
    t: Floats,
    beta: float,
    a0: float = 0.0,
    b0: float = 0.0,
    *,
    tol: float = 1e-9,
    max_iter: int = 1000,
) -> VariationalRegression:
    """Alternate the two factors for R data sets, Phi (R, N, D) and t (R, N), from E[alpha] = 1.

    Where the data need no weights at all, an improper prior lets E[alpha] grow without end, ever
    more slowly: such a data set does not converge, though its bound settles to a few digits.
    """
    N, D = Phi.shape[-2:]
    U, s, _ = np.linalg.svd(Phi, full_matrices=False)
    c = np.vecmat(t, U)
    rest = t - np.matvec(U, c)
    r = s.shape[-1]
    a = a0 + D / 2  # (10.94)

    def weights_step(state: _State) -> tuple[_Moments, Floats]:
        alpha = a / state.b  # (10.102)
        v = alpha[:, None] + beta * state.s2  # the precisions of q(w) along the columns of V
        m2 = (beta**2 * state.s2 * state.c2 / v**2).sum(-1)  # m_N^T m_N (10.100)
        w2 = m2 + (1 / v).sum(-1) + (D - r) / alpha  # (10.103)
        misfit = state.rest + (state.c2 * (alpha[:, None] / v) ** 2).sum(-1)  # |t - Phi m_N|^2
        log_alpha = psi(a) - np.log(state.b)
        likelihood = N / 2 * np.log(beta / (2 * np.pi)) - beta / 2 * (
            misfit + (state.s2 / v).sum(-1)
        )  # (10.108)
        prior_w = D / 2 * (log_alpha - np.log(2 * np.pi)) - alpha / 2 * w2  # (10.109)
        prior_alpha = (a0 - 1) * log_alpha - b0 * alpha + _log_constant(a0, b0)  # (10.110)
        log_det_S = -np.log(v).sum(-1) - (D - r) * np.log(alpha)
        entropy_w = log_det_S / 2 + D / 2 * (1 + np.log(2 * np.pi))  # (10.111)
        entropy_alpha = gammaln(a) - (a - 1) * psi(a) - np.log(state.b) + a  # (10.112)
        bound = likelihood + prior_w + prior_alpha + entropy_w + entropy_alpha  # (10.107)
        return _Moments(w2), bound

    def precision_step(state: _State, moments: _Moments) -> _State:
        return state._replace(b=b0 + moments.w2 / 2)  # (10.95)

    start = _State(np.full(len(t), a), s**2, c**2, (rest**2).sum(-1))
    run = expectation_maximisation(start, weights_step, precision_step, tol=tol, max_iter=max_iter)
    return VariationalRegression(a, run.theta.b, run.final, run.objective, run.converged)


def log_evidence(Phi: Floats, t: Floats, beta: float, a0: float, b0: float) -> Floats:
    """What L(q) bounds: ln p(t), (...), alpha integrated out numerically (a_0, b_0 > 0)."""
    log_alpha = np.linspace(-40.0, 40.0, 1001)
    given_alpha = bayesian_regression.log_evidence(Phi, t, 1 / beta, np.exp(-log_alpha))
    prior = a0 * log_alpha - b0 * np.exp(log_alpha) + _log_constant(a0, b0)  # density of ln alpha
    step = log_alpha[1] - log_alpha[0]
    shape = (-1, *(1,) * (given_alpha.ndim - 1))
    return np.asarray(logsumexp(given_alpha + prior.reshape(shape), axis=0) + np.log(step))


def _log_constant(a0: float, b0: float) -> float:
    """a_0 ln b_0 - ln Gamma(a_0), or zero for the prior 1 / alpha that has no constant."""
    return float(a0 * np.log(b0) - gammaln(a0)) if a0 > 0 and b0 > 0 else 0.0


class VariationalNoise(NamedTuple):
    """q(alpha) and q(beta) of R data sets, and the bound on the way there."""

    alpha: Floats  # (R,) E[alpha]
    beta: Floats  # (R,) E[beta]
    history: Floats  # (R, T + 1) L(q) after each update of q(w); NaN after convergence
    converged: Bools  # (R,)


class _NoiseState(NamedTuple):
    b: Floats  # (R,) of q(alpha) = Gam(a_N, b)
    d: Floats  # (R,) of q(beta) = Gam(c_N, d)
    s2: Floats
    c2: Floats
    rest: Floats


class _NoiseMoments(NamedTuple):
    w2: Floats  # (R,) E[w^T w]
    error: Floats  # (R,) E|t - Phi w|^2


def fit_noise(
    Phi: Floats,
    t: Floats,
    a0: float = 0.0,
    b0: float = 0.0,
    c0: float = 0.0,
    d0: float = 0.0,
    *,
    tol: float = 1e-9,
    max_iter: int = 1000,
) -> VariationalNoise:
    """Alternate q(w), q(alpha) and q(beta), beta ~ Gam(c_0, d_0) (PRML Exercise 10.26).

    c_N = c_0 + N / 2 and d_N = d_0 + E|t - Phi w|^2 / 2; elsewhere E[beta] stands for beta.
    """
    N, D = Phi.shape[-2:]
    U, s, _ = np.linalg.svd(Phi, full_matrices=False)
    coefficients = np.vecmat(t, U)
    rest = ((t - np.matvec(U, coefficients)) ** 2).sum(-1)
    r = s.shape[-1]
    a, c = a0 + D / 2, c0 + N / 2

    def weights_step(state: _NoiseState) -> tuple[_NoiseMoments, Floats]:
        alpha, beta = a / state.b, c / state.d
        v = alpha[:, None] + beta[:, None] * state.s2
        m2 = ((beta[:, None] / v) ** 2 * state.s2 * state.c2).sum(-1)
        w2 = m2 + (1 / v).sum(-1) + (D - r) / alpha
        error = state.rest + (state.c2 * (alpha[:, None] / v) ** 2).sum(-1) + (state.s2 / v).sum(-1)
        log_alpha, log_beta = psi(a) - np.log(state.b), psi(c) - np.log(state.d)
        bound = N / 2 * (log_beta - np.log(2 * np.pi)) - beta / 2 * error
        bound = bound + D / 2 * (log_alpha - np.log(2 * np.pi)) - alpha / 2 * w2
        log_det_S = -np.log(v).sum(-1) - (D - r) * np.log(alpha)
        bound = bound + log_det_S / 2 + D / 2 * (1 + np.log(2 * np.pi))
        bound = bound + _gamma_terms(a0, b0, a, state.b) + _gamma_terms(c0, d0, c, state.d)
        return _NoiseMoments(w2, error), bound

    def precisions_step(state: _NoiseState, q: _NoiseMoments) -> _NoiseState:
        return state._replace(b=b0 + q.w2 / 2, d=d0 + q.error / 2)

    start = _NoiseState(np.full(len(t), a), np.full(len(t), c), s**2, coefficients**2, rest)
    run = expectation_maximisation(start, weights_step, precisions_step, tol=tol, max_iter=max_iter)
    return VariationalNoise(a / run.theta.b, c / run.theta.d, run.objective, run.converged)


def _gamma_terms(a0: float, b0: float, a: float, b: Floats) -> Floats:
    """E[ln p] - E[ln q] of a precision with prior Gam(a0, b0) and factor Gam(a, b)."""
    log_x = psi(a) - np.log(b)
    prior = (a0 - 1) * log_x - b0 * a / b + _log_constant(a0, b0)
    return np.asarray(prior + gammaln(a) - (a - 1) * psi(a) - np.log(b) + a)
