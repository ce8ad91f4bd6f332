"""Equations of FCML 4.3: the posterior of logistic regression and its derivatives."""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.stats import bernoulli, norm

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.classification import logistic
from bythebook.models.types import Floats


class _Case(NamedTuple):
    """Inputs, targets, prior variance and weights; P is the probability of class 1."""

    X: Floats
    t: Floats
    sigma2: float
    w: Floats

    def probability(self, w: Floats) -> Floats:
        return np.asarray(1 / (1 + np.exp(-self.X @ w)))

    def log_g(self, w: Floats) -> float:
        """The log of likelihood times prior, by SciPy's distributions."""
        likelihood = bernoulli(self.probability(w)).logpmf(self.t.astype(int)).sum()
        return float(likelihood + norm(0, np.sqrt(self.sigma2)).logpdf(w).sum())

    def gradient(self) -> Floats:
        """Equation 4.9."""
        return -self.w / self.sigma2 + self.X.T @ (self.t - self.probability(self.w))

    def hessian(self) -> Floats:
        """Equation 4.10."""
        P, D = self.probability(self.w), len(self.w)
        total = sum(P[n] * (1 - P[n]) * np.outer(x, x) for n, x in enumerate(self.X))
        return np.asarray(-np.eye(D) / self.sigma2 - total)


def _case(rng: Generator) -> _Case:
    N, D = int(rng.integers(4, 15)), int(rng.integers(1, 5))
    t = (rng.random(N) < rng.uniform(0.2, 0.8)).astype(float)
    return _Case(rng.normal(size=(N, D)), t, rng.uniform(0.3, 12), rng.normal(size=D))


@equation(
    "section 4.3, log g",
    section="4.3",
    latex=r"\log g = -\frac{D}{2} \log 2 \pi - D \log \sigma - \frac{1}{2 \sigma^2} \mathbf{w}^T"
    r" \mathbf{w} + \sum_{n=1}^N t_n \log P_n + (1 - t_n) \log(1 - P_n)",
)
def log_posterior(rng: Generator) -> Sides:
    """The log of the unnormalised posterior, against the densities of SciPy."""
    case = _case(rng)
    _, t, sigma2, w = case
    P, D = case.probability(w), len(w)
    prior = -D / 2 * np.log(2 * np.pi) - D * np.log(np.sqrt(sigma2)) - w @ w / (2 * sigma2)
    return Sides(
        truth=case.log_g(w), printed=prior + np.sum(t * np.log(P) + (1 - t) * np.log(1 - P))
    )


@equation(
    "4.9",
    section="4.3",
    latex=r"\frac{\partial \log g}{\partial \mathbf{w}} = -\frac{1}{\sigma^2} \mathbf{w}"
    r" + \sum_{n=1}^N \mathbf{x}_n (t_n - P_n)",
    within=1e-6,
)
def logistic_gradient(rng: Generator) -> Sides:
    """The first derivatives of log g, against central differences."""
    case = _case(rng)
    steps = 1e-5 * np.eye(len(case.w))
    truth = [(case.log_g(case.w + h) - case.log_g(case.w - h)) / 2e-5 for h in steps]
    return Sides(truth=truth, printed=case.gradient())


@equation(
    "4.10",
    section="4.3",
    latex=r"\frac{\partial^2 \log g}{\partial \mathbf{w} \partial \mathbf{w}^T} = -\frac{1}"
    r"{\sigma^2} \mathbf{I} - \sum_{n=1}^N \mathbf{x}_n \mathbf{x}_n^T P_n (1 - P_n)",
    within=1e-5,
)
def logistic_hessian(rng: Generator) -> Sides:
    """The second derivatives of log g, against second differences."""
    case, h = _case(rng), 1e-3
    steps = h * np.eye(len(case.w))
    f = case.log_g

    def second(i: int, j: int) -> float:
        a, b = steps[i], steps[j]
        w = case.w
        fine = f(w + a + b) - f(w + a - b) - f(w - a + b) + f(w - a - b)
        coarse = f(w + 2 * (a + b)) - f(w + 2 * (a - b)) - f(w - 2 * (a - b)) + f(w - 2 * (a + b))
        return (16 * fine - coarse) / (48 * h**2)  # without the error of order h^2

    D = len(case.w)
    truth = [[second(i, j) for j in range(D)] for i in range(D)]
    return Sides(truth=truth, printed=case.hessian())


@equation(
    "4.6",
    section="4.3",
    latex=r"\mathbf{w}' = \mathbf{w} - \left( \frac{\partial^2 \log g}{\partial \mathbf{w} \partial"
    r" \mathbf{w}^T} \right)^{-1} \frac{\partial \log g}{\partial \mathbf{w}}",
)
def newton_step(rng: Generator) -> Sides:
    """The first step of Newton-Raphson, against the first step of the project's."""
    case = _case(rng)
    posterior = logistic.Posterior(case.X, case.t, case.sigma2)
    path = logistic.newton_raphson(posterior, case.w[None], tol=np.inf, max_steps=1).path
    return Sides(truth=path[1, 0], printed=case.w - np.linalg.inv(case.hessian()) @ case.gradient())
