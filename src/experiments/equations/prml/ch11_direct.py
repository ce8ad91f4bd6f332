"""Equations of PRML 11.1.1, draws from standard distributions by transformations."""

import numpy as np
from numpy.random import Generator
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import beta, cauchy, expon, multivariate_normal, rayleigh

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.sampling.direct import TRANSFORMS
from bythebook.models.types import Floats


@equation(
    "11.5",
    section="11.1.1",
    latex=r"p(y) = p(z) \left| \frac{dz}{dy} \right|",
    within=1e-6,
)
def density_of_a_transform(rng: Generator) -> Sides:
    """The density of y = f(z), for a z with a beta density and a monotonic f.

    The slope of the distribution function of y, for which f is inverted by a search.
    """
    z, (a, b, c) = beta(*rng.uniform(1.2, 4, 2)), rng.uniform(0.3, 2, 3)
    sign = rng.choice([-1.0, 1.0])

    def f(x: float) -> float:
        return float(sign * (a * x + b * np.exp(c * x)))

    def below(y: float) -> float:
        share = z.cdf(brentq(lambda x: f(x) - y, 0, 1, xtol=1e-14))
        return float(share if sign > 0 else 1 - share)

    x, h = rng.uniform(0.2, 0.8), 1e-4
    slope = (below(f(x) + h) - below(f(x) - h)) / (2 * h)
    return Sides(truth=slope, printed=z.pdf(x) / abs(sign * (a + b * c * np.exp(c * x))))


@equation(
    "11.6",
    section="11.1.1",
    latex=r"z = h(y) \equiv \int_{-\infty}^y p(\hat{y}) \, d\hat{y}",
    within=1e-7,
)
def uniform_number_is_the_integral(rng: Generator) -> Sides:
    """The uniform number of a draw is the integral of the desired density up to the draw."""
    name = str(rng.choice(["exponential", "cauchy", "logistic", "rayleigh"]))
    transform, z = TRANSFORMS[name], rng.uniform(0.1, 0.9, 3)
    theta = transform.parameters(1, rng)[0]
    log_density = transform.log_density
    assert log_density is not None  # of one variable

    def density(x: float) -> float:
        return float(np.exp(log_density(np.array([[x]]), theta)[0]))

    low = -np.inf if name in ("cauchy", "logistic") else 0.0
    ends = transform.of(z[:, None], theta)[:, 0]
    return Sides(truth=[quad(density, low, y, limit=200)[0] for y in ends], printed=z)


@equation(
    "11.7",
    section="11.1.1",
    latex=r"p(y) = \lambda \exp(-\lambda y), \quad h(y) = 1 - \exp(-\lambda y),"
    r" \quad y = -\lambda^{-1} \ln(1 - z)",
)
def exponential_by_logarithm(rng: Generator) -> Sides:
    """Density, distribution function and quantiles of the exponential distribution."""
    rate, y, z = rng.uniform(0.2, 4), rng.uniform(0.1, 6, 7), rng.uniform(0.05, 0.95, 7)
    law = expon(scale=1 / rate)
    return Sides(
        truth=(law.pdf(y), law.cdf(y), law.ppf(z)),
        printed=(rate * np.exp(-rate * y), 1 - np.exp(-rate * y), -np.log(1 - z) / rate),
    )


@equation(
    "11.8",
    section="11.1.1",
    latex=r"p(y) = \frac{1}{\pi} \frac{1}{1 + y^2}, \quad y = \tan \pi (z - \frac{1}{2})",
)
def cauchy_by_its_inverse(rng: Generator) -> Sides:
    """The Cauchy density, and its inverse integral by a tangent (Exercise 11.3).

    The text leaves the argument of the tangent to the exercise.
    """
    y, z = 3 * rng.standard_normal(7), rng.uniform(0.05, 0.95, 7)
    printed = 1 / np.pi * 1 / (1 + y**2), np.tan(np.pi * (z - 0.5))
    return Sides(truth=(cauchy.pdf(y), cauchy.ppf(z)), printed=printed)


def _normal(z: Floats) -> Floats:
    return np.asarray(1 / np.sqrt(2 * np.pi) * np.exp(-(z**2) / 2))


@equation(
    "11.9",
    section="11.1.1",
    latex=r"p(y_1, \ldots, y_M) = p(z_1, \ldots, z_M) \left|"
    r" \frac{\partial (z_1, \ldots, z_M)}{\partial (y_1, \ldots, y_M)} \right|",
)
def density_of_a_vector(rng: Generator) -> Sides:
    """The density of a linear transformation of independent Gaussian variables.

    SciPy's multivariate Gaussian density with the covariance of the transformed variables.
    """
    M = int(rng.integers(2, 5))
    A, mean, z = rng.standard_normal((M, M)), rng.standard_normal(M), rng.standard_normal(M)
    truth = multivariate_normal(mean, A @ A.T).pdf(mean + A @ z)
    inverse = np.linalg.solve(A, np.eye(M))  # dz / dy
    return Sides(truth=truth, printed=np.prod(_normal(z)) * np.exp(np.linalg.slogdet(inverse)[1]))


