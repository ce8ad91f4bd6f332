"""Equations of PRML 9.3.4: EM for Bayesian linear regression and the relevance vector machine."""

from typing import NamedTuple

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.random import Generator
from scipy.optimize import brentq
from scipy.stats import norm

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.types import Floats


class _Case(NamedTuple):
    """A design matrix, targets, and old precisions of the weights and of the noise."""

    Phi: Floats
    t: Floats
    alpha: Floats
    beta: float


def _case(rng: Generator, *, shared: bool) -> _Case:
    M = int(rng.integers(1, 4))
    N = int(rng.integers(M + 6, 16))
    Phi = rng.normal(size=(N, M)) * rng.uniform(0.5, 2, M)
    t = Phi @ rng.choice([-1.5, 1.2, 0.9], M) + 0.5 * rng.normal(size=N)
    alpha = np.full(M, rng.uniform(0.3, 3)) if shared else rng.uniform(0.3, 3, M)
    return _Case(Phi, t, alpha, rng.uniform(0.5, 6))


def _posterior(case: _Case) -> tuple[Floats, Floats]:
    Phi, t, alpha, beta = case
    S = np.linalg.inv(np.diag(alpha) + beta * Phi.T @ Phi)
    return np.asarray(beta * S @ Phi.T @ t), np.asarray(S, dtype=np.float64)


def _nodes(case: _Case) -> tuple[Floats, Floats]:
    """Weights w (K, M) and probabilities, which average quadratic functions exactly."""
    m, S = _posterior(case)
    node, weight = hermegauss(3)
    M = len(m)
    z = np.stack(np.meshgrid(*[node] * M, indexing="ij"), axis=-1).reshape(-1, M)
    p = np.prod(np.stack(np.meshgrid(*[weight] * M, indexing="ij"), axis=-1), axis=-1).ravel()
    return m + z @ np.linalg.cholesky(S).T, p / p.sum()


def _expected(case: _Case, alpha: Floats, beta: float) -> float:
    """The complete-data log likelihood at other precisions, averaged over the posterior."""
    w, p = _nodes(case)
    log_t = norm(w @ case.Phi.T, 1 / np.sqrt(beta)).logpdf(case.t).sum(axis=-1)
    return float(p @ (log_t + norm(0, 1 / np.sqrt(alpha)).logpdf(w).sum(axis=-1)))


@equation(
    "9.61, 9.62",
    section="9.3.4",
    latex=r"E[\ln p(\mathbf{t}, \mathbf{w}|\alpha, \beta)] = \frac{M}{2} \ln"
    r" \left( \frac{\alpha}{2 \pi} \right) - \frac{\alpha}{2} E[\mathbf{w}^T \mathbf{w}] +"
    r" \frac{N}{2} \ln \left( \frac{\beta}{2 \pi} \right) - \frac{\beta}{2} \sum_{n=1}^N"
    r" E[(t_n - \mathbf{w}^T \mathbf{\phi}_n)^2]",
)
def expected_complete_data(rng: Generator) -> Sides:
    """The expected complete-data log likelihood, at precisions other than the posterior's.

    The other route averages log densities over the posterior by quadrature.
    """
    case = _case(rng, shared=True)
    alpha, beta = rng.uniform(0.3, 3, 2)
    (m, S), (N, M) = _posterior(case), case.Phi.shape
    error = np.sum((case.t - case.Phi @ m) ** 2) + np.trace(case.Phi @ S @ case.Phi.T)
    printed = M / 2 * np.log(alpha / (2 * np.pi)) - alpha / 2 * (m @ m + np.trace(S))
    printed += N / 2 * np.log(beta / (2 * np.pi)) - beta / 2 * error
    return Sides(truth=_expected(case, np.full(M, alpha), beta), printed=printed)


