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


class _Population(NamedTuple):
    """Fits to D data sets at X inputs, the regression function, and probabilities of all."""

    y: Floats  # (D, X)
    h: Floats  # (X,)
    data: Floats  # (D,) probability of a data set
    inputs: Floats  # (X,) probability of an input
    noise: float  # standard deviation


def _population(rng: Generator) -> _Population:
    D, X = int(rng.integers(2, 7)), int(rng.integers(2, 6))
    probabilities = rng.dirichlet(np.ones(D)), rng.dirichlet(np.ones(X))
    return _Population(
        rng.normal(size=(D, X)), rng.normal(size=X), *probabilities, rng.uniform(0.3, 1.5)
    )


def _noise(case: _Population) -> tuple[Floats, Floats, float]:
    """Errors of the targets, their density, and the step between them."""
    e = case.noise * np.linspace(-12, 12, 2001)
    density = np.exp(-0.5 * (e / case.noise) ** 2) / (case.noise * np.sqrt(2 * np.pi))
    return e, density, float(e[1] - e[0])


def _expected_loss(case: _Population) -> Floats:
    """The expected squared loss of each fit, over inputs and targets."""
    e, density, step = _noise(case)
    square = (case.y[..., None] - case.h[:, None] - e) ** 2
    return np.asarray(square @ density * step @ case.inputs)


@equation(
    "2.11",
    section="2.2.2",
    latex=r"E[L] = \int \{y(x) - E[t|x]\}^2 p(x) dx + \iint \{E[t|x] - t\}^2 p(x) dx dt",
    corrected=r"E[L] = \int \{y(x) - E[t|x]\}^2 p(x) dx + \iint \{E[t|x] - t\}^2 p(x, t) dx dt",
    cause="noise-weighted-by-inputs-alone",
)
def loss_and_noise(rng: Generator) -> Sides:
    """The expected loss of a fit is its distance from the conditional mean, and the noise.

    Targets up to twelve standard deviations from their mean are summed.
    """
    case = _population(rng)
    e, density, step = _noise(case)
    distance = (case.y - case.h) ** 2 @ case.inputs
    return Sides(
        truth=_expected_loss(case),
        printed=distance + np.sum(e**2) * step,
        corrected=distance + e**2 @ density * step,
    )


@equation(
    "2.15 to 2.17",
    section="2.2.2",
    latex=r"E_D[\{y(x; D) - h(x)\}^2] = \{E_D[y(x; D) - h(x)]\}^2 + E_D[\{y(x; D) -"
    r" E_D[y(x; D)]\}^2], \quad \text{expected loss} = \text{bias}^2 + \text{variance}"
    r" + \text{noise}",
)
def bias_variance_noise(rng: Generator) -> Sides:
    """The expected loss is squared bias plus variance plus noise, at each input and on average.

    The other route averages the loss over all data sets, inputs and targets.
    """
    case = _population(rng)
    mean = case.data @ case.y
    bias2, variance = (mean - case.h) ** 2, case.data @ (case.y - mean) ** 2
    truth = case.data @ (case.y - case.h) ** 2, case.data @ _expected_loss(case)
    return Sides(
        truth=truth, printed=(bias2 + variance, (bias2 + variance) @ case.inputs + case.noise**2)
    )
