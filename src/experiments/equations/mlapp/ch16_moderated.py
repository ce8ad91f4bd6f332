"""Equations of MLAPP 16.5.7, a Gaussian posterior of a network's weights."""

import numpy as np
from numpy.random import Generator
from scipy.special import expit
from scipy.stats import bernoulli, norm

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.types import Floats


def _activation(w: Floats, x: Floats) -> float:
    """The activation of a network with two tanh units and two inputs, from its weights (6,)."""
    return float(w[4:] @ np.tanh(w[:4].reshape(2, 2) @ x))


@equation(
    "16.89",
    section="16.5.7.1",
    latex=r"E_D(\mathbf{w}) = \sum_{n=1}^N \left[ y_n \ln f(\mathbf{x}_n, \mathbf{w})"
    r" + (1 - y_n) \ln f(\mathbf{x}_n, \mathbf{w}) \right]",
    corrected=r"E_D(\mathbf{w}) = -\sum_{n=1}^N \left[ y_n \ln f(\mathbf{x}_n, \mathbf{w})"
    r" + (1 - y_n) \ln(1 - f(\mathbf{x}_n, \mathbf{w})) \right]",
    cause="cross-entropy-without-the-other-class",
)
def network_error(rng: Generator) -> Sides:
    """The error of a network with two classes: minus a log likelihood."""
    f, y = rng.uniform(0.05, 0.95, 6), np.append(rng.integers(0, 2, 5), 0)
    return Sides(
        truth=-bernoulli(f).logpmf(y).sum(),
        printed=(y * np.log(f) + (1 - y) * np.log(f)).sum(),
        corrected=-(y * np.log(f) + (1 - y) * np.log(1 - f)).sum(),
    )


@equation(
    "16.96",
    section="16.5.7.4",
    latex=r"a(\mathbf{x}, \mathbf{w}) \approx a_{MP}(\mathbf{x}) + \mathbf{g}^T (\mathbf{w}"
    r" - \mathbf{w}_{MP}), \quad \mathbf{g} = \nabla_{\mathbf{x}} a(\mathbf{x}, \mathbf{w}_{MP})",
    corrected=r"a(\mathbf{x}, \mathbf{w}) \approx a_{MP}(\mathbf{x}) + \mathbf{g}^T (\mathbf{w}"
    r" - \mathbf{w}_{MP}), \quad \mathbf{g} = \nabla_{\mathbf{w}} a(\mathbf{x}, \mathbf{w}_{MP})",
    cause="gradient-in-the-input",
    within=1e-5,
)
def expansion_in_the_weights(rng: Generator) -> Sides:
    """The expansion of an activation in its weights, for steps of the first two weights.

    The slope of the activation along a step; the gradient in the input has two entries as well.
    """
    w, x, h = rng.normal(size=6), rng.normal(0, 1.5, 2), 1e-5
    step = np.append(rng.normal(size=2), np.zeros(4))
    slope = (_activation(w + h * step, x) - _activation(w - h * step, x)) / (2 * h)
    inner = (1 - np.tanh(w[:4].reshape(2, 2) @ x) ** 2) * w[4:]
    in_input, in_weights = inner @ w[:4].reshape(2, 2), inner[0] * x
    return Sides(truth=slope, printed=in_input @ step[:2], corrected=in_weights @ step[:2])


@equation(
    "16.97",
    section="16.5.7.4",
    latex=r"p(a|\mathbf{x}, \mathcal{D}) \approx \mathcal{N}(a(\mathbf{x}, \mathbf{w}_{MP}),"
    r" \mathbf{g}(\mathbf{x})^T \mathbf{A}^{-1} \mathbf{g}(\mathbf{x}))",
)
def linearised_activation(rng: Generator) -> Sides:
    """Mean and variance of a linear activation under Gaussian weights, by quadrature."""
    root, g, offset = rng.normal(size=(2, 2)), rng.normal(size=2), rng.normal()
    A = root @ root.T + 0.5 * np.eye(2)
    z, weight = np.polynomial.hermite_e.hermegauss(4)
    grid = np.stack(np.meshgrid(z, z, indexing="ij"), axis=-1).reshape(-1, 2)
    p = np.outer(weight, weight).ravel() / weight.sum() ** 2
    a = offset + grid @ np.linalg.cholesky(np.linalg.inv(A)).T @ g
    truth = p @ a, p @ (a - p @ a) ** 2
    return Sides(truth=truth, printed=(offset, g @ np.linalg.solve(A, g)))


@equation(
    "16.98, 16.99",
    section="16.5.7.4",
    latex=r"\int \text{sigm}(a) \mathcal{N}(a|\mu, \sigma^2) \, da \approx"
    r" \text{sigm}(\kappa(\sigma^2) \mu), \quad"
    r" \kappa(\sigma^2) = (1 + \pi \sigma^2 / 8)^{-\frac{1}{2}}",
    within=0.076,
)
def moderated_output(rng: Generator) -> Sides:
    """The moderated output against the integral by quadrature.

    A sigmoid and the scaled probit function differ by up to 0.019, and the formula uses this twice:
    up to 0.038 in a probability, and the larger of both classes is at least one half.
    """
    m, v = rng.normal(0, 2), rng.uniform(0.2, 25)
    a, step = np.linspace(m - 60, m + 60, 12_001, retstep=True)
    integral = (expit(a) * norm(m, np.sqrt(v)).pdf(a)).sum() * step
    kappa = (1 + np.pi * v / 8) ** (-1 / 2)
    printed = expit(kappa * m)
    return Sides(truth=[integral, 1 - integral], printed=[printed, 1 - printed])
