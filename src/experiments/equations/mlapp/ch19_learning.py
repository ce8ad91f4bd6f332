"""Equations of MLAPP 19.3 and 19.5, learning of undirected models, with all states enumerated."""

from collections.abc import Callable
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.graphs.boltzmann import gradient, log_likelihood
from bythebook.models.types import AnyArray, Floats

STEP = 1e-5  # of central differences


class _Model(NamedTuple):
    """p(y) = exp(theta' phi(y)) / Z over a few binary variables, and data."""

    states: Floats  # (S, N), -1 and 1
    phi: Floats  # (S, F)
    theta: Floats
    cases: AnyArray  # the state of each case

    def log_Z(self, theta: Floats) -> float:
        return float(np.log(np.exp(self.phi @ theta).sum()))

    def p(self, theta: Floats) -> Floats:
        return np.asarray(np.exp(self.phi @ theta - self.log_Z(theta)))

    @property
    def share(self) -> Floats:
        """The share of each state in the data."""
        return np.bincount(self.cases, minlength=len(self.states)) / len(self.cases)

    def level(self, theta: Floats) -> float:
        """The log likelihood (19.38)."""
        return float((self.phi[self.cases] @ theta).mean() - self.log_Z(theta))


def _model(rng: Generator, cases: int = 0) -> _Model:
    N = int(rng.integers(3, 5))
    states = np.array(list(product((-1.0, 1.0), repeat=N)))
    kept = [pair for pair in combinations(range(N), 2) if rng.random() < 0.7] or [(0, 1)]
    pairs = [states[:, s] * states[:, t] for s, t in kept]
    phi = np.column_stack([*pairs, states])
    theta, true = rng.normal(0, 0.5, (2, phi.shape[1]))
    found = _Model(states, phi, theta, np.zeros(0, dtype=np.int64))
    chance = found.p(true)
    drawn = rng.choice(len(states), cases or int(rng.integers(20, 60)), p=chance)
    return found._replace(cases=drawn)


def _slope(value: Callable[[Floats], float], theta: Floats) -> Floats:
    """Central differences along each parameter."""
    steps = STEP * np.eye(len(theta))
    return np.array([(value(theta + s) - value(theta - s)) / (2 * STEP) for s in steps])


@equation(
    "19.12",
    section="19.3.2",
    latex=r"\log p(\mathbf{y}|\theta) = \sum_c \theta_c^T \phi_c(\mathbf{y}_c) - Z(\theta)",
    corrected=r"\log p(\mathbf{y}|\theta) = \sum_c \theta_c^T \phi_c(\mathbf{y}_c)"
    r" - \log Z(\theta)",
    cause="log-of-z-lost",
)
def log_linear_probability(rng: Generator) -> Sides:
    """The log probability of each state, from the normalised product of the potentials."""
    m = _model(rng)
    potentials = np.prod([np.exp(w * f) for w, f in zip(m.theta, m.phi.T, strict=True)], axis=0)
    Z = potentials.sum()
    score = m.phi @ m.theta
    return Sides(truth=np.log(potentials / Z), printed=score - Z, corrected=score - np.log(Z))


@equation(
    "section 19.5.1, convexity",
    section="19.5.1",
    latex=r"\mathbf{v}^T \nabla^2 \ell(\theta) \, \mathbf{v} \geq 0",
    corrected=r"\mathbf{v}^T \nabla^2 \ell(\theta) \, \mathbf{v} \leq 0",
    cause="convex-for-concave",
)
def curvature_of_the_likelihood(rng: Generator) -> Sides:
    """The sign of the log likelihood's curvature along random directions, by differences."""
    m = _model(rng)
    signs = []
    for _ in range(5):
        v = 1e-3 * rng.normal(size=len(m.theta))
        bend = m.level(m.theta + v) - 2 * m.level(m.theta) + m.level(m.theta - v)
        signs.append(np.sign(bend))
    return Sides(truth=signs, printed=np.ones(5), corrected=-np.ones(5))


