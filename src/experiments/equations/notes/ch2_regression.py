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


def _conditioned(case: _Case, phi: Floats) -> tuple[Floats, Floats, float, float]:
    """Mean and covariance of w, and mean and variance of a new target, given the targets.

    They are those of the joint Gaussian of weights, targets and the new target.
    """
    Phi, t, alpha, beta = case
    gain = np.linalg.solve(Phi @ Phi.T / alpha + np.eye(len(t)) / beta, Phi / alpha)
    mean, covariance = gain.T @ t, np.eye(Phi.shape[1]) / alpha - gain.T @ Phi / alpha
    return mean, covariance, float(phi @ mean), float(phi @ covariance @ phi + 1 / beta)


@equation(
    "2.18, 2.19",
    section="2.2.3",
    latex=r"p(\mathbf{w}|\mathbf{t}) = N(\mathbf{w}|\mathbf{m}_N, \mathbf{S}_N), \quad \mathbf{m}_N"
    r" = \mathbf{S}_N (\mathbf{S}_0^{-1} \mathbf{m}_0 + \beta \mathbf{\Phi}^T \mathbf{t}), \quad"
    r" \mathbf{S}_N^{-1} = \mathbf{S}_0^{-1} + \beta \mathbf{\Phi}^T \mathbf{\Phi}",
)
def weight_posterior(rng: Generator) -> Sides:
    """The posterior of the weights is proportional to prior times likelihood.

    Log densities at four random weights are compared with that of a fifth.
    """
    case = _case(rng)
    Phi, t, _, beta = case
    M = Phi.shape[1]
    root, m0 = rng.normal(size=(M, M)), rng.normal(size=M)
    S0 = root @ root.T + 0.3 * np.eye(M)
    S = np.linalg.inv(np.linalg.inv(S0) + beta * Phi.T @ Phi)
    m = S @ (np.linalg.solve(S0, m0) + beta * Phi.T @ t)
    w = m + rng.normal(size=(5, M))
    noise = np.eye(len(t)) / beta
    likelihood = np.array([multivariate_normal(Phi @ v, noise).logpdf(t) for v in w])
    joint = likelihood + multivariate_normal(m0, S0).logpdf(w)
    printed = multivariate_normal(m, S).logpdf(w)
    return Sides(truth=joint[1:] - joint[0], printed=printed[1:] - printed[0])


@equation(
    "2.20",
    section="2.2.3",
    latex=r"p(t|\mathbf{t}, \alpha, \beta) = \int p(t|\mathbf{w}, \beta) p(\mathbf{w}|\mathbf{t},"
    r" \alpha, \beta) d\mathbf{w}",
)
def predictive(rng: Generator) -> Sides:
    """The predictive density is an integral over the posterior of the weights.

    The integral is a sum over a grid of one weight; the other route is the joint Gaussian.
    """
    case = _case(rng)
    case = case._replace(Phi=case.Phi[:, :1])
    phi, beta = rng.normal(size=1), case.beta
    mean, covariance, centre, variance = _conditioned(case, phi)
    new = centre + rng.normal()
    w = mean[0] + np.sqrt(covariance[0, 0]) * np.linspace(-12, 12, 4001)
    residuals = case.t - w[:, None] * case.Phi[:, 0]
    log_p = -(beta * (residuals**2).sum(-1) + case.alpha * w**2) / 2
    p = np.exp(log_p - log_p.max())
    density = np.exp(-beta / 2 * (new - w * phi[0]) ** 2) * np.sqrt(beta / (2 * np.pi))
    truth = multivariate_normal(centre, variance).pdf(new)
    return Sides(truth=truth, printed=p @ density / p.sum())


@equation(
    "section 2.2.3, equivalent kernel",
    section="2.2.3",
    latex=r"y(\mathbf{x}, \mathbf{m}_N) = \mathbf{m}_N^T \mathbf{\phi}(\mathbf{x}) = \sum_{n=1}^N"
    r" k(\mathbf{x}, \mathbf{x}_n) t_n, \quad k(\mathbf{x}, \mathbf{x}') = \beta"
    r" \mathbf{\phi}(\mathbf{x})^T \mathbf{S}_N \mathbf{\phi}(\mathbf{x}')",
)
def equivalent_kernel(rng: Generator) -> Sides:
    """The predictive mean is a sum of the targets, each times the kernel of its input.

    The kernel of a target is the change of the mean prediction by a unit of it.
    """
    case = _case(rng)
    Phi, t, alpha, beta = case
    phi = rng.normal(size=len(Phi[0]))
    S = np.linalg.inv(alpha * np.eye(len(phi)) + beta * Phi.T @ Phi)
    kernel = beta * phi @ S @ Phi.T
    centre = _conditioned(case, phi)[2]
    moved = [_conditioned(case._replace(t=t + e), phi)[2] - centre for e in np.eye(len(t))]
    return Sides(truth=(centre, np.array(moved)), printed=(kernel @ t, kernel))
