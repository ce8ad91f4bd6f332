"""Equations of the notes' sections 2.2.2 to 2.2.5: Bayesian linear regression and its evidence."""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.stats import multivariate_normal

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.types import Floats


class _Case(NamedTuple):
    """A design matrix, targets, and the precisions of weights and noise."""

    Phi: Floats
    t: Floats
    alpha: float
    beta: float


def _case(rng: Generator) -> _Case:
    N, M = int(rng.integers(3, 12)), int(rng.integers(1, 5))
    Phi, t = rng.normal(size=(N, M)), rng.normal(1, 2, N)
    return _Case(Phi, t, rng.uniform(0.2, 3), rng.uniform(0.2, 3))


def _log_evidence(case: _Case) -> float:
    """The density of the targets, the weights integrated out."""
    Phi, t, alpha, beta = case
    covariance = np.eye(len(t)) / beta + Phi @ Phi.T / alpha
    return float(multivariate_normal(np.zeros(len(t)), covariance).logpdf(t))


@equation(
    "2.23 to 2.26",
    section="2.2.5",
    latex=r"\ln p(\mathbf{t}|\alpha, \beta) = \frac{M}{2} \ln \alpha + \frac{N}{2} \ln \beta"
    r" - E(\mathbf{m}_N) - \frac{1}{2} \ln |\mathbf{A}| - \frac{N}{2} \ln(2\pi), \quad"
    r" E(\mathbf{m}_N) = \frac{\beta}{2} \|\mathbf{t} - \mathbf{\Phi} \mathbf{m}_N\|^2"
    r" + \frac{\alpha}{2} \mathbf{m}_N^T \mathbf{m}_N, \quad \mathbf{A} = \nabla \nabla"
    r" E(\mathbf{w}), \quad \mathbf{m}_N = \beta \mathbf{A}^{-1} \mathbf{\Phi}^T \mathbf{t}",
)
def log_evidence(rng: Generator) -> Sides:
    """The log evidence of a linear model is the sum of five terms.

    The other route is the Gaussian density of the targets. The Hessian of E(w), which is
    quadratic, comes from differences.
    """
    case = _case(rng)
    Phi, t, alpha, beta = case
    N, M = Phi.shape

    def E(w: Floats) -> Floats:
        square = np.sum((t - w @ Phi.T) ** 2, axis=-1)
        return np.asarray(beta / 2 * square + alpha / 2 * np.sum(w**2, axis=-1))

    eye = np.eye(M)
    A = E(eye[:, None] + eye) - E(eye)[:, None] - E(eye) + E(np.zeros(M))
    m = np.asarray(beta * np.linalg.solve(A, Phi.T @ t), dtype=np.float64)
    logs = M / 2 * np.log(alpha) + N / 2 * np.log(beta) - N / 2 * np.log(2 * np.pi)
    printed = logs - E(m) - np.linalg.slogdet(A).logabsdet / 2
    return Sides(truth=_log_evidence(case), printed=printed)
