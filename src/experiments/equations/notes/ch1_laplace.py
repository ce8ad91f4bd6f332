"""Equations of Notes 1.5, the Laplace approximation."""

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize
from scipy.special import expit, log_expit
from scipy.stats import multivariate_normal, norm

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.types import Floats


@equation(
    "1.44 to 1.52",
    section="1.5",
    latex=r"\ln f(\mathbf{z}) \simeq \ln f(\mathbf{z}_0)"
    r" - \frac{1}{2} (\mathbf{z} - \mathbf{z}_0)^T"
    r" \mathbf{A} (\mathbf{z} - \mathbf{z}_0), \quad \mathbf{A} = -\nabla \nabla"
    r" \ln f(\mathbf{z})|_{\mathbf{z} = \mathbf{z}_0}, \quad \nabla f(\mathbf{z}_0) = 0",
    within=1e-2,
)
def expansion_at_the_mode(rng: Generator) -> Sides:
    """The expansion about a mode that a search finds: at a hundredth of a unit the rest is small.

    The density is the posterior of the weights of logistic regression.
    """
    D, N = (int(n) for n in rng.integers([1, 4], [4, 9]))
    phi, t, rate = rng.normal(size=(N, D)), rng.integers(0, 2, N), rng.uniform(0.5, 2)

    def log_f(z: Floats) -> Floats:
        return np.asarray(log_expit((2 * t - 1) * (z @ phi.T)).sum(-1) - rate * (z**2).sum(-1) / 2)

    z0 = minimize(lambda z: -log_f(z), np.zeros(D), tol=1e-12).x
    s = expit(phi @ z0)
    A = (phi.T * (s * (1 - s))) @ phi + rate * np.eye(D)
    step = rng.normal(size=(6, D))
    step *= 0.01 / np.linalg.norm(step, axis=1, keepdims=True)
    both = log_f(z0 + step) + log_f(z0 - step) - 2 * log_f(z0)  # the gradient and cubes cancel
    one_sided = log_f(z0 + step) - log_f(z0)
    printed = -1 / 2 * np.einsum("ki,ij,kj->k", step, A, step)
    return Sides(truth=(both, one_sided), printed=(2 * printed, printed))


@equation(
    "1.49",
    section="1.5",
    latex=r"q(z) = \frac{A^{1/2}}{2 \pi} \exp \left\{ -\frac{A}{2} (z - z_0)^2 \right\}",
    corrected=r"q(z) = \left( \frac{A}{2 \pi} \right)^{1/2} \exp \left\{ -\frac{A}{2}"
    r" (z - z_0)^2 \right\}",
    cause="root-of-two-pi",
)
def gaussian_of_one_variable(rng: Generator) -> Sides:
    """The Gaussian of one variable, against SciPy's density."""
    z0, A = rng.normal(0, 2), rng.uniform(0.2, 5)
    z = z0 + rng.normal(0, 1, 6)
    exponential = np.exp(-A / 2 * (z - z0) ** 2)
    return Sides(
        truth=norm(z0, 1 / np.sqrt(A)).pdf(z),
        printed=A ** (1 / 2) / (2 * np.pi) * exponential,
        corrected=(A / (2 * np.pi)) ** (1 / 2) * exponential,
    )


@equation(
    "1.53",
    section="1.5",
    latex=r"q(\mathbf{z}) = \frac{|\mathbf{A}|^{1/2}}{(2 \pi)^{M/2}} \exp \left\{ -\frac{1}{2}"
    r" (\mathbf{z} - \mathbf{z}_0)^T \mathbf{A} (\mathbf{z} - \mathbf{z}_0) \right\}"
    r" = \mathcal{N}(\mathbf{z}|\mathbf{z}_0, \mathbf{A}^{-1})",
)
def gaussian_of_many_variables(rng: Generator) -> Sides:
    """The Gaussian of several variables, against SciPy's density."""
    M = int(rng.integers(1, 5))
    root, z0 = rng.normal(size=(M, M)), rng.normal(0, 2, M)
    A = root @ root.T + 0.3 * np.eye(M)
    z = z0 + rng.normal(size=(6, M))
    square = np.einsum("ki,ij,kj->k", z - z0, A, z - z0)
    constant = np.sqrt(np.prod(np.linalg.eigvalsh(A))) / (2 * np.pi) ** (M / 2)
    truth = multivariate_normal(z0, np.linalg.inv(A)).pdf(z)
    return Sides(truth=truth, printed=constant * np.exp(-1 / 2 * square))


@equation(
    "section 1.5, positive definite",
    section="1.5",
    latex=r"\mathbf{A} > 0 \; \text{if and only if} \; \mathbf{z}_0 \; \text{is a local maximum}",
)
def defined_at_a_maximum(rng: Generator) -> Sides:
    """The precision matrix at a stationary point is positive definite only at a local maximum.

    Stationary points at zero, with cubes and fourth powers besides; 2,000 places nearby.
    """
    turn = np.linalg.qr(rng.normal(size=(2, 2)))[0]
    A = (turn * rng.uniform([0.2, -1.5], [2, 1.5])) @ turn.T
    cubic, quartic = rng.normal(0, 0.3, 2), rng.uniform(0, 0.2, 2)
    angle = np.linspace(0, 2 * np.pi, 2000)
    z = 1e-3 * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    rise = -np.einsum("ki,ij,kj->k", z, A, z) / 2 + z**3 @ cubic - z**4 @ quartic
    maximum = float((rise < 0).all())
    return Sides(truth=maximum, printed=float(np.linalg.eigvalsh(A)[0] > 0))