def _slope(case: _Case, direction: Floats, u: float) -> float:
    """Difference of the expected log likelihood in the log of some precisions, in which it is u."""
    h, ends = 1e-3, []
    for v in (u - h, u + h):
        alpha, beta = case.alpha.copy(), case.beta
        alpha[direction[:-1] > 0] = np.exp(v)
        beta = np.exp(v) if direction[-1] > 0 else beta
        ends.append(_expected(case, alpha, float(beta)))
    return ends[1] - ends[0]


@equation(
    "9.63",
    section="9.3.4",
    latex=r"\alpha = \frac{M}{E[\mathbf{w}^T \mathbf{w}]} = \frac{M}{\mathbf{m}_N^T \mathbf{m}_N"
    r" + Tr(\mathbf{S}_N)}",
    within=1e-5,
)
def shared_m_step(rng: Generator) -> Sides:
    """The precision of the weights that maximises the expected complete-data log likelihood.

    The other route finds where differences of the averaged log densities change their sign.
    """
    case = _case(rng, shared=True)
    (m, S), M = _posterior(case), len(case.alpha)
    direction = np.append(np.ones(M), 0.0)
    best = np.exp(brentq(lambda u: _slope(case, direction, u), -8, 8, xtol=1e-12))
    return Sides(truth=best, printed=M / (m @ m + np.trace(S)))


@equation(
    "9.64, 9.65",
    section="9.3.4",
    latex=r"\gamma = M - \alpha \sum_{i=1}^M \frac{1}{\lambda_i + \alpha} = M - \alpha"
    r" Tr(\mathbf{S}_N), \quad \alpha \mathbf{m}_N^T \mathbf{m}_N = \gamma",
)
def gamma_at_the_maximum(rng: Generator) -> Sides:
    """Gamma by eigenvalues and by the trace, and its value where the evidence is stationary.

    At the stationary point, found with the derivative of the evidence, (9.63) holds as well.
    """
    case = _case(rng, shared=True)
    U, s, _ = np.linalg.svd(case.Phi)
    c2, N, M = (case.t @ U) ** 2, len(case.t), len(case.alpha)

    def slope(alpha: float) -> float:
        variance = np.full(N, 1 / case.beta, dtype=np.complex128)
        variance[:M] += s**2 / (alpha + 1e-30j)
        return float(-np.sum(np.log(variance) + c2 / variance).imag)

    alpha = brentq(slope, 1e-6, 1e6, xtol=1e-14)
    at = case._replace(alpha=np.full(M, alpha))
    (m, S), values = _posterior(at), case.beta * np.linalg.eigvalsh(case.Phi.T @ case.Phi)
    gamma = M - alpha * np.sum(1 / (values + alpha))
    truth = gamma, gamma, alpha
    return Sides(
        truth=truth,
        printed=(M - alpha * np.trace(S), alpha * m @ m, M / (m @ m + np.trace(S))),
    )


@equation(
    "9.66 to 9.68",
    section="9.3.4",
    latex=r"\alpha_i^{new} = \frac{1}{m_i^2 + \Sigma_{ii}}, \quad (\beta^{new})^{-1} ="
    r" \frac{\|\mathbf{t} - \mathbf{\Phi m}_N\|^2 + \beta^{-1} \sum_i \gamma_i}{N}",
    within=1e-5,
)
def relevance_m_step(rng: Generator) -> Sides:
    """The precisions that maximise the expected complete-data log likelihood, one for each weight.

    The other route finds where differences of the averaged log densities change their sign.
    """
    case = _case(rng, shared=False)
    (m, S), (N, M) = _posterior(case), case.Phi.shape
    gamma = 1 - case.alpha * np.diag(S)
    variance = (np.sum((case.t - case.Phi @ m) ** 2) + np.sum(gamma) / case.beta) / N
    best = [
        np.exp(brentq(lambda u, d=d: _slope(case, d, u), -8, 8, xtol=1e-12)) for d in np.eye(M + 1)
    ]
    printed = [*(1 / (m**2 + np.diag(S))), 1 / variance]
    return Sides(truth=tuple(best), printed=tuple(printed))
