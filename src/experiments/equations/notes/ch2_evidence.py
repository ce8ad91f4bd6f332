"""Equations of the notes' section 2.2.5: the precisions that maximise the evidence."""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.optimize import brentq

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.types import Floats


class _Case(NamedTuple):
    """A design matrix, targets drawn from the model, and the precisions of weights and noise."""

    Phi: Floats
    t: Floats
    alpha: float
    beta: float


def _case(rng: Generator) -> _Case:
    M = int(rng.integers(2, 5))
    N = int(rng.integers(M + 8, 25))
    Phi = rng.normal(size=(N, M)) * rng.uniform(0.4, 2, M)
    t = Phi @ rng.choice([-1.5, 1.2, 0.9], M) + 0.5 * rng.normal(size=N)
    return _Case(Phi, t, rng.uniform(0.3, 3), rng.uniform(1, 6))


def _log_evidence(case: _Case, alpha: complex, beta: complex) -> complex:
    """The log density of the targets as an analytic function of both precisions."""
    U, s, _ = np.linalg.svd(case.Phi)
    c2, N = (case.t @ U) ** 2, len(case.t)
    variance = np.full(N, 1 / beta, dtype=np.complex128)
    variance[: len(s)] += s**2 / alpha
    return complex(-np.sum(np.log(2 * np.pi * variance) + c2 / variance) / 2)


def _in_alpha(case: _Case, alpha: float) -> float:
    """The derivative of the log evidence in alpha, by a complex step."""
    return _log_evidence(case, alpha + 1e-30j, case.beta).imag / 1e-30


def _in_beta(case: _Case, beta: float) -> float:
    return _log_evidence(case, case.alpha, beta + 1e-30j).imag / 1e-30


def _posterior(case: _Case) -> tuple[Floats, Floats]:
    """m_N and S_N."""
    Phi, t, alpha, beta = case
    S = np.linalg.inv(alpha * np.eye(len(Phi[0])) + beta * Phi.T @ Phi)
    return np.asarray(beta * S @ Phi.T @ t), np.asarray(S, dtype=np.float64)


@equation(
    "2.27, 2.28, 2.33",
    section="2.2.5",
    latex=r"\frac{d}{d\alpha} \ln |\mathbf{A}| = \sum_i \frac{1}{\lambda_i + \alpha}, \quad"
    r" \frac{d}{d\beta} \ln |\mathbf{A}| = \frac{1}{\beta} \sum_i \frac{\lambda_i}{\lambda_i"
    r" + \alpha} = \frac{\gamma}{\beta}, \quad (\beta \mathbf{\Phi}^T \mathbf{\Phi})"
    r" \mathbf{u}_i = \lambda_i \mathbf{u}_i",
)
def log_determinant(rng: Generator) -> Sides:
    """The derivatives of ln|A| in both precisions, by Jacobi's formula from the inverse of A."""
    case = _case(rng)
    _, S = _posterior(case)
    scatter = case.Phi.T @ case.Phi
    values = case.beta * np.linalg.eigvalsh(scatter)
    gamma = np.sum(values / (values + case.alpha))
    printed = np.sum(1 / (values + case.alpha)), gamma / case.beta
    return Sides(truth=(np.trace(S), np.trace(S @ scatter)), printed=printed)


@equation(
    "2.29",
    section="2.2.5",
    latex=r"\frac{d}{d\alpha} \ln p(\mathbf{t}|\alpha, \beta) = \frac{M}{2 \alpha} - \frac{1}{2}"
    r" \mathbf{m}_N^T \mathbf{m}_N - \frac{1}{2} \sum_i \frac{1}{\lambda_i + \alpha}",
)
def evidence_derivative(rng: Generator) -> Sides:
    """The derivative of the log evidence in alpha, which is zero at a stationary point."""
    case = _case(rng)
    m, _ = _posterior(case)
    values = case.beta * np.linalg.eigvalsh(case.Phi.T @ case.Phi)
    printed = len(m) / (2 * case.alpha) - m @ m / 2 - np.sum(1 / (values + case.alpha)) / 2
    return Sides(truth=_in_alpha(case, case.alpha), printed=printed)


@equation(
    "2.30 to 2.32, 2.34",
    section="2.2.5",
    latex=r"\alpha = \frac{\gamma}{\mathbf{m}_N^T \mathbf{m}_N}, \quad \frac{1}{\beta} ="
    r" \frac{1}{N - \gamma} \sum_{n=1}^N \{t_n - \mathbf{m}_N^T \mathbf{\phi}(\mathbf{x}_n)\}^2,"
    r" \quad \gamma = \sum_i \frac{\lambda_i}{\alpha + \lambda_i}",
)
def stationary_precisions(rng: Generator) -> Sides:
    """Alpha and beta where the evidence is stationary in each of them.

    The other route finds where the derivative of the evidence changes its sign.
    """
    case = _case(rng)
    alpha = brentq(lambda a: _in_alpha(case, a), 1e-6, 1e6, xtol=1e-14)
    beta = brentq(lambda b: _in_beta(case, b), 1e-4, 1e4, xtol=1e-14)
    found = []
    for at in (case._replace(alpha=alpha), case._replace(beta=beta)):
        (m, _), error = _posterior(at), 0.0
        values = at.beta * np.linalg.eigvalsh(at.Phi.T @ at.Phi)
        gamma = np.sum(values / (at.alpha + values))
        error = np.sum((at.t - at.Phi @ m) ** 2)
        found.append((gamma / (m @ m), (len(at.t) - gamma) / error))
    return Sides(truth=(alpha, beta), printed=(found[0][0], found[1][1]))
