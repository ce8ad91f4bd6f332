"""Equations of FCML 2.2 to 2.5: distributions of one and of several variables."""

from math import comb, exp, factorial, pi, sqrt

import numpy as np
from numpy.random import Generator
from scipy import stats
from scipy.integrate import quad
from scipy.special import gamma

from bythebook.experiments.core.equations import Sides, equation


@equation(
    "section 2.2.8, die",
    section="2.2.8",
    latex=r"\mathbf{E}\{Y\} = \frac{21}{6} = 3.5, \quad \mathbf{E}\{Y^2\} = \frac{91}{6}",
)
def die_expectations(rng: Generator) -> Sides:
    """The mean and the mean square of a fair die, as sums over its faces in random order."""
    faces = rng.permutation(np.arange(1, 7))
    return Sides(truth=(np.mean(faces), np.mean(faces**2)), printed=(3.5, 91 / 6))


@equation(
    "exercise 2.2",
    section="2.11",
    latex=r"P(Y = y) = \frac{1}{6}, \quad P(Y < 4) = \frac{1}{2}, \quad P(Y \neq 4) = \frac{5}{6}",
)
def die_faces(rng: Generator) -> Sides:
    """The probabilities of a fair die solve the constraints: all equal, and the sum is one."""
    others = rng.permutation(5)
    rows = [np.eye(6)[k] - np.eye(6)[5] for k in others]
    p = np.linalg.solve(np.vstack([*rows, np.ones(6)]), np.eye(6)[5])
    truth = p, np.sum(p[:3]), np.sum(np.delete(p, 3))
    return Sides(truth=truth, printed=(np.full(6, 1 / 6), 1 / 2, 1 - 1 / 6))


@equation(
    "2.18",
    section="2.3.2",
    latex=r"P(Y = y) = \binom{N}{y} q^y (1 - q)^{N - y}",
)
def binomial_probability(rng: Generator) -> Sides:
    """The binomial distribution, as the distribution of a sum of Bernoulli variables."""
    N, q = int(rng.integers(2, 12)), rng.uniform(0.1, 0.9)
    total = np.ones(1)
    for _ in range(N):
        total = np.convolve(total, [1 - q, q])
    return Sides(
        truth=total, printed=[comb(N, y) * q**y * (1 - q) ** (N - y) for y in range(N + 1)]
    )


@equation(
    "exercise 2.3",
    section="2.11",
    latex=r"\sum_{y=1}^\infty \frac{\lambda^y}{y!} \exp\{-\lambda\} = 1",
    corrected=r"\sum_{y=0}^\infty \frac{\lambda^y}{y!} \exp\{-\lambda\} = 1",
    cause="poisson-without-zero",
)
def poisson_total(rng: Generator) -> Sides:
    """The probabilities of a Poisson variable over all values that it takes."""
    rate = rng.uniform(0.5, 6)
    p = [rate**y / factorial(y) * exp(-rate) for y in range(60)]
    truth = stats.poisson(rate).cdf(np.inf)
    return Sides(truth=truth, printed=np.sum(p[1:]), corrected=np.sum(p))


@equation(
    "exercise 2.3, density",
    section="2.11",
    latex=r"p(y) = \frac{\lambda^y}{y!} \exp\{-\lambda\}",
)
def poisson_probability(rng: Generator) -> Sides:
    """The Poisson probabilities, by SciPy's distribution."""
    rate, y = rng.uniform(0.5, 6), np.arange(12)
    printed = [rate**k / factorial(k) * exp(-rate) for k in range(12)]
    return Sides(truth=stats.poisson(rate).pmf(y), printed=printed)


@equation(
    "2.26",
    section="2.5.2",
    latex=r"p(r) = \frac{\Gamma(\alpha + \beta)}{\Gamma(\alpha) \Gamma(\beta)} r^{\alpha - 1}"
    r" (1 - r)^{\beta - 1}",
)
def beta_density(rng: Generator) -> Sides:
    """The beta density: the powers of r and 1 - r over their integral."""
    alpha, beta, r = rng.uniform(1.2, 9), rng.uniform(1.2, 9), rng.uniform(0.05, 0.95)

    def power(r: float) -> float:
        return float(r ** (alpha - 1) * (1 - r) ** (beta - 1))

    total = quad(power, 0, 1, epsabs=0, epsrel=1e-12)[0]
    factor = gamma(alpha + beta) / (gamma(alpha) * gamma(beta))
    return Sides(truth=power(r) / total, printed=factor * r ** (alpha - 1) * (1 - r) ** (beta - 1))


@equation(
    "2.27",
    section="2.5.3",
    latex=r"p(y | \mu, \sigma^2) = \frac{1}{\sigma \sqrt{2 \pi}} \exp \left\{ -\frac{1}{2 \sigma^2}"
    r" (y - \mu)^2 \right\}",
)
def gaussian_density(rng: Generator) -> Sides:
    """The Gaussian density, by SciPy's."""
    mu, s, y = rng.normal(0, 3), rng.uniform(0.3, 3), rng.normal(0, 3)
    printed = exp(-((y - mu) ** 2) / (2 * s**2)) / (s * sqrt(2 * pi))
    return Sides(truth=stats.norm(mu, s).pdf(y), printed=printed)


@equation(
    "2.28",
    section="2.5.4",
    latex=r"p(\mathbf{x}) = \frac{1}{(2 \pi)^{D/2} |\mathbf{\Sigma}|^{1/2}} \exp \left\{"
    r" -\frac{1}{2} (\mathbf{x} - \mathbf{\mu})^T \mathbf{\Sigma}^{-1} (\mathbf{x} - \mathbf{\mu})"
    r" \right\}",
)
def multivariate_density(rng: Generator) -> Sides:
    """The multivariate Gaussian density, by SciPy's."""
    D = int(rng.integers(1, 5))
    root, mean, x = rng.normal(size=(D, D)), rng.normal(size=D), rng.normal(size=D)
    spread = root @ root.T + 0.5 * np.eye(D)
    form = (x - mean) @ np.linalg.inv(spread) @ (x - mean)
    printed = exp(-form / 2) / ((2 * pi) ** (D / 2) * sqrt(np.linalg.det(spread)))
    return Sides(truth=stats.multivariate_normal(mean, spread).pdf(x), printed=printed)


@equation(
    "exercises 2.5 and 2.6",
    section="2.5.4",
    latex=r"\mathbf{\Sigma} = \text{diag}(\sigma_1^2, \dots, \sigma_D^2): \quad p(\mathbf{w}) ="
    r" \prod_{d=1}^D N(w_d | \mu_d, \sigma_d^2)",
)
def diagonal_density(rng: Generator) -> Sides:
    """With a diagonal covariance, equal variances or not, the density is a product."""
    D = int(rng.integers(2, 6))
    equal = rng.random() < 0.5
    variance = np.full(D, rng.uniform(0.2, 4)) if equal else rng.uniform(0.2, 4, D)
    mean, w = rng.normal(size=D), rng.normal(size=D)
    each = [
        exp(-((w[d] - mean[d]) ** 2) / (2 * variance[d])) / sqrt(2 * pi * variance[d])
        for d in range(D)
    ]
    return Sides(
        truth=stats.multivariate_normal(mean, np.diag(variance)).pdf(w), printed=np.prod(each)
    )