def _in_the_quarter_disc(rng: Generator) -> Floats:
    radius, angle = rng.uniform(0.1, 0.95), rng.uniform(0.1, np.pi / 2 - 0.1)
    return np.asarray(radius * np.array([np.cos(angle), np.sin(angle)]))


@equation(
    "11.10, 11.11",
    section="11.1.1",
    latex=r"y_1 = z_1 \left( \frac{-2 \ln z_1}{r^2} \right)^{1/2}, \quad"
    r" y_2 = z_2 \left( \frac{-2 \ln z_2}{r^2} \right)^{1/2}",
    corrected=r"y_1 = z_1 \left( \frac{-2 \ln r^2}{r^2} \right)^{1/2}, \quad"
    r" y_2 = z_2 \left( \frac{-2 \ln r^2}{r^2} \right)^{1/2}",
    cause="box-muller-logarithm",
)
def box_muller_pair(rng: Generator) -> Sides:
    """A Gaussian pair from a point of the unit disc whose coordinates are positive.

    The direction of the point, with the radius of a Gaussian pair: r^2 is uniform and independent
    of the direction, and the radius has a Rayleigh distribution.
    """
    z = _in_the_quarter_disc(rng)
    r2 = (z**2).sum()
    return Sides(
        truth=z / np.sqrt(r2) * rayleigh.isf(r2),
        printed=z * np.sqrt(-2 * np.log(z) / r2),
        corrected=z * np.sqrt(-2 * np.log(r2) / r2),
    )


@equation(
    "11.12",
    section="11.1.1",
    latex=r"p(y_1, y_2) = p(z_1, z_2) \left| \frac{\partial (z_1, z_2)}{\partial (y_1, y_2)}"
    r" \right| = \left[ \frac{1}{\sqrt{2 \pi}} \exp(-y_1^2 / 2) \right]"
    r" \left[ \frac{1}{\sqrt{2 \pi}} \exp(-y_2^2 / 2) \right]",
    within=1e-6,
)
def gaussian_pair_density(rng: Generator) -> Sides:
    """The density of a Box-Muller pair, with the logarithm of r^2 (Exercise 11.4).

    The density 1 / pi of the disc times the Jacobian, by central differences of the project's
    transformation.
    """
    z, h = _in_the_quarter_disc(rng), 1e-5
    pair, none = TRANSFORMS["gaussian pair"].of, np.zeros(0)
    slopes = [(pair(z + h * e, none) - pair(z - h * e, none)) / (2 * h) for e in np.eye(2)]
    _, log_size = np.linalg.slogdet(slopes)
    y = pair(z, none)
    return Sides(truth=np.exp(-log_size) / np.pi, printed=np.prod(_normal(y)))


@equation(
    "section 11.1.1, Cholesky factor",
    section="11.1.1",
    latex=r"\mathbf{y} = \boldsymbol{\mu} + \mathbf{L} \mathbf{z}: \quad \mathbb{E}[\mathbf{y}]"
    r" = \boldsymbol{\mu}, \quad \text{cov}[\mathbf{y}] = \boldsymbol{\Sigma} = \mathbf{L}"
    r" \mathbf{L}^T",
)
def cholesky_moments(rng: Generator) -> Sides:
    """Mean and covariance of mu + L z, over a discrete z of mean zero and unit covariance.

    Each component of z has three values with probabilities of its own; all combinations are summed.
    """
    D = int(rng.integers(2, 4))
    B, mean = rng.standard_normal((D, D + 1)), rng.standard_normal(D)
    covariance, values, weights = B @ B.T, [], []
    for _ in range(D):
        x, p = rng.standard_normal(3), rng.dirichlet(np.ones(3))
        x -= p @ x
        values.append(x / np.sqrt(p @ x**2))
        weights.append(p)
    z = np.stack([grid.ravel() for grid in np.meshgrid(*values)])
    w = np.prod([grid.ravel() for grid in np.meshgrid(*weights)], axis=0)
    y = mean[:, None] + np.linalg.cholesky(covariance) @ z
    centre = y @ w
    return Sides(
        truth=(centre, (w * (y - centre[:, None])) @ (y - centre[:, None]).T),
        printed=(mean, covariance),
    )
