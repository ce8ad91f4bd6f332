"""Equations of MLAPP 18.5, extended and unscented Kalman filters."""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.linalg import cholesky, inv

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.state_space import kalman, nonlinear_filters
from bythebook.models.state_space.kalman import Gaussian
from bythebook.models.state_space.nonlinear_examples import random_lds, walker_system
from bythebook.models.state_space.nonlinear_filters import NonlinearSystem, linear_system
from bythebook.models.state_space.unscented import (
    Function,
    Scaling,
    by_points,
    by_tangent,
    hermite_points,
    sigma_points,
)
from bythebook.models.types import Floats


class _Case(NamedTuple):
    """A walker who is tracked by ranges, two of its observations, and a scale of the points."""

    system: NonlinearSystem
    y: Floats  # (2, 3)
    scaling: Scaling


def _case(rng: Generator) -> _Case:
    system = walker_system(*rng.uniform([3, 0.2, 0.2, 0.05, 0.01], [9, 0.9, 0.8, 0.2, 0.1]))
    y = nonlinear_filters.simulate(system, 2, rng)[1]
    return _Case(system, y, Scaling(rng.uniform(0.7, 1.3), rng.uniform(0, 2), rng.uniform(0.2, 3)))


def _covariance(rng: Generator, d: int) -> Floats:
    root = rng.normal(size=(d, d))
    return np.asarray(root @ root.T + 0.2 * np.eye(d))


def _moments(belief: Gaussian, f: Function, scaling: Scaling) -> tuple[Floats, Floats, Floats]:
    """Mean, covariance and covariance with x of f by (18.93) to (18.98), as corrected."""
    mean, cov = belief
    d = len(mean)
    lam = scaling.alpha**2 * (d + scaling.kappa) - d
    root = cholesky((d + lam) * cov, lower=True)
    x = np.array([mean, *(mean + root.T), *(mean - root.T)])
    w_m = np.array([lam / (d + lam)] + 2 * d * [1 / (2 * (d + lam))])
    w_c = w_m.copy()
    w_c[0] = lam / (d + lam) + (1 - scaling.alpha**2 + scaling.beta)
    y = f(x)
    out = w_m @ y
    return out, (w_c * (y - out).T) @ (y - out), (w_c * (x - mean).T) @ (y - out)


@equation(
    "18.82",
    section="18.5.1",
    latex=r"\mathbf{h}(\mathbf{z}_t) \approx \mathbf{h}(\boldsymbol{\mu}_{t|t-1})"
    r" + \mathbf{H}_t (\mathbf{y}_t - \boldsymbol{\mu}_{t|t-1})",
    corrected=r"\mathbf{h}(\mathbf{z}_t) \approx \mathbf{h}(\boldsymbol{\mu}_{t|t-1})"
    r" + \mathbf{H}_t (\mathbf{z}_t - \boldsymbol{\mu}_{t|t-1})",
    cause="tangent-in-the-observation",
)
def tangent_of_the_measurement(rng: Generator) -> Sides:
    """The tangent of the measurement model is a function of the state.

    The model is linear, where the tangent is exact, with as many outputs as states.
    """
    theta = random_lds(rng)
    mean, z = rng.normal(size=(2, 3))
    y = theta.C @ z + rng.multivariate_normal(np.zeros(3), theta.Sigma)
    return Sides(
        truth=theta.C @ z,
        printed=theta.C @ mean + theta.C @ (y - mean),
        corrected=theta.C @ mean + theta.C @ (z - mean),
    )


@equation(
    "18.83, 18.86 to 18.92",
    section="18.5.1",
    latex=r"\boldsymbol{\mu}_{t|t-1} = \mathbf{g}(\mathbf{u}_t, \boldsymbol{\mu}_{t-1}), \quad"
    r" \mathbf{V}_{t|t-1} = \mathbf{G}_t \mathbf{V}_{t-1} \mathbf{G}_t^T + \mathbf{Q}_t, \quad"
    r" \boldsymbol{\mu}_t = \boldsymbol{\mu}_{t|t-1} + \mathbf{K}_t (\mathbf{y}_t"
    r" - \mathbf{h}(\boldsymbol{\mu}_{t|t-1})), \quad"
    r" \mathbf{V}_t = (\mathbf{I} - \mathbf{K}_t \mathbf{H}_t) \mathbf{V}_{t|t-1}",
    within=1e-5,
)
def extended_step(rng: Generator) -> Sides:
    """A prediction and an update of the extended Kalman filter, with Jacobians by differences."""
    system, y, _ = _case(rng)
    found = nonlinear_filters.extended_filter(system, y).filtered
    mean, V = found.mean[0], found.cov[0]

    def jacobian(f: Function, at: Floats) -> Floats:
        steps = 1e-6 * np.eye(len(at))
        return np.stack([(f(at + e) - f(at - e)) / 2e-6 for e in steps], axis=-1)

    G = jacobian(lambda z: system.g(1, z), mean)
    ahead, V = system.g(1, mean), G @ V @ G.T + system.Q
    H = jacobian(system.h, ahead)
    K = V @ H.T @ inv(H @ V @ H.T + system.R)
    return Sides(
        truth=(found.mean[1], found.cov[1]),
        printed=(ahead + K @ (y[1] - system.h(ahead)), (np.eye(4) - K @ H) @ V),
    )


