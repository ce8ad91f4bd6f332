"""Equations of FCML 4.2.1 and 4.4, the sigmoid, Taylor expansions and Laplace approximations."""

import math

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize_scalar
from scipy.special import comb
from scipy.stats import beta, binom, gamma, logistic, multivariate_normal

from bythebook.experiments.core.equations import Sides, equation


@equation(
    "4.3, limits",
    section="4.2.1",
    latex=r"0 < \frac{1}{1 + \exp(-a)} < 1, \quad a \rightarrow \infty: 1, \quad"
    r" a \rightarrow -\infty: 0",
)
def sigmoid_squashes(rng: Generator) -> Sides:
    """The sigmoid is a distribution function: between 0 and 1, 1/2 at 0, with limits 1 and 0."""
    a = np.concatenate([rng.normal(0, 4, 6), [0.0, rng.uniform(50, 700), -rng.uniform(50, 700)]])
    values = 1 / (1 + np.exp(-a))
    cut = np.clip(values[:6], np.finfo(float).tiny, np.nextafter(1, 0))
    return Sides(truth=logistic.cdf(a), printed=np.concatenate([cut, [0.5, 1.0, 0.0]]))


@equation(
    "comment 4.3, definition",
    section="4.4",
    latex=r"f(w) = \sum_{n=0}^\infty \frac{(w - \hat{w})^n}{n!} \left."
    r" \frac{\partial^n f(w)}{\partial w^n} \right|_{\hat{w}}",
)
def taylor_series(rng: Generator) -> Sides:
    """The Taylor series of log(1 + w) about a place, whose derivatives are powers."""
    hat = rng.uniform(0.5, 3)
    w = hat + rng.uniform(-0.4, 0.4, 5)
    total = np.full(5, np.log1p(hat))
    for n in range(1, 60):
        derivative = (-1) ** (n - 1) * math.factorial(n - 1) / (1 + hat) ** n
        total = total + (w - hat) ** n / math.factorial(n) * derivative
    return Sides(truth=np.log1p(w), printed=total)


@equation(
    "comment 4.3, example",
    section="4.4",
    latex=r"\exp(w) = 1 + \frac{w}{1!} + \frac{w^2}{2!} + \frac{w^3}{3!} + \dots",
    within=1e-3,
)
def exponential_series(rng: Generator) -> Sides:
    """The terms of the exponential about zero, by finite differences of the exponential."""
    w, h = rng.uniform(-2, 2), 0.01
    steps = np.exp(h * np.array([-1.5, -0.5, 0.5, 1.5]))
    third = (np.diff(steps, n=3) / h**3).item()
    second = (np.exp(h) - 2 + np.exp(-h)) / h**2
    first = (np.exp(h) - np.exp(-h)) / (2 * h)
    truth = [1, first * w, second * w**2 / 2, third * w**3 / 6]
    printed = [1, w / math.factorial(1), w**2 / math.factorial(2), w**3 / math.factorial(3)]
    return Sides(truth=np.array(truth) + 2, printed=np.array(printed) + 2)


@equation(
    "comment 4.3, errors",
    section="4.4",
    latex=r"\max_w |f_{n+1}(w) - f(w)| < \max_w |f_n(w) - f(w)|, \quad |f_n(w) - f(w)|"
    r" \text{ rises with } |w - \hat{w}|",
)
def errors_of_expansions(rng: Generator) -> Sides:
    """Errors of expansions of the exponential fall with the order and rise with the distance.

    Cutting each error off at that of the order before, or at the next place, changes nothing.
    """
    w = np.sort(rng.uniform(0, rng.uniform(1, 3), 40))
    approximation, errors = np.zeros((2, 40)), []
    for n in range(6):
        approximation = approximation + np.array([w**n, (-w) ** n]) / math.factorial(n)
        errors.append(np.abs(approximation - np.exp([w, -w])))
    error = np.array(errors)  # order, side, place
    largest = error.max((1, 2))
    truth = largest[1:], error[:, :, :-1]
    return Sides(
        truth=truth,
        printed=(
            np.minimum(largest[1:], largest[:-1]),
            np.minimum(error[:, :, :-1], error[:, :, 1:]),
        ),
    )


@equation(
    "4.14, mode and variance",
    section="4.4.1",
    latex=r"\hat{y} = \frac{\alpha - 1}{\beta}, \quad \sigma^2 = \frac{\alpha - 1}{\beta^2}",
    within=1e-5,
)
def laplace_of_gamma(rng: Generator) -> Sides:
    """Mode of a gamma density by a search, and the variance by differences at the mode."""
    alpha, rate = rng.uniform(1.5, 30), rng.uniform(0.2, 5)
    law = gamma(alpha, scale=1 / rate)
    ends = law.ppf([1e-6, 1 - 1e-6])
    options = {"xatol": 1e-9}
    found = minimize_scalar(
        lambda y: -law.logpdf(y), bounds=ends, method="bounded", options=options
    )
    mode, h = found.x, 1e-3 * law.std()
    second = (law.logpdf(mode + h) - 2 * law.logpdf(mode) + law.logpdf(mode - h)) / h**2
    return Sides(truth=(mode, -1 / second), printed=((alpha - 1) / rate, (alpha - 1) / rate**2))


