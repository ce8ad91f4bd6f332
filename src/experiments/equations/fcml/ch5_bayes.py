"""Equations of FCML 5.2.1: the Bayes classifier with Gaussian and multinomial classes."""

from itertools import permutations
from math import factorial

import numpy as np
from numpy.random import Generator
from scipy import stats
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import gammaln, logsumexp, softmax

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.classification import gaussian_classifier
from bythebook.models.types import AnyArray, Floats, Ints


def _points(rng: Generator, D: int = 2) -> tuple[Floats, Ints]:
    """Points of a random number of classes, each with a random shape."""
    sizes = rng.integers(D + 2, 12, rng.integers(2, 5))
    t = np.repeat(np.arange(len(sizes)), sizes)
    shape = rng.normal(size=(len(sizes), D, D))
    centre = rng.normal(0, 2, (len(sizes), D))
    return centre[t] + np.einsum("nd,nde->ne", rng.normal(size=(len(t), D)), shape[t]), t


@equation(
    "5.4, 5.5",
    section="5.2.1.3",
    latex=r"\mathbf{\mu}_c = \frac{1}{N_c} \sum_{n=1}^{N_c} \mathbf{x}_n, \quad \mathbf{\Sigma}_c"
    r" = \frac{1}{N_c} \sum_{n=1}^{N_c} (\mathbf{x}_n - \mathbf{\mu}_c)(\mathbf{x}_n"
    r" - \mathbf{\mu}_c)^T",
)
def class_estimates(rng: Generator) -> Sides:
    """The mean and the covariance that maximise the likelihood of a class, by SciPy's fit."""
    D = int(rng.integers(1, 4))
    X, _ = _points(rng, D)
    mean = sum(X) / len(X)
    scatter = sum(np.outer(x - mean, x - mean) for x in X)
    truth = stats.multivariate_normal.fit(X)
    return Sides(truth=tuple(truth), printed=(mean, scatter / len(X)))


@equation(
    "5.2, 5.3",
    section="5.2.1",
    latex=r"P(T_{new} = c | \mathbf{x}_{new}) = \frac{p(\mathbf{x}_{new} | T_{new} = c) P(T_{new}"
    r" = c)}{\sum_{c'} p(\mathbf{x}_{new} | T_{new} = c') P(T_{new} = c')}",
)
def class_probabilities(rng: Generator) -> Sides:
    """The probability of a class at a new point, from Gaussian densities and priors.

    The project's classifier adds the densities in logarithms.
    """
    X, t = _points(rng)
    x = rng.normal(0, 2, 2)
    classes = gaussian_classifier.fit(X, t)
    joint = [
        stats.multivariate_normal(*each[:2]).pdf(x) * each[2]
        for each in zip(classes.mean, classes.covariance, classes.prior, strict=True)
    ]
    return Sides(truth=gaussian_classifier.probabilities(classes, x), printed=joint / np.sum(joint))


@equation(
    "section 5.2.1.5, density",
    section="5.2.1.5",
    latex=r"p(\mathbf{x}_n | t_n = k) = \prod_{d=1}^2 p(x_{nd} | t_n = k)",
)
def naive_density(rng: Generator) -> Sides:
    """A class density is the product of univariate Gaussians if the attributes are independent."""
    X, t = _points(rng)
    x = rng.normal(0, 1, 2)
    classes = gaussian_classifier.fit(X, t, gaussian_classifier.NAIVE)
    printed = []
    for k in np.unique(t):
        one = [stats.norm.fit(X[t == k, d]) for d in (0, 1)]
        printed.append(np.log([stats.norm(*one[d]).pdf(x[d]) for d in (0, 1)]).sum())
    return Sides(truth=gaussian_classifier.log_likelihood(classes, x), printed=printed)


@equation(
    "section 5.2.1.5, parameters",
    section="5.2.1.5",
    latex=r"D + D + \frac{D(D - 1)}{2}, \quad 2D",
)
def gaussian_parameters(rng: Generator) -> Sides:
    """The free entries of the mean and of the covariance, full and diagonal, listed one by one."""
    D = int(rng.integers(2, 30))
    entries = [(i, j) for i in range(D) for j in range(D) if i <= j]
    diagonal = [entry for entry in entries if entry[0] == entry[1]]
    truth = (D + len(entries), D + len(diagonal))
    return Sides(truth=truth, printed=(D + D + D * (D - 1) / 2, 2 * D))


