"""Equations of FCML 2.2 to 2.5 and the exercises of chapter 2: counts, densities, estimates."""

from itertools import combinations, product
from math import factorial

import numpy as np
from numpy.random import Generator
from scipy import stats
from scipy.integrate import quad

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.types import Floats


@equation(
    "comment 2.3",
    section="2.3.3",
    latex=r"\binom{N}{y} = \frac{N!}{y! (N - y)!}, \quad \binom{4}{1} = 4, \quad \binom{4}{2} = 6",
)
def choices(rng: Generator) -> Sides:
    """The number of ways to choose y of N objects, listed one by one."""
    N = int(rng.integers(3, 12))
    y = int(rng.integers(1, N))

    def listed(N: int, y: int) -> int:
        return len({frozenset(chosen) for chosen in combinations(rng.permutation(N), y)})

    printed = factorial(N) / (factorial(y) * factorial(N - y))
    return Sides(truth=(listed(N, y), listed(4, 1), listed(4, 2)), printed=(printed, 4, 6))


@equation(
    "2.10, examples",
    section="2.2.6",
    latex=r"J = 3: 4 \text{ terms}, \quad J = 4: 8 \text{ terms}, \quad 2^{J-1}, \; 6^{J-1}",
)
def marginal_terms(rng: Generator) -> Sides:
    """The terms of a marginal sum over J - 1 binary variables, or dice."""

    def terms(outcomes: int, J: int) -> int:
        states = product(range(outcomes), repeat=J)
        kept = rng.integers(J)
        return sum(1 for state in states if state[kept] == 0)

    J, outcomes = int(rng.integers(2, 6)), int(rng.choice([2, 6]))
    truth = terms(2, 3), terms(2, 4), terms(outcomes, J)
    return Sides(truth=truth, printed=(4, 8, outcomes ** (J - 1)))


@equation("comment 2.4", section="2.4", latex=r"\int_2^3 2x \, dx = 5")
def definite_integral(rng: Generator) -> Sides:
    """The area under 2x between two and three, in two parts that are integrated numerically."""
    cut = rng.uniform(2.1, 2.9)
    parts = [quad(lambda x: 2 * x, *ends)[0] for ends in ((2, cut), (cut, 3))]
    return Sides(truth=sum(parts), printed=5)


@equation("section 2.5.1", section="2.5.1", latex=r"r = \frac{1}{b - a}")
def uniform_height(rng: Generator) -> Sides:
    """The height of the uniform density between a and b, by SciPy's density."""
    a = rng.normal(0, 3)
    b = a + rng.uniform(0.2, 5)
    return Sides(truth=stats.uniform(a, b - a).pdf(rng.uniform(a, b)), printed=1 / (b - a))


@equation(
    "exercises 2.8 and 2.10",
    section="2.11",
    latex=r"\hat{\mathbf{\mu}} = \frac{1}{N} \sum_n \mathbf{x}_n, \quad \hat{\mathbf{\Sigma}} ="
    r" \frac{1}{N} \sum_n (\mathbf{x}_n - \hat{\mathbf{\mu}})(\mathbf{x}_n - \hat{\mathbf{\mu}})^T",
    within=1e-4,
)
def gaussian_estimates(rng: Generator) -> Sides:
    """The mean and the covariance maximise the likelihood: its derivatives there are zero.

    The gradient is taken by central differences, in the mean and in the entries of the covariance.
    Mean and covariance plus this gradient are compared.
    """
    N, D = int(rng.integers(8, 30)), int(rng.integers(1, 3))
    X = rng.normal(1, 2, (N, D)) @ rng.normal(size=(D, D))
    mean = np.sum(X, axis=0) / N
    spread = sum(np.outer(x - mean, x - mean) for x in X) / N
    printed = np.append(mean, spread)

    def likelihood(v: Floats) -> float:
        law = stats.multivariate_normal(v[:D], (v[D:].reshape(D, D) + v[D:].reshape(D, D).T) / 2)
        return float(law.logpdf(X).sum() / N)

    steps = 1e-5 * np.sqrt(np.diag(spread).min()) * np.eye(len(printed))
    slope = [(likelihood(printed + h) - likelihood(printed - h)) / (2 * h.max()) for h in steps]
    scale = np.append(
        np.repeat(np.diag(spread).min(), D), np.repeat(np.diag(spread).min() ** 2, D * D)
    )
    return Sides(truth=printed, printed=printed + slope * scale)