@equation(
    "19.40",
    section="19.5.1",
    latex=r"\frac{\partial \log Z(\theta)}{\partial \theta_c}"
    r" = \sum_{\mathbf{y}} \phi_c(\mathbf{y}) p(\mathbf{y}|\theta)",
    within=1e-7,
)
def slope_of_the_partition_function(rng: Generator) -> Sides:
    """The derivative of the log partition function is the expected feature (Exercise 19.1)."""
    m = _model(rng)
    return Sides(truth=_slope(m.log_Z, m.theta), printed=m.phi.T @ m.p(m.theta))


@equation(
    "19.39, 19.41, 19.42",
    section="19.5.1",
    latex=r"\frac{\partial \ell}{\partial \theta_c} = \left[ \frac{1}{N} \sum_i"
    r" \phi_c(\mathbf{y}_i) \right] - \mathbb{E}[\phi_c(\mathbf{y})]",
    within=1e-7,
)
def gradient_of_the_likelihood(rng: Generator) -> Sides:
    """The gradient is the mean feature of the data minus the expected feature of the model."""
    m = _model(rng)
    clamped = m.phi[m.cases].mean(0)
    return Sides(truth=_slope(m.level, m.theta), printed=clamped - m.phi.T @ m.p(m.theta))


@equation(
    "19.43",
    section="19.5.1",
    latex=r"\mathbb{E}_{p_{\text{emp}}}[\phi_c(\mathbf{y})]"
    r" = \mathbb{E}_{p(\cdot|\hat{\theta})}[\phi_c(\mathbf{y})]",
    within=1e-4,
)
def moment_matching(rng: Generator) -> Sides:
    """At a maximum that is found from values of the likelihood alone, the features match."""
    m = _model(rng, cases=2000)
    best = minimize(lambda t: -m.level(t), np.zeros(len(m.theta)), method="BFGS").x
    return Sides(truth=m.phi[m.cases].mean(0), printed=m.phi.T @ m.p(best))


@equation(
    "section 19.5.1, maximum",
    section="19.5.1",
    latex=r"\ell(\hat{\theta}) = \ell(\hat{\theta}') \text{ from any two starts}",
    within=1e-8,
)
def one_global_maximum(rng: Generator) -> Sides:
    """Searches from two random starts end at the same likelihood."""
    m = _model(rng, cases=2000)

    def end(start: Floats) -> float:
        found = minimize(
            lambda t: -float(log_likelihood(t, m.phi, m.share)),
            start,
            jac=lambda t: -gradient(t, m.phi, m.share),
            method="BFGS",
            options={"gtol": 1e-7},
        )
        return m.level(found.x)

    one, other = rng.normal(size=(2, len(m.theta)))
    return Sides(truth=end(one), printed=end(other))


class _Hidden(NamedTuple):
    """Features phi(y, h) of all visible and hidden states."""

    phi: Floats  # (visible state, hidden state, F)
    theta: Floats
    cases: AnyArray

    def clamped(self, theta: Floats) -> Floats:
        """The log of the sum over the hidden states, for each visible state."""
        return np.asarray(np.log(np.exp(self.phi @ theta).sum(1)))

    def expected(self) -> Floats:
        """E[phi | y] with the visible variables clamped, for each visible state."""
        p = np.exp(self.phi @ self.theta)
        return np.asarray(np.einsum("yh,yhf->yf", p / p.sum(1, keepdims=True), self.phi))


def _hidden(rng: Generator) -> _Hidden:
    seen, unseen = int(rng.integers(2, 4)), int(rng.integers(1, 3))
    states = np.array(list(product((-1.0, 1.0), repeat=seen + unseen)))
    pairs = [states[:, s] * states[:, t] for s, t in combinations(range(seen + unseen), 2)]
    phi = np.column_stack([*pairs, states]).reshape(2**seen, 2**unseen, -1)
    return _Hidden(phi, rng.normal(0, 0.5, phi.shape[-1]), rng.integers(2**seen, size=30))


@equation(
    "19.47",
    section="19.5.2",
    latex=r"\frac{\partial}{\partial \theta_c} \log \left( \sum_{\mathbf{h}_i}"
    r" \tilde{p}(\mathbf{y}_i, \mathbf{h}_i|\theta) \right)"
    r" = \mathbb{E}[\phi_c(\mathbf{h}, \mathbf{y}_i)|\theta]",
    within=1e-7,
)
def clamped_expectation(rng: Generator) -> Sides:
    """The derivative of the clamped log partition function, for each visible state."""
    m = _hidden(rng)
    y = int(rng.integers(len(m.phi)))
    truth = _slope(lambda t: float(m.clamped(t)[y]), m.theta)
    return Sides(truth=truth, printed=m.expected()[y])