@equation(
    "sections 5.2.1.5 and 6.3.7, numbers",
    section="5.2.1.5",
    latex=r"D = 2: 5, 3; \quad D = 10: 65, 45 \text{ fewer}, 55",
)
def gaussian_parameters_in_ten(rng: Generator) -> Sides:
    """Parameters of a Gaussian and of its covariance in two and in ten dimensions.

    Five and 65 for mean and covariance, three and 55 for the covariance, 45 fewer with a diagonal
    one; the entries are listed in random order.
    """

    def free(D: int) -> int:
        pairs = rng.permutation([(i, j) for i in range(D) for j in range(D)])
        return len({tuple(sorted(pair)) for pair in pairs.tolist()})

    full = {D: D + free(D) for D in (2, 10)}
    truth = full[2], free(2), full[10], full[10] - (10 + 10), free(10)
    return Sides(truth=truth, printed=(5, 3, 65, 45, 55))


@equation(
    "exercise 5.1",
    section="5.2.1.3",
    latex=r"p(\mathbf{\mu}_c | \mathbf{X}^c) = N(\mathbf{m}, v \mathbf{I}), \quad v = \left( N_c"
    r" + \frac{1}{\sigma^2} \right)^{-1}, \quad \mathbf{m} = v \sum_n \mathbf{x}_n",
    within=1e-7,
)
def class_mean_posterior(rng: Generator) -> Sides:
    """The posterior of a class mean with covariance I and the prior N(0, sigma^2 I).

    The moments of prior times likelihood are integrated for one coordinate.
    """
    x, s2 = rng.normal(1, 2, rng.integers(1, 8)), rng.uniform(0.3, 12)
    v = 1 / (len(x) + 1 / s2)

    def moment(power: int) -> float:
        def integrand(mu: float) -> float:
            likelihood = stats.norm.logpdf(x, mu).sum() - stats.norm.logpdf(x, v * sum(x)).sum()
            return float(mu**power * np.exp(likelihood - mu**2 / (2 * s2)))

        ends = v * sum(x) - 12 * np.sqrt(v), v * sum(x) + 12 * np.sqrt(v)
        return float(quad(integrand, *ends, points=[v * sum(x)], epsabs=0, epsrel=1e-10)[0])

    total, first, second = (moment(power) for power in range(3))
    mean = first / total
    return Sides(truth=(mean, second / total - mean**2), printed=(v * sum(x), v))


@equation(
    "exercise 5.2",
    section="5.2.1.3",
    latex=r"\mathbf{E}\{p(\mathbf{x}_{new} | \mathbf{\mu}_c)\} = N(\mathbf{m}, (1 + v) \mathbf{I})",
    within=1e-8,
)
def expected_class_likelihood(rng: Generator) -> Sides:
    """The expected likelihood of a new point, by quadrature over the posterior of the mean."""
    m, v, x = rng.normal(size=2), rng.uniform(0.05, 2), rng.normal(size=2)
    # The coordinates are independent, in the posterior and in the likelihood.
    truth = 1.0
    for d in (0, 1):
        law = stats.norm(m[d], np.sqrt(v))
        ends = m[d] - 10 * np.sqrt(v), m[d] + 10 * np.sqrt(v)
        truth *= quad(lambda mu, d=d, law=law: stats.norm.pdf(x[d], mu) * law.pdf(mu), *ends)[0]
    return Sides(truth=truth, printed=stats.multivariate_normal(m, (1 + v) * np.eye(2)).pdf(x))


def _texts(rng: Generator) -> tuple[Ints, float]:
    """Counts of words, and the parameter of the prior."""
    return rng.integers(1, 9, rng.integers(2, 6)), rng.uniform(1.05, 4)


def _most_probable(weights: AnyArray) -> Floats:
    """The probabilities q that maximise sum_m weights_m log q_m, by a search over log odds."""

    def loss(a: Floats) -> float:
        a = np.append(a, 0.0)
        return float(-(weights @ (a - logsumexp(a))) / np.sum(weights))

    found = minimize(loss, np.zeros(len(weights) - 1), options={"gtol": 1e-9})
    return np.asarray(softmax(np.append(found.x, 0.0)))


