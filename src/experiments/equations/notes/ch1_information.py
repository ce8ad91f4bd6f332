"""Equations of the Notes 1.1.7: entropies, relative entropy and mutual information."""

import numpy as np
from numpy.random import Generator
from scipy import stats
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import entr

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.types import Floats


def _distribution(rng: Generator) -> Floats:
    return np.asarray(rng.dirichlet(np.ones(int(rng.integers(2, 7)))))


def _table(rng: Generator) -> tuple[Floats, Floats, Floats]:
    """A joint table p(x, y), and its margins p(x) and p(y)."""
    shape = rng.integers(2, 6, 2)
    table = rng.dirichlet(np.ones(shape.prod())).reshape(shape)
    return table, table.sum(1), table.sum(0)


@equation("1.12", section="1.1.7", latex=r"H[x] = -\sum_x p(x) \log_2 p(x)")
def entropy(rng: Generator) -> Sides:
    """The entropy in bits, by SciPy's."""
    p = _distribution(rng)
    return Sides(truth=stats.entropy(p, base=2), printed=-sum(p * np.log2(p)))


@equation(
    "section 1.1.7, discrete",
    section="1.1.7",
    latex=r"\operatorname{argmax}_p H[p] = \text{uniform}",
    within=1e-4,
)
def uniform_entropy(rng: Generator) -> Sides:
    """The distribution with the largest entropy, by a search from a random one."""
    start = _distribution(rng)
    found = minimize(
        lambda p: -float(entr(p).sum()),
        start,
        method="SLSQP",
        bounds=[(1e-9, 1)] * len(start),
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
        options={"ftol": 1e-13},
    )
    return Sides(truth=found.x, printed=np.full(len(start), 1 / len(start)))


@equation(
    "section 1.1.7, continuous",
    section="1.1.7",
    latex=r"\operatorname{argmax}_p H[p] = N(x | \mu, \sigma^2)",
    within=1e-3,
)
def gaussian_entropy_is_largest(rng: Generator) -> Sides:
    """The density with the largest entropy for a given mean and variance, by a search on a grid.

    The sums of p, of x p and of x^2 p are fixed.
    """
    x = np.linspace(-1, 1, 21)
    target = stats.norm.pdf(x, rng.uniform(-0.2, 0.2), rng.uniform(0.25, 0.5))
    target /= target.sum()
    moments = np.vander(x, 3).T
    start = 0.5 * target + 0.5 / len(x)
    found = minimize(
        lambda p: (-float(entr(p).sum()), np.log(p) + 1),
        start,
        jac=True,
        method="SLSQP",
        bounds=[(1e-9, 1)] * len(x),
        constraints={
            "type": "eq",
            "fun": lambda p: moments @ (p - target),
            "jac": lambda p: moments,
        },
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return Sides(truth=found.x, printed=target)


@equation(
    "section 1.1.7, Gaussian",
    section="1.1.7",
    latex=r"H[x] = \frac{1}{2} [1 + \ln(2 \pi \sigma^2)]",
)
def gaussian_entropy(rng: Generator) -> Sides:
    """The differential entropy of a Gaussian, by quadrature."""
    mu, s = rng.normal(0, 3), rng.uniform(0.2, 4)

    def integrand(x: float) -> float:
        return float(entr(stats.norm.pdf(x, mu, s)))

    truth = quad(integrand, mu - 12 * s, mu + 12 * s, points=[mu], epsabs=0, epsrel=1e-12)[0]
    return Sides(truth=truth, printed=(1 + np.log(2 * np.pi * s**2)) / 2)


@equation(
    "1.13",
    section="1.1.7",
    latex=r"H[y|x] = \iint p(y, x) \ln p(y|x) \, dy \, dx, \quad H[x, y] = H[y|x] + H[x]",
    corrected=r"H[y|x] = -\iint p(y, x) \ln p(y|x) \, dy \, dx, \quad H[x, y] = H[y|x] + H[x]",
    cause="conditional-entropy-without-minus",
)
def conditional_entropy(rng: Generator) -> Sides:
    """The entropy of two variables is that of one plus the conditional one of the other."""
    table, x, _ = _table(rng)
    integral = np.sum(table * np.log(table / x[:, None]))
    first = -np.sum(x * np.log(x))
    return Sides(
        truth=stats.entropy(table.ravel()), printed=integral + first, corrected=-integral + first
    )


@equation(
    "1.14",
    section="1.1.7",
    latex=r"\text{KL}(p \| q) = -\int p(x) \ln q(x) \, dx - \left( -\int p(x) \ln p(x) \, dx"
    r" \right)"
    r" = -\int p(x) \ln \frac{q(x)}{p(x)}",
)
def relative_entropy(rng: Generator) -> Sides:
    """The Kullback-Leibler divergence, as a difference and as one sum, by SciPy's."""
    p = _distribution(rng)
    q = rng.dirichlet(np.ones(len(p)))
    difference = -np.sum(p * np.log(q)) + np.sum(p * np.log(p))
    both = difference, -np.sum(p * np.log(q / p))
    return Sides(truth=(stats.entropy(p, q), stats.entropy(p, q)), printed=both)


@equation(
    "1.17",
    section="1.1.7",
    latex=r"\text{KL}(p \| q) \simeq \sum_{n=1}^N \{-\ln q(x_n | \theta) + \ln p(x_n)\}",
    corrected=r"\text{KL}(p \| q) \simeq \frac{1}{N} \sum_{n=1}^N \{-\ln q(x_n | \theta)"
    r" + \ln p(x_n)\}",
    cause="divergence-without-one-over-n",
)
def divergence_of_a_sample(rng: Generator) -> Sides:
    """The divergence from a sample whose shares are exactly the probabilities."""
    counts = rng.integers(1, 9, int(rng.integers(2, 6)))
    sample = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    p, q = counts / len(sample), rng.dirichlet(np.ones(len(counts)))
    total = sum(-np.log(q[n]) + np.log(p[n]) for n in sample)
    return Sides(truth=stats.entropy(p, q), printed=total, corrected=total / len(sample))


@equation(
    "1.18, 1.19",
    section="1.1.7",
    latex=r"I[x, y] = -\iint p(x, y) \ln \left( \frac{p(x) p(y)}{p(x, y)} \right) = H[x] - H[x|y]",
)
def mutual_information(rng: Generator) -> Sides:
    """The mutual information as a divergence, and as a reduction of the entropy, by SciPy's."""
    table, x, y = _table(rng)
    product = np.outer(x, y)
    conditional = sum(y[j] * stats.entropy(table[:, j] / y[j]) for j in range(len(y)))
    truth = stats.entropy(table.ravel(), product.ravel())
    printed = -np.sum(table * np.log(product / table)), stats.entropy(x) - conditional
    return Sides(truth=(truth, truth), printed=printed)