@equation(
    "19.48",
    section="19.5.2",
    latex=r"\frac{\partial \ell}{\partial \theta_c} = \frac{1}{N} \sum_i \left\{"
    r" \mathbb{E}[\phi_c(\mathbf{h}, \mathbf{y}_i)|\theta]"
    r" - \mathbb{E}[\phi_c(\mathbf{h}, \mathbf{y})|\theta] \right\}",
    within=1e-7,
)
def gradient_with_hidden_variables(rng: Generator) -> Sides:
    """The gradient of the log likelihood (19.45) with hidden variables."""
    m = _hidden(rng)

    def level(theta: Floats) -> float:
        joint = np.exp(m.phi @ theta)
        return float(np.log(joint.sum(1) / joint.sum())[m.cases].mean())

    p = np.exp(m.phi @ m.theta)
    free = np.einsum("yh,yhf->f", p / p.sum(), m.phi)
    return Sides(truth=_slope(level, m.theta), printed=(m.expected()[m.cases] - free).mean(0))


@equation(
    "19.49",
    section="19.5.4",
    latex=r"\ell_{PL}(\theta) = \frac{1}{N} \sum_{i=1}^N \sum_{d=1}^D"
    r" \log p(y_{id}|\mathbf{y}_{i,-d}, \theta)",
)
def pseudo_likelihood(rng: Generator) -> Sides:
    """The pseudo-likelihood as a sum over all states, and case by case.

    The truth has the conditionals from the joint table, the printed side from the field of a spin.
    """
    m = _model(rng)
    N = m.states.shape[1]
    table = m.p(m.theta).reshape([2] * N)
    each = sum(np.log(table / table.sum(d, keepdims=True)) for d in range(N)).ravel()
    printed = 0.0
    for case in m.cases:
        for d in range(N):
            turned = m.states[case] * np.where(np.arange(N) == d, -1, 1)
            other = int(np.flatnonzero((m.states == turned).all(1))[0])
            printed -= np.log1p(np.exp((m.phi[other] - m.phi[case]) @ m.theta))
    return Sides(truth=m.share @ each, printed=printed / len(m.cases))


@equation(
    "19.50",
    section="19.5.4",
    latex=r"\sum_{\mathbf{y}} p_{\text{emp}}(\mathbf{y}) \log p(\mathbf{y}|\theta)"
    r" = \sum_{i=1}^N \log p(\mathbf{y}_i|\theta)",
    corrected=r"\sum_{\mathbf{y}} p_{\text{emp}}(\mathbf{y}) \log p(\mathbf{y}|\theta)"
    r" = \frac{1}{N} \sum_{i=1}^N \log p(\mathbf{y}_i|\theta)",
    cause="one-over-n-lost",
)
def likelihood_objective(rng: Generator) -> Sides:
    """The expected log probability under the empirical distribution, and the sum over the cases."""
    m = _model(rng)
    log_p = np.log(m.p(m.theta))
    total = sum(float(log_p[case]) for case in m.cases)
    return Sides(truth=m.share @ log_p, printed=total, corrected=total / len(m.cases))


@equation(
    "19.51, algorithm 19.1, line 11",
    section="19.5.5",
    latex=r"\theta_{k+1} = \theta_k - \eta \mathbf{g}_k, \quad"
    r" \mathbf{g}_k = \nabla_{\theta} \ell(\theta_k)",
    corrected=r"\theta_{k+1} = \theta_k + \eta \mathbf{g}_k",
    cause="gradient-with-a-minus",
)
def step_along_the_gradient(rng: Generator) -> Sides:
    """The sign of the change of the log likelihood in a small step, which has to be positive."""
    m = _model(rng)
    g = m.phi[m.cases].mean(0) - m.phi.T @ m.p(m.theta)  # 19.51
    here, eta = m.level(m.theta), 10 ** rng.uniform(-4, -2)
    down, up = (m.level(m.theta + sign * eta * g) - here for sign in (-1, 1))
    return Sides(truth=1.0, printed=np.sign(down), corrected=np.sign(up))
