"""Equations of MLAPP 18.5.3.2, online logistic regression by assumed density filtering."""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize
from scipy.special import expit, log_expit, ndtr
from scipy.stats import norm

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.operation_counts import count_operations
from bythebook.models.types import AnyArray, Floats


class _Case(NamedTuple):
    """A belief of independent weights, inputs and a label; the posterior on a lattice."""

    mu: Floats  # (2,)
    tau: Floats  # (2,)
    x: Floats  # (2,)
    sign: int  # 1 or -1
    theta: Floats  # (G, 2)
    mass: Floats  # (G,)

    @property
    def moments(self) -> tuple[Floats, Floats]:
        """Means and variances of the updated posterior, over the lattice."""
        mean = self.mass @ self.theta
        return mean, self.mass @ (self.theta - mean) ** 2


def _case(rng: Generator) -> _Case:
    mu, tau, x = rng.normal(size=2), rng.uniform(0.3, 3, 2), rng.normal(0, 1.5, 2)
    sign, side = int(rng.choice([-1, 1])), np.linspace(-7, 7, 101)
    z = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)
    theta = mu + z * np.sqrt(tau)
    mass = np.exp(-(z**2).sum(1) / 2) * expit(sign * (theta @ x))
    return _Case(mu, tau, x, sign, theta, mass / mass.sum())


def _activation(case: _Case) -> tuple[float, float, float, float]:
    """The mean and variance (18.120, 18.121), and the changes of both by (18.123 to 18.126)."""
    m, v = float(case.x @ case.mu), float(case.x**2 @ case.tau)
    s = m + np.sqrt(v) * np.linspace(-10, 10, 1001)
    weight = norm(m, np.sqrt(v)).pdf(s) * expit(case.sign * s)
    mean = weight @ s / weight.sum()
    return m, v, mean - m, weight @ s**2 / weight.sum() - mean**2 - v


@equation(
    "18.116",
    section="18.5.3.2",
    latex=r"\mu_{t,j} = \mathbb{E}_{\hat{p}}[\theta_{t,j}], \quad"
    r" \tau_{t,j} = \text{var}_{\hat{p}}[\theta_{t,j}]",
    within=1e-5,
)
def best_factored_gaussian(rng: Generator) -> Sides:
    """The factored Gaussian of the smallest divergence, by a search, has the moments of p."""
    case = _case(rng)

    def cost(at: Floats) -> float:
        squares = case.mass @ (case.theta - at[:2]) ** 2
        return float((squares * np.exp(-at[2:]) + at[2:]).sum() / 2)

    start = np.concatenate([case.mu, np.log(case.tau)])
    found = minimize(cost, start, tol=1e-13).x
    mean, variance = case.moments
    truth = np.append(found[:2], 5.0), np.exp(found[2:])  # 5: a scale for means near zero
    return Sides(truth=truth, printed=(np.append(mean, 5.0), variance))


@equation(
    "18.119 to 18.121",
    section="18.5.3.2",
    latex=r"m_{t|t-1} = \sum_j x_{t,j} \mu_{t|t-1,j}, \quad"
    r" v_{t|t-1} = \sum_j x_{t,j}^2 \tau_{t|t-1,j}",
)
def predicted_activation(rng: Generator) -> Sides:
    """Mean and variance of the activation before the label, by Gauss-Hermite quadrature."""
    mu, tau, x = rng.normal(size=2), rng.uniform(0.3, 3, 2), rng.normal(0, 1.5, 2)
    z, weight = np.polynomial.hermite_e.hermegauss(4)
    s = x[0] * (mu[0] + np.sqrt(tau[0]) * z[:, None]) + x[1] * (mu[1] + np.sqrt(tau[1]) * z)
    p = np.outer(weight, weight) / weight.sum() ** 2
    mean = (p * s).sum()
    printed = sum(x * mu), sum(x**2 * tau)
    return Sides(truth=(mean, (p * (s - mean) ** 2).sum()), printed=printed)


@equation(
    "18.126 to 18.130",
    section="18.5.3.2",
    latex=r"\mu_{t,j} = \mu_{t|t-1,j} + a_j \delta_m, \quad \tau_{t,j} = \tau_{t|t-1,j}"
    r" + a_j^2 \delta_v, \quad a_j = \frac{x_{t,j} \tau_{t|t-1,j}}"
    r"{\sum_{j'} x_{t,j'}^2 \tau_{t|t-1,j}^2}",
    corrected=r"\mu_{t,j} = \mu_{t|t-1,j} + a_j \delta_m, \quad \tau_{t,j} = \tau_{t|t-1,j}"
    r" + a_j^2 \delta_v, \quad a_j = \frac{x_{t,j} \tau_{t|t-1,j}}"
    r"{\sum_{j'} x_{t,j'}^2 \tau_{t|t-1,j'}}",
    cause="variance-squared-in-the-gain",
    within=1e-6,
)
def factored_update(rng: Generator) -> Sides:
    """The update of the weights, against moments by quadrature over both weights."""
    case = _case(rng)
    mu, tau, x = case.mu, case.tau, case.x
    _, _, shift, narrower = _activation(case)
    printed, corrected = x * tau / ((x**2).sum() * tau**2), x * tau / (x**2 * tau).sum()
    sides = [(mu + a * shift, tau + a**2 * narrower) for a in (printed, corrected)]
    return Sides(truth=case.moments, printed=sides[0], corrected=sides[1])


