"""Equations of FCML 3.7 and 3.8: the Bayesian linear model."""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.stats import multivariate_normal

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.types import Floats


class _Case(NamedTuple):
    """A design matrix, targets, a noise variance, and the prior of the weights."""

    X: Floats
    t: Floats
    noise: float
    mean: Floats
    covariance: Floats


def _case(rng: Generator) -> _Case:
    N, D = int(rng.integers(3, 15)), int(rng.integers(1, 5))
    root = rng.normal(size=(D, D))
    X, t, mean = rng.normal(size=(N, D)), rng.normal(size=N), rng.normal(size=D)
    return _Case(X, t, rng.uniform(0.2, 2), mean, root @ root.T + 0.3 * np.eye(D))


def _conditioned(case: _Case) -> tuple[Floats, Floats]:
    """Mean and covariance of the weights, from the joint Gaussian of weights and targets."""
    X, t, noise, mean, covariance = case
    gain = np.linalg.solve(X @ covariance @ X.T + noise * np.eye(len(t)), X @ covariance).T
    return mean + gain @ (t - X @ mean), covariance - gain @ X @ covariance


@equation(
    "3.22, 3.23",
    section="3.7.4",
    latex=r"\mathbf{\Sigma}_w = \left( \frac{1}{\sigma^2} \mathbf{X}^T \mathbf{X}"
    r" + \mathbf{\Sigma}_0^{-1} \right)^{-1}, \quad \mathbf{\mu}_w = \mathbf{\Sigma}_w \left("
    r" \frac{1}{\sigma^2} \mathbf{X}^T \mathbf{t} + \mathbf{\Sigma}_0^{-1} \mathbf{\mu}_0 \right)",
)
def weight_posterior(rng: Generator) -> Sides:
    """The mean and the covariance of the posterior of the weights.

    The other route conditions the joint Gaussian of weights and targets on the targets.
    """
    case = _case(rng)
    X, t, noise, mean, prior = case
    covariance = np.linalg.inv(X.T @ X / noise + np.linalg.inv(prior))
    printed = covariance @ (X.T @ t / noise + np.linalg.solve(prior, mean))
    return Sides(truth=_conditioned(case), printed=(printed, covariance))


@equation(
    "3.24",
    section="3.8",
    latex=r"p(\mathbf{t}|\mathbf{X}, \mathbf{\mu}_0, \mathbf{\Sigma}_0) = N(\mathbf{X}"
    r" \mathbf{\mu}_0, \sigma^2 \mathbf{I}_N + \mathbf{X} \mathbf{\Sigma}_0 \mathbf{X}^T)",
)
def marginal_likelihood(rng: Generator) -> Sides:
    """The marginal likelihood of the targets is Gaussian.

    The other route is Bayes' rule at random weights: likelihood times prior over posterior.
    """
    case = _case(rng)
    X, t, noise, mean, prior = case
    w = rng.normal(size=len(mean))
    likelihood = multivariate_normal(X @ w, noise * np.eye(len(t))).logpdf(t)
    posterior = multivariate_normal(*_conditioned(case)).logpdf(w)
    truth = likelihood + multivariate_normal(mean, prior).logpdf(w) - posterior
    printed = multivariate_normal(X @ mean, noise * np.eye(len(t)) + X @ prior @ X.T).logpdf(t)
    return Sides(truth=truth, printed=printed)


@equation(
    "exercise 3.9",
    section="3.7.4",
    latex=r"\mathbf{\Sigma}_0 = \frac{\sigma^2}{N \lambda} \mathbf{I}: \quad \mathbf{\mu}_w"
    r" = (\mathbf{X}^T \mathbf{X} + N \lambda \mathbf{I})^{-1} \mathbf{X}^T \mathbf{t}",
)
def posterior_mean_is_ridge(rng: Generator) -> Sides:
    """The posterior mean under a prior about zero is the solution of regularised least squares."""
    case, penalty = _case(rng), 10 ** rng.uniform(-2, 1)
    X, t, noise = case.X, case.t, case.noise
    N, D = X.shape
    prior = noise / (N * penalty) * np.eye(D)
    truth, _ = _conditioned(case._replace(mean=np.zeros(D), covariance=prior))
    return Sides(truth=truth, printed=np.linalg.solve(X.T @ X + N * penalty * np.eye(D), X.T @ t))