@equation(
    "section 18.5.1, linear g and h",
    section="18.5.1",
    latex=r"\mathbf{g}(\mathbf{u}_t, \mathbf{z}) = \mathbf{A} \mathbf{z}, \;"
    r" \mathbf{h}(\mathbf{z}) = \mathbf{C} \mathbf{z} \;\Rightarrow\;"
    r" (\boldsymbol{\mu}_t, \mathbf{V}_t)_{\text{EKF}} ="
    r" (\boldsymbol{\mu}_t, \mathbf{V}_t)_{\text{Kalman}}",
)
def extended_filter_of_a_linear_system(rng: Generator) -> Sides:
    """The extended filter differs from the Kalman filter in its use of g and h only."""
    theta = random_lds(rng)
    _, y = kalman.simulate(theta, 6, rng, (1,))
    right = kalman.kalman_filter(theta, y)
    found = nonlinear_filters.extended_filter(linear_system(theta), y)
    return Sides(
        truth=(right.filtered.mean, np.broadcast_to(right.filtered.cov, found.filtered.cov.shape)),
        printed=(found.filtered.mean, found.filtered.cov),
    )


@equation(
    "section 18.5.2, accuracy to second order",
    section="18.5.2",
    latex=r"\mathbb{E}[\mathbf{a}^T \mathbf{x} + \mathbf{x}^T \mathbf{B} \mathbf{x}] ="
    r" \sum_{i=0}^{2d} w_m^i (\mathbf{a}^T \mathbf{x}_i + \mathbf{x}_i^T \mathbf{B} \mathbf{x}_i)",
)
def mean_of_a_quadratic_function(rng: Generator) -> Sides:
    """Sigma points have the exact mean of a quadratic function; quadrature is the other side."""
    d = int(rng.integers(1, 4))
    belief = Gaussian(rng.normal(size=d), _covariance(rng, d))
    a, B = rng.normal(size=d), rng.normal(size=(d, d))

    def f(x: Floats) -> Floats:
        return np.asarray(x @ a + np.einsum("...i,ij,...j->...", x, B, x))[..., None]

    scaling = Scaling(rng.uniform(0.7, 1.3), rng.uniform(0, 2), rng.uniform(0.2, 3))
    truth = by_points(hermite_points(*belief, 3), f).mean
    return Sides(truth=truth, printed=_moments(belief, f, scaling)[0])


@equation(
    "18.93 to 18.95, 18.98",
    section="18.5.2",
    latex=r"\mathbf{x} = \left(\boldsymbol{\mu},"
    r" \{\boldsymbol{\mu} + (\sqrt{(d + \lambda) \boldsymbol{\Sigma}})_{:i}\}_{i=1}^d,"
    r" \{\boldsymbol{\mu} - (\sqrt{(d + \lambda) \boldsymbol{\Sigma}})_{:i}\}_{i=1}^d \right),"
    r" \quad \boldsymbol{\mu}_y = \sum_{i=0}^{2d} w_m^i \mathbf{y}_i, \quad \boldsymbol{\Sigma}_y"
    r" = \sum_{i=0}^{2d} w_c^i (\mathbf{y}_i - \boldsymbol{\mu}_y)"
    r" (\mathbf{y}_i - \boldsymbol{\mu}_y)^T",
)
def unscented_transform(rng: Generator) -> Sides:
    """Mean and covariance of a nonlinear function by sigma points."""
    d, D = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    belief = Gaussian(rng.normal(size=d), _covariance(rng, d))
    A, B = rng.normal(size=(2, d, D))
    scaling = Scaling(rng.uniform(0.7, 1.3), rng.uniform(0, 2), rng.uniform(0.2, 3))

    def f(x: Floats) -> Floats:
        return np.asarray(np.sin(x @ A) + (x @ B) ** 2)

    found = by_points(sigma_points(*belief, scaling), f)
    return Sides(truth=(found.mean, found.cov), printed=_moments(belief, f, scaling)[:2])