@equation(
    "section 18.5.3.2, sizes of the updates",
    section="18.5.3.2",
    latex=r"\frac{|\mu_{t,j} - \mu_{t|t-1,j}|}{|\mu_{t,k} - \mu_{t|t-1,k}|}"
    r" = \frac{|x_{t,j}| \tau_{t|t-1,j}}{|x_{t,k}| \tau_{t|t-1,k}}",
    within=1e-6,
)
def larger_inputs_change_most(rng: Generator) -> Sides:
    """The changes of means and of variances grow with the inputs and the prior variances.

    The ratios of the changes of two weights, by quadrature over both.
    """
    case = _case(rng)
    mean, variance = case.moments
    changes = abs(mean - case.mu), abs(variance - case.tau)
    sizes = abs(case.x) * case.tau
    truth = [change[0] / change.sum() for change in changes]
    return Sides(truth=truth, printed=[sizes[0] / sizes.sum(), sizes[0] ** 2 / (sizes**2).sum()])


@equation(
    "section 18.5.3.2, UKF",
    section="18.5.3.2",
    latex=r"\int f(s) \mathcal{N}(s|m, v) \, ds \approx \frac{2}{3} f(m) + \frac{1}{6}"
    r" f(m - \sqrt{3 v}) + \frac{1}{6} f(m + \sqrt{3 v})",
)
def step_of_the_ukf(rng: Generator) -> Sides:
    """The three sigma points of the UKF are those of Gaussian quadrature with three points.

    The normaliser, the mean and the variance of the activation after a label, by both.
    """
    case = _case(rng)
    m, v = case.x @ case.mu, case.x**2 @ case.tau
    z, weight = np.polynomial.hermite_e.hermegauss(3)
    kappa = 2  # of one dimension: D + kappa is 3
    spread = np.sqrt((1 + kappa) * v)
    sides = []
    for s, p in (
        (m + np.sqrt(v) * z, weight / weight.sum()),
        (m + spread * np.array([-1, 0, 1]), np.array([1 / 2, kappa, 1 / 2]) / (1 + kappa)),
    ):
        q = p * expit(case.sign * s)
        mean = q @ s / q.sum()
        sides.append((q.sum(), mean, q @ (s - mean) ** 2 / q.sum()))
    return Sides(truth=sides[0], printed=sides[1])


@equation(
    "section 18.5.3.2, probit likelihood",
    section="18.5.3.2",
    latex=r"Z_t = \Phi(z), \quad m_t = m + y \frac{v \mathcal{N}(z)}{\Phi(z) \sqrt{1 + v}}, \quad"
    r" z = \frac{y m}{\sqrt{1 + v}}",
)
def probit_update(rng: Generator) -> Sides:
    """With a probit likelihood the update of the activation has a closed form."""
    m, v, sign = rng.normal(0, 1.5), rng.uniform(0.2, 4), rng.choice([-1, 1])
    s = m + np.sqrt(v) * np.linspace(-10, 10, 2001)
    weight = norm(m, np.sqrt(v)).pdf(s) * ndtr(sign * s) * (s[1] - s[0])
    mean = weight @ s / weight.sum()
    truth = weight.sum(), mean, weight @ (s - mean) ** 2 / weight.sum()
    z = sign * m / np.sqrt(1 + v)
    ratio = norm.pdf(z) / ndtr(z)
    new_v = v - v**2 * ratio * (z + ratio) / (1 + v)
    return Sides(truth=truth, printed=(ndtr(z), m + sign * v * ratio / np.sqrt(1 + v), new_v))


@equation(
    "section 18.5.3.2, operations",
    section="18.5.3.2",
    latex=r"O(D) \; \text{operations per time step}",
)
def operations_of_an_update(rng: Generator) -> Sides:
    """The number of operations of an update is linear in the number of weights.

    Operations of (18.120, 18.121) and (18.128 to 18.130) are counted as they are executed.
    """

    def update(x: AnyArray, mu: AnyArray, tau: AnyArray, changes: AnyArray) -> None:
        _, v = (x * mu).sum(), (x * x * tau).sum()
        a = x * tau / v
        _ = mu + a * changes[0], tau + a * a * changes[1]

    def counted(D: int) -> int:
        return sum(count_operations(update, *np.ones((3, D)), np.ones(2)).values())

    D = int(rng.integers(4, 60))
    two, three = counted(2), counted(3)
    return Sides(truth=counted(D), printed=two + (D - 2) * (three - two))


@equation(
    "section 18.5.3.2, log-concave",
    section="18.5.3.2",
    latex=r"\nabla \nabla \log p(\theta|\mathcal{D}) < 0",
)
def posterior_is_log_concave(rng: Generator) -> Sides:
    """The log posterior is above its chords: cutting its middle off at a chord changes nothing."""
    D, N = (int(n) for n in rng.integers([1, 1], [5, 8]))
    X, sign, tau = rng.normal(0, 2, (N, D)), rng.choice([-1, 1], N), rng.uniform(0.3, 30, D)
    theta = rng.normal(0, 3, (20, 2, D))

    def log_posterior(at: Floats) -> Floats:
        return np.asarray(log_expit(sign * (at @ X.T)).sum(-1) - (at**2 / tau).sum(-1) / 2)

    middle, chord = log_posterior(theta.mean(1)), log_posterior(theta).mean(1)
    return Sides(truth=middle, printed=np.maximum(middle, chord))
