"""Equations of Ghahramani 11.4, variational Bayesian EM."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize
from scipy.special import softmax

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.types import Floats


class _Case(NamedTuple):
    """Parameters of finitely many values, a latent variable, and factors of q."""

    prior: Floats  # (T,) p(theta | m)
    given: Floats  # (T, S) p(x, y | theta, m)
    q_x: Floats  # (S,)
    q_theta: Floats  # (T,)

    @property
    def joint(self) -> Floats:
        """p(y, x, theta | m), (T, S)."""
        return np.asarray(self.prior[:, None] * self.given)


def _case(rng: Generator) -> _Case:
    T, S = (int(n) for n in rng.integers(2, 6, 2))
    given = rng.gamma(0.8, size=(T, S)) * rng.uniform(0.02, 0.4) + 1e-3
    prior = rng.dirichlet(np.full(T, 1.5))
    return _Case(prior, given, rng.dirichlet(np.ones(S)), rng.dirichlet(np.ones(T)))


def _bound(case: _Case) -> float:
    """F of (61): the mean of ln p(y, x, theta) - ln q under q."""
    q = np.outer(case.q_theta, case.q_x)
    return float((q * (np.log(case.joint) - np.log(q))).sum())


@equation(
    "61, 64",
    section="11.4",
    latex=r"\ln p(\mathbf{y} | m) - F_m = \int q_{\mathbf{x}}(\mathbf{x})"
    r"q_{\theta}(\theta) \ln \frac{q_{\mathbf{x}}(\mathbf{x})"
    r" q_{\theta}(\theta)}{p(\theta, \mathbf{x} |"
    r" \mathbf{y}, m)} d\mathbf{x} d\theta = \text{KL}(q \| p)",
)
def variational_gap(rng: Generator) -> Sides:
    """The bound lacks the divergence of q from the posterior of latent variables and parameters."""
    case = _case(rng)
    evidence = case.joint.sum()
    q = case.q_theta[:, None] * case.q_x
    divergence = (q * np.log(q / (case.joint / evidence))).sum()
    return Sides(truth=np.log(evidence) - _bound(case), printed=divergence)


@equation(
    "62",
    section="11.4",
    latex=r"q_{\mathbf{x}}^{(t+1)}(\mathbf{x}) \propto \exp \left[ \int \ln p(\mathbf{x},"
    r" \mathbf{y} | \theta, m) q_{\theta}^{(t)}(\theta)"
    r" d\theta \right]",
    within=1e-5,
)
def variational_e_step(rng: Generator) -> Sides:
    """The factor of the latent variable that maximises F, by a search."""
    case = _case(rng)
    exponent = case.q_theta @ np.log(case.given)
    best = _best(lambda q: _bound(case._replace(q_x=q)), len(case.q_x))
    return Sides(truth=best, printed=np.exp(exponent) / np.exp(exponent).sum())


@equation(
    "63",
    section="11.4",
    latex=r"q_{\theta}^{(t+1)}(\theta) \propto p(\theta | m)"
    r" \exp \left[ \int \ln p(\mathbf{x}, \mathbf{y} | \theta, m)"
    r" q_{\mathbf{x}}^{(t+1)}(\mathbf{x}) d\mathbf{x} \right]",
    within=1e-5,
)
def variational_m_step(rng: Generator) -> Sides:
    """The factor of the parameters that maximises F, by a search."""
    case = _case(rng)
    weight = case.prior * np.exp(np.log(case.given) @ case.q_x)
    best = _best(lambda q: _bound(case._replace(q_theta=q)), len(case.q_theta))
    return Sides(truth=best, printed=weight / weight.sum())


def _best(bound: Callable[[Floats], float], size: int) -> Floats:
    found = minimize(
        lambda values: -bound(softmax(values)),
        np.zeros(size),
        jac="3-point",
        options={"gtol": 1e-9},
    )
    return np.asarray(softmax(found.x))