@equation(
    "18.96",
    section="18.5.2",
    latex=r"w_m^i = \frac{\lambda}{d + \lambda}",
    corrected=r"w_m^0 = \frac{\lambda}{d + \lambda}",
    cause="weights-of-the-first-point",
)
def weights_of_the_mean(rng: Generator) -> Sides:
    """The weights of the sigma points in the mean sum to one."""
    d, lam = int(rng.integers(1, 6)), rng.uniform(0.6, 4)
    first = lam / (d + lam)
    return Sides(truth=1.0, printed=(2 * d + 1) * first, corrected=first + 2 * d / (2 * (d + lam)))


@equation(
    "18.99 to 18.106, 18.108 to 18.110",
    section="18.5.2",
    latex=r"\boldsymbol{\mu}_t = \bar{\boldsymbol{\mu}}_t + \mathbf{K}_t"
    r" (\mathbf{y}_t - \hat{\mathbf{y}}_t), \quad \boldsymbol{\Sigma}_t ="
    r" \bar{\boldsymbol{\Sigma}}_t - \mathbf{K}_t \mathbf{S}_t \mathbf{K}_t^T, \quad"
    r" \mathbf{K}_t = \bar{\boldsymbol{\Sigma}}_t^{z,y} \mathbf{S}_t^{-1}",
)
def unscented_step(rng: Generator) -> Sides:
    """A prediction and an update of the unscented filter, with (18.107) as corrected."""
    system, y, scaling = _case(rng)
    found = nonlinear_filters.unscented_filter(system, y, scaling).filtered
    before = Gaussian(found.mean[0], found.cov[0])
    mean, cov, _ = _moments(before, lambda z: system.g(1, z), scaling)
    ahead = Gaussian(mean, cov + system.Q)
    seen, S, cross = _moments(ahead, system.h, scaling)
    S = S + system.R
    K = cross @ inv(S)
    return Sides(
        truth=(found.mean[1], found.cov[1]),
        printed=(mean + K @ (y[1] - seen), ahead.cov - K @ S @ K.T),
    )


@equation(
    "18.107",
    section="18.5.2",
    latex=r"\bar{\boldsymbol{\Sigma}}_t^{z,y} = \sum_{i=0}^{2d} w_c^i"
    r" (\bar{\mathbf{z}}_t^{*i} - \bar{\boldsymbol{\mu}}_t)"
    r" (\bar{\mathbf{y}}_t^{*i} - \hat{\mathbf{y}}_t)^T",
    corrected=r"\bar{\boldsymbol{\Sigma}}_t^{z,y} = \sum_{i=0}^{2d} w_c^i"
    r" (\bar{\mathbf{z}}_t^{0i} - \bar{\boldsymbol{\mu}}_t)"
    r" (\bar{\mathbf{y}}_t^{*i} - \hat{\mathbf{y}}_t)^T",
    cause="cross-covariance-of-other-points",
)
def covariance_of_state_and_output(rng: Generator) -> Sides:
    """The covariance of state and output pairs the redrawn points with their own outputs.

    In a linear system, where the covariance is V C^T.
    """
    theta = random_lds(rng)
    scaling = Scaling(rng.uniform(0.7, 1.3), rng.uniform(0, 2), rng.uniform(0.2, 3))
    x, _, w_c = sigma_points(theta.mu0, theta.V0, scaling)
    mean, V = theta.A @ theta.mu0, theta.A @ theta.V0 @ theta.A.T + theta.Gamma
    redrawn = sigma_points(mean, V, scaling).x  # 18.103
    outputs = w_c[:, None] * ((redrawn - mean) @ theta.C.T)
    return Sides(
        truth=V @ theta.C.T,
        printed=(x @ theta.A.T - mean).T @ outputs,  # the points of 18.100
        corrected=(redrawn - mean).T @ outputs,
    )


@equation(
    "18.88, 18.89, a function of one variable",
    section="18.5.1",
    latex=r"\mathbb{E}[g(x)] \approx g(\mu), \quad \text{var}[g(x)] \approx g'(\mu)^2 \sigma^2",
)
def gaussian_of_the_tangent(rng: Generator) -> Sides:
    """The Gaussian of the tangent has the function's value at the mean, and its squared slope."""
    mean, sd, bend = rng.normal(), rng.uniform(0.2, 2), rng.uniform(0.3, 2)
    found = by_tangent(
        np.array([mean]),
        np.array([[sd**2]]),
        lambda x: np.expm1(bend * x) / bend,
        lambda x: np.exp(bend * x)[..., None],
    )
    printed = np.expm1(bend * mean) / bend, np.exp(bend * mean) ** 2 * sd**2
    return Sides(truth=(found.mean[0], found.cov[0, 0]), printed=printed)