@equation(
    "5.6",
    section="5.2.1.6",
    latex=r"P(\mathbf{x}_n | \mathbf{q}) = \left( \frac{s_n!}{\prod_{m=1}^M x_{nm}!} \right)"
    r" \prod_{m=1}^M q_m^{x_{nm}}",
)
def multinomial(rng: Generator) -> Sides:
    """The probability of the counts of a text, as a sum over all texts with these counts."""
    M, s = int(rng.integers(2, 4)), int(rng.integers(2, 6))
    q = rng.dirichlet(np.ones(M))
    words = rng.integers(M, size=s)
    x = np.bincount(words, minlength=M)
    texts = set(permutations(words.tolist()))
    number = factorial(s) / np.prod([factorial(int(n)) for n in x])
    return Sides(truth=sum(np.prod(q[list(w)]) for w in texts), printed=number * np.prod(q**x))


@equation(
    "section 5.2.1.6, q",
    section="5.2.1.6",
    latex=r"q_{cm} = \frac{\sum_{n=1}^{N_c} x_{nm}}{\sum_{m'=1}^M \sum_{n=1}^{N_c} x_{nm'}}",
    within=1e-4,
)
def word_shares(rng: Generator) -> Sides:
    """The word probabilities that maximise the likelihood, by a numerical search."""
    counts, _ = _texts(rng)
    return Sides(truth=_most_probable(counts), printed=counts / np.sum(counts))


@equation(
    "5.8",
    section="5.2.1.7",
    latex=r"q_{cm} = \frac{\alpha - 1 + \sum_{n=1}^{N_c} x_{nm}}{M (\alpha - 1) + \sum_{m'=1}^M"
    r" \sum_{n=1}^{N_c} x_{nm'}}",
    within=1e-4,
)
def smoothed_words(rng: Generator) -> Sides:
    """The word probabilities that maximise prior times likelihood, by a numerical search."""
    counts, alpha = _texts(rng)
    printed = (alpha - 1 + counts) / (len(counts) * (alpha - 1) + np.sum(counts))
    return Sides(truth=_most_probable(counts + alpha - 1), printed=printed)


@equation(
    "exercise 5.5",
    section="5.2.1.7",
    latex=r"p(\mathbf{q}_c | \mathbf{X}^c) = \text{Dirichlet} \left( \alpha + \sum_{n=1}^{N_c}"
    r" \mathbf{x}_n \right)",
)
def word_posterior(rng: Generator) -> Sides:
    """The posterior of the word probabilities, by Bayes' rule at random probabilities."""
    counts, alpha = _texts(rng)
    M, N = len(counts), int(np.sum(counts))
    q = rng.dirichlet(np.full(M, 2.0))
    prior = stats.dirichlet(np.full(M, alpha)).pdf(q)
    evidence = stats.dirichlet_multinomial(np.full(M, alpha), N).pmf(counts)
    truth = prior * stats.multinomial(N, q).pmf(counts) / evidence
    return Sides(truth=truth, printed=stats.dirichlet(alpha + counts).pdf(q))


@equation(
    "exercise 5.6",
    section="5.2.1.7",
    latex=r"\mathbf{E}\{P(\mathbf{x}_{new} | \mathbf{q}_c)\} = \frac{s!}{\prod_m x_m!}"
    r" \frac{\Gamma(\sum_m a_m)}{\Gamma(s + \sum_m a_m)} \prod_m \frac{\Gamma(a_m + x_m)}"
    r"{\Gamma(a_m)}",
)
def expected_text_likelihood(rng: Generator) -> Sides:
    """The likelihood of a new text, averaged over the posterior, by SciPy's distribution."""
    counts, alpha = _texts(rng)
    a, x = alpha + counts, rng.integers(0, 4, len(counts))
    s = int(np.sum(x))
    orders = gammaln(s + 1) - np.sum(gammaln(x + 1))
    ratio = gammaln(np.sum(a)) - gammaln(s + np.sum(a)) + np.sum(gammaln(a + x) - gammaln(a))
    return Sides(truth=stats.dirichlet_multinomial(a, s).pmf(x), printed=np.exp(orders + ratio))