@equation("exercise 2.9", section="2.11", latex=r"\hat{q} = \frac{1}{N} \sum_n x_n", within=1e-6)
def bernoulli_estimate(rng: Generator) -> Sides:
    """The share of ones maximises the likelihood: the best of a fine grid is the nearest to it."""
    x = rng.permutation(np.arange(rng.integers(5, 20)) < rng.integers(1, 5)).astype(int)
    grid = np.linspace(0, 1, 20001)[1:-1]
    log_p = stats.bernoulli.logpmf(x[:, None], grid).sum(axis=0)
    best = int(log_p.argmax())
    a, b, c = log_p[best - 1 : best + 2]
    truth = grid[best] + (grid[1] - grid[0]) * (a - c) / (2 * (a - 2 * b + c))  # of the parabola
    return Sides(truth=truth, printed=np.sum(x) / len(x))


@equation(
    "exercise 2.11",
    section="2.11",
    latex=r"\widehat{\sigma^2} = \frac{1}{N} (\mathbf{t}^T \mathbf{t} - \mathbf{t}^T \mathbf{X}"
    r" \hat{\mathbf{w}}) = \frac{1}{N} \sum_{n=1}^N (t_n - \mathbf{x}_n^T \hat{\mathbf{w}})^2",
)
def noise_variance(rng: Generator) -> Sides:
    """Two expressions of the noise variance at the weights of least squares."""
    N, D = int(rng.integers(5, 20)), int(rng.integers(1, 4))
    X, t = rng.normal(size=(N, D)), rng.normal(1, 2, N)
    w = np.linalg.lstsq(X, t)[0]
    return Sides(
        truth=sum((t[n] - X[n] @ w) ** 2 for n in range(N)) / N, printed=(t @ t - t @ X @ w) / N
    )


@equation("exercise 2.13", section="2.11", latex=r"\mathcal{I} = \frac{1}{q (1 - q)}", within=1e-6)
def bernoulli_information(rng: Generator) -> Sides:
    """The information in a toss: the expected curvature of the log likelihood, by differences."""
    q, h = rng.uniform(0.1, 0.9), 1e-4

    def log_p(x: int, p: float) -> float:
        return float(np.log(p) if x else np.log(1 - p))

    curvature = [(log_p(x, q + h) - 2 * log_p(x, q) + log_p(x, q - h)) / h**2 for x in (0, 1)]
    truth = -((1 - q) * curvature[0] + q * curvature[1])
    return Sides(truth=truth, printed=1 / (q * (1 - q)))


@equation("exercise 2.14", section="2.11", latex=r"\mathcal{I} = \mathbf{\Sigma}^{-1}", within=1e-6)
def mean_information(rng: Generator) -> Sides:
    """The information of the mean of a Gaussian: minus the curvature of its log density."""
    D = int(rng.integers(1, 4))
    root = rng.normal(size=(D, D))
    spread, mean, x = root @ root.T + 0.5 * np.eye(D), rng.normal(size=D), rng.normal(size=D)

    def f(m: Floats) -> float:
        return float(stats.multivariate_normal(m, spread).logpdf(x))

    e = 0.1 * np.eye(D)  # the log density is quadratic in the mean: differences are exact
    truth = [
        [
            -(f(mean + a + b) - f(mean + a - b) - f(mean - a + b) + f(mean - a - b)) / (4 * 0.1**2)
            for b in e
        ]
        for a in e
    ]
    return Sides(truth=truth, printed=np.linalg.inv(spread))