@equation(
    "4.14",
    section="4.4.1",
    latex=r"p(y|\alpha, \beta) = \frac{\beta^\alpha}{\Gamma(\alpha)} y^{\alpha - 1}"
    r" \exp\{-\beta y\}",
)
def gamma_density(rng: Generator) -> Sides:
    """The gamma density with the rate beta, against SciPy's."""
    alpha, rate = rng.uniform(0.5, 12), rng.uniform(0.2, 5)
    y = gamma(alpha, scale=1 / rate).rvs(6, random_state=rng)
    printed = rate**alpha / math.gamma(alpha) * y ** (alpha - 1) * np.exp(-rate * y)
    return Sides(truth=gamma(alpha, scale=1 / rate).pdf(y), printed=printed)


@equation(
    "exercise 4.1",
    section="4.7",
    latex=r"p(t_n|\mathbf{x}_n, \mathbf{w}) = \mathcal{N}(\mathbf{w}^T \mathbf{x}_n, 1): \quad"
    r" \mathcal{N}(\hat{\mathbf{w}}, \mathbf{\Sigma}) = p(\mathbf{w}|\mathbf{X}, \mathbf{t})",
    within=1e-7,
)
def laplace_of_linear_regression(rng: Generator) -> Sides:
    """The Laplace approximation of linear regression with a Gaussian prior is the posterior.

    Mode and curvature by Newton steps and differences; the posterior by conditioning.
    """
    D, N = (int(n) for n in rng.integers([1, 4], [4, 9]))
    X, t, root = rng.normal(size=(N, D)), rng.normal(0, 2, N), rng.normal(size=(D, D))
    S0, e, h = root @ root.T + 0.5 * np.eye(D), np.eye(D), 0.5

    def log_g(w: np.ndarray) -> float:
        prior = multivariate_normal(np.zeros(D), S0).logpdf(w)
        return float(prior - ((t - X @ w) ** 2).sum() / 2)

    zero = np.zeros(D)
    slope = np.array([(log_g(h * a) - log_g(-h * a)) / (2 * h) for a in e])
    corners = [[log_g(h * (a + b)) - log_g(h * (a - b)) for b in e] for a in e]
    opposite = [[log_g(h * (b - a)) - log_g(-h * (a + b)) for b in e] for a in e]
    hessian = (np.array(corners) - np.array(opposite)) / (4 * h**2)
    mode = zero - np.linalg.solve(hessian, slope)  # one step is enough for a parabola
    gain = np.linalg.solve(X @ S0 @ X.T + np.eye(N), X @ S0).T
    return Sides(truth=(gain @ t, S0 - gain @ X @ S0), printed=(mode, np.linalg.inv(-hessian)))


@equation(
    "exercise 4.2",
    section="4.7",
    latex=r"\hat{r} = \frac{\alpha + y - 1}{\alpha + \beta + N - 2}, \quad \sigma^2"
    r" = \frac{\hat{r} (1 - \hat{r})}{\alpha + \beta + N - 2}",
    within=1e-5,
)
def laplace_of_coin(rng: Generator) -> Sides:
    """The mode of a coin's posterior by a search, and the variance by differences at the mode."""
    (a, b), N = rng.uniform(1.2, 6, 2), int(rng.integers(3, 40))
    y = int(rng.integers(1, N))
    law = beta(a + y, b + N - y)
    options = {"xatol": 1e-10}
    found = minimize_scalar(
        lambda r: -law.logpdf(r), bounds=(0, 1), method="bounded", options=options
    )
    mode, h = found.x, 2e-3 * law.std()
    second = (law.logpdf(mode + h) - 2 * law.logpdf(mode) + law.logpdf(mode - h)) / h**2
    total = a + b + N - 2
    r = (a + y - 1) / total
    return Sides(truth=(mode, -1 / second), printed=(r, r * (1 - r) / total))


@equation(
    "exercise 4.2, likelihood",
    section="4.7",
    latex=r"p(y|r, N) = \binom{y}{N} r^y (1 - r)^{N - y}",
    corrected=r"p(y|r, N) = \binom{N}{y} r^y (1 - r)^{N - y}",
    cause="binomial-coefficient-upside-down",
)
def binomial_likelihood(rng: Generator) -> Sides:
    """The binomial likelihood of every number of heads."""
    N, r = int(rng.integers(2, 12)), rng.uniform(0.1, 0.9)
    y = np.arange(N + 1)
    tosses = r**y * (1 - r) ** (N - y)
    return Sides(
        truth=binom(N, r).pmf(y), printed=comb(y, N) * tosses, corrected=comb(N, y) * tosses
    )
