"""Equations of Ghahramani 11.1, the Laplace approximation."""

import numpy as np
from numpy.random import Generator
from scipy.integrate import quad
from scipy.stats import beta, multivariate_normal

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.types import Floats


def _regression(rng: Generator) -> tuple[Floats, Floats, Floats, float]:
    """Inputs, responses, the covariance of the prior, and the noise of a linear regression."""
    d, N = int(rng.integers(1, 4)), int(rng.integers(4, 9))
    root = rng.normal(size=(d, d))
    x = rng.normal(size=(N, d))
    return x, rng.normal(0, 2, N), root @ root.T + 0.5 * np.eye(d), rng.uniform(0.5, 2)


def _log_joint(case: tuple[Floats, Floats, Floats, float], theta: Floats) -> float:
    x, y, S0, noise = case
    prior = multivariate_normal(np.zeros(len(S0)), S0).logpdf(theta)
    return float(multivariate_normal(x @ theta, noise * np.eye(len(y))).logpdf(y) + prior)


def _at_the_mode(case: tuple[Floats, Floats, Floats, float]) -> tuple[Floats, Floats]:
    """The MAP estimate in closed form, and minus the Hessian by differences (52)."""
    x, y, S0, noise = case
    theta = np.linalg.solve(x.T @ x / noise + np.linalg.inv(S0), x.T @ y / noise)
    e, h = np.eye(len(S0)), 0.1  # the log of the joint density is a parabola

    def second(a: Floats, b: Floats) -> float:
        ends = [
            s * r * _log_joint(case, theta + h * (s * a + r * b)) for s in (1, -1) for r in (1, -1)
        ]
        return sum(ends) / (4 * h**2)

    return np.asarray(theta), -np.array([[second(a, b) for b in e] for a in e])


@equation(
    "51, 52",
    section="11.1",
    latex=r"p(\theta|\mathcal{D}, m) \approx (2 \pi)^{-\frac{d}{2}} |A|^{\frac{1}{2}} \exp"
    r" \left\{ -\frac{1}{2} (\theta - \hat{\theta})^T A (\theta - \hat{\theta}) \right\}",
    within=1e-7,
)
def gaussian_posterior(rng: Generator) -> Sides:
    """The Gaussian about the MAP estimate, for linear regression, where it is exact.

    The truth conditions the joint Gaussian of responses and weights on the responses.
    """
    case = _regression(rng)
    x, y, S0, noise = case
    gain = np.linalg.solve(x @ S0 @ x.T + noise * np.eye(len(y)), x @ S0).T
    exact = multivariate_normal(gain @ y, S0 - gain @ x @ S0)
    hat, A = _at_the_mode(case)
    theta, d = hat + rng.normal(size=(5, len(hat))), len(hat)
    square = np.einsum("ki,ij,kj->k", theta - hat, A, theta - hat)
    log = -d / 2 * np.log(2 * np.pi) + np.linalg.slogdet(A)[1] / 2 - 1 / 2 * square
    return Sides(truth=exact.logpdf(theta), printed=log)


@equation(
    "53",
    section="11.1",
    latex=r"p(\mathcal{D}|m) = \frac{p(\theta, \mathcal{D}|m)}{p(\theta|\mathcal{D}, m)}",
)
def evidence_at_any_parameter(rng: Generator) -> Sides:
    """Joint density over posterior at several parameters of a coin, against an integral."""
    (a, b), heads, tails = rng.uniform(1, 4, 2), *(int(n) for n in rng.integers(1, 9, 2))
    theta = rng.uniform(0.05, 0.95, 5)

    def joint(t: Floats | float) -> Floats:
        return np.asarray(beta(a, b).pdf(t) * t**heads * (1 - t) ** tails)

    evidence = quad(joint, 0, 1, epsabs=0)[0]
    return Sides(
        truth=np.full(5, evidence), printed=joint(theta) / beta(a + heads, b + tails).pdf(theta)
    )


@equation(
    "54",
    section="11.1",
    latex=r"\log p(\mathcal{D}|m) \approx \log p(\hat{\theta}|m)"
    r" + \log p(\mathcal{D}|\hat{\theta}, m) + \frac{d}{2} \log 2 \pi - \frac{1}{2} \log |A|",
    within=1e-7,
)
def log_evidence(rng: Generator) -> Sides:
    """The approximation of the log evidence, for linear regression, where it is exact."""
    case = _regression(rng)
    x, y, S0, noise = case
    exact = multivariate_normal(np.zeros(len(y)), x @ S0 @ x.T + noise * np.eye(len(y)))
    hat, A = _at_the_mode(case)
    d = len(hat)
    logs = _log_joint(case, hat) + d / 2 * np.log(2 * np.pi) - 1 / 2 * np.linalg.slogdet(A)[1]
    return Sides(truth=exact.logpdf(y), printed=logs)


@equation(
    "55",
    section="11.2",
    latex=r"|c P| = c^d |P|, \quad \frac{1}{2} \log |A| \approx \frac{d}{2} \log N"
    r" + \frac{1}{2} \log |\tilde{A}|",
    within=1e-6,
)
def log_determinant_of_many_points(rng: Generator) -> Sides:
    """Half the log determinant for many points: a sum of outer products plus a prior.

    The determinant is the product of the eigenvalues.
    """
    d, N, root = int(rng.integers(1, 5)), 10**8, rng.normal(size=(4, 4))
    A_tilde = (root @ root.T + 0.5 * np.eye(4))[:d, :d]
    A = N * A_tilde + np.eye(d)
    printed = d / 2 * np.log(N) + 1 / 2 * np.log(np.linalg.eigvalsh(A_tilde)).sum()
    return Sides(truth=np.linalg.slogdet(A)[1] / 2, printed=printed)
