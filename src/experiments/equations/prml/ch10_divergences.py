"""Equations of PRML 10.1 and 10.7, factorised approximations and divergences."""

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax, xlogy
from scipy.stats import entropy, multivariate_normal, norm

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.approximation import divergences
from bythebook.models.types import Floats

X = np.linspace(-30, 30, 3001)  # places at which densities are summed
STEP = X[1] - X[0]


def _gaussians(rng: Generator) -> tuple[Floats, Floats]:
    """The means and the variances of two Gaussians, whose variances have a ratio below 2."""
    m = rng.uniform(-1, 1) + np.array([0, rng.choice([-1, 1]) * rng.uniform(0.2, 1.5)])
    return m, rng.uniform(0.75, 1.4, 2)


def _densities(m: Floats, v: Floats) -> Floats:
    return np.array([norm(a, np.sqrt(b)).pdf(X) for a, b in zip(m, v, strict=True)])


def _kl(m: Floats, v: Floats) -> float:
    """KL of the first Gaussian from the second one, in closed form."""
    return float((v[0] / v[1] + (m[0] - m[1]) ** 2 / v[1] - 1 + np.log(v[1] / v[0])) / 2)


def _alpha(p: Floats, q: Floats, alpha: float) -> float:
    """The divergence (10.19) by a sum."""
    integral = (p ** ((1 + alpha) / 2) * q ** ((1 - alpha) / 2)).sum() * STEP
    return float(4 / (1 - alpha**2) * (1 - integral))


@equation(
    "10.2 to 10.4",
    section="10.1",
    latex=r"\ln p(\mathbf{X}) = \mathcal{L}(q) + \text{KL}(q\|p), \quad \mathcal{L}(q) = \int"
    r" q(\mathbf{Z}) \ln \left\{ \frac{p(\mathbf{X}, \mathbf{Z})}{q(\mathbf{Z})} \right\}"
    r" d\mathbf{Z}, \quad \text{KL}(q\|p) = -\int q(\mathbf{Z}) \ln \left\{"
    r" \frac{p(\mathbf{Z}|\mathbf{X})}{q(\mathbf{Z})} \right\} d\mathbf{Z}",
)
def bound_and_divergence(rng: Generator) -> Sides:
    """The bound and the divergence add up to the log evidence, for hidden states."""
    joint, q = rng.exponential(1, 7) * rng.uniform(0.01, 1), rng.dirichlet(np.ones(7))
    bound = (q * np.log(joint / q)).sum()
    divergence = -(q * np.log(joint / joint.sum() / q)).sum()
    return Sides(truth=np.log(joint.sum()), printed=bound + divergence)


@equation(
    "10.9",
    section="10.1.1",
    latex=r"\ln q_j^*(\mathbf{Z}_j) = \mathbb{E}_{i \neq j}[\ln p(\mathbf{X}, \mathbf{Z})]"
    r" + \text{const}",
    within=1e-5,
)
def optimal_factor(rng: Generator) -> Sides:
    """The factor that maximises the bound, by a search over its probabilities."""
    K, M = (int(n) for n in rng.integers(2, 5, 2))
    log_p, other = rng.normal(0, 1.5, (K, M)), rng.dirichlet(np.ones(M))

    def cost(logits: Floats) -> float:
        q = softmax(logits)
        return float(-(q @ log_p @ other) + xlogy(q, q).sum())

    found = softmax(minimize(cost, np.zeros(K), tol=1e-12).x)
    printed = np.exp(log_p @ other)
    return Sides(truth=found, printed=printed / printed.sum())


@equation(
    "10.11 to 10.15",
    section="10.1.2",
    latex=r"q^*(z_1) = \mathcal{N}(z_1|m_1, \Lambda_{11}^{-1}), \quad m_1 = \mu_1"
    r" - \Lambda_{11}^{-1} \Lambda_{12} (\mathbb{E}[z_2] - \mu_2)",
)
def factor_of_a_gaussian(rng: Generator) -> Sides:
    """A factor of a Gaussian of two variables is Gaussian without having been assumed so.

    The expectation of ln p is a sum over any density of the other variable.
    """
    root, mu = rng.normal(size=(2, 2)), rng.normal(0, 2, 2)
    S = root @ root.T + 0.3 * np.eye(2)
    weight = rng.dirichlet(np.ones(5))
    other, z = mu[1] + rng.normal(0, 2, 5), rng.normal(0, 2, 6)
    pairs = np.stack(np.meshgrid(z, other, indexing="ij"), axis=-1)
    truth = multivariate_normal(mu, S).logpdf(pairs) @ weight
    L = np.linalg.inv(S)
    m = mu[0] - L[0, 1] / L[0, 0] * (weight @ other - mu[1])
    printed = norm(m, np.sqrt(1 / L[0, 0])).logpdf(z)
    return Sides(truth=truth[1:] - truth[0], printed=printed[1:] - printed[0])


@equation(
    "exercise 10.2",
    section="10.1.2",
    latex=r"\mathbb{E}[z_1] = \mu_1, \quad \mathbb{E}[z_2] = \mu_2",
)
def means_of_the_factors(rng: Generator) -> Sides:
    """The means of the factors are those of p: the only solution of (10.13) and (10.15)."""
    root, mu = rng.normal(size=(2, 2)), rng.normal(0, 2, 2)
    L = root @ root.T + 0.3 * np.eye(2)
    system = [[1, L[0, 1] / L[0, 0]], [L[1, 0] / L[1, 1], 1]]
    right = [mu[0] + L[0, 1] / L[0, 0] * mu[1], mu[1] + L[1, 0] / L[1, 1] * mu[0]]
    return Sides(truth=np.linalg.solve(system, right), printed=mu)


@equation(
    "10.16",
    section="10.1.2",
    latex=r"\text{KL}(p\|q) = -\int p(\mathbf{Z}) \left[ \sum_{i=1}^M \ln q_i(\mathbf{Z}_i) \right]"
    r" d\mathbf{Z} + H[p]",
    corrected=r"\text{KL}(p\|q) = -\int p(\mathbf{Z}) \left[ \sum_{i=1}^M \ln q_i(\mathbf{Z}_i)"
    r" \right] d\mathbf{Z} - H[p]",
    cause="constant-is-minus-the-entropy",
)
def constant_of_the_divergence(rng: Generator) -> Sides:
    """The divergence from a factorised q, with the entropy of p as its constant."""
    p = rng.dirichlet(np.ones(12)).reshape(3, 4)
    one, other = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(4))
    expected = -(p * (np.log(one)[:, None] + np.log(other))).sum()
    truth = entropy(p.ravel(), np.outer(one, other).ravel())
    return Sides(
        truth=truth, printed=expected + entropy(p.ravel()), corrected=expected - entropy(p.ravel())
    )


@equation(
    "10.17",
    section="10.1.2",
    latex=r"q_j^*(\mathbf{Z}_j) = \int p(\mathbf{Z}) \prod_{i \neq j} d\mathbf{Z}_i"
    r" = p(\mathbf{Z}_j)",
    within=1e-5,
)
def factors_are_marginals(rng: Generator) -> Sides:
    """The factors that minimise KL(p||q), by a search over both, are the marginals of p."""
    K, M = (int(n) for n in rng.integers(2, 5, 2))
    p = rng.dirichlet(np.ones(K * M)).reshape(K, M)

    def cost(logits: Floats) -> float:
        log_q = log_softmax(logits[:K])[:, None] + log_softmax(logits[K:])
        return float(-(p * log_q).sum())

    found = minimize(cost, np.zeros(K + M), tol=1e-13).x
    truth = softmax(found[:K]), softmax(found[K:])
    return Sides(truth=truth, printed=(p.sum(1), p.sum(0)))


@equation(
    "section 10.1.1, convexity",
    section="10.1.1",
    latex=r"\mathcal{L} \left( \frac{q_i + q_i'}{2} \right) \leq \frac{\mathcal{L}(q_i)"
    r" + \mathcal{L}(q_i')}{2}",
    corrected=r"\mathcal{L} \left( \frac{q_i + q_i'}{2} \right) \geq \frac{\mathcal{L}(q_i)"
    r" + \mathcal{L}(q_i')}{2}",
    cause="bound-called-convex",
)
def bound_in_one_factor(rng: Generator) -> Sides:
    """The bound between two values of one factor, cut off at the mean of both ends."""
    log_p, other = rng.normal(0, 1.5, (4, 3)), rng.dirichlet(np.ones(3))

    def bound(q: Floats) -> float:
        return float(q @ log_p @ other - xlogy(q, q).sum() - xlogy(other, other).sum())

    ends = rng.dirichlet(np.ones(4), 2)
    middle, chord = bound(ends.mean(0)), (bound(ends[0]) + bound(ends[1])) / 2
    return Sides(truth=middle, printed=min(middle, chord), corrected=max(middle, chord))


@equation(
    "10.19, limits",
    section="10.1.2",
    latex=r"\alpha \rightarrow 1: D_\alpha(p\|q) \rightarrow \text{KL}(p\|q), \quad"
    r" \alpha \rightarrow -1: D_\alpha(p\|q) \rightarrow \text{KL}(q\|p)",
    within=1e-4,
)
def limits_of_the_alpha_family(rng: Generator) -> Sides:
    """The divergence (10.19) near its limits, by quadrature, against closed forms."""
    m, v = _gaussians(rng)
    p, q = _densities(m, v)
    near = 1 - 1e-5
    printed = [
        4 / (1 - a**2) * (1 - (p ** ((1 + a) / 2) * q ** ((1 - a) / 2)).sum() * STEP)
        for a in (near, -near)
    ]
    return Sides(truth=[_kl(m, v), _kl(m[::-1], v[::-1])], printed=printed)


@equation(
    "10.19",
    section="10.1.2",
    latex=r"D_\alpha(p\|q) = \frac{4}{1 - \alpha^2} \left( 1 - \int p(x)^{(1 + \alpha)/2}"
    r" q(x)^{(1 - \alpha)/2} \, dx \right)",
    within=1e-7,
)
def alpha_family(rng: Generator) -> Sides:
    """The divergence as the model computes it, against the closed form for two Gaussians."""
    (m, v), alpha = _gaussians(rng), rng.uniform(-2, 2)
    p, q = _densities(m, v)
    high, low = (1 + alpha) / 2, (1 - alpha) / 2
    wide = high * v[1] + low * v[0]
    integral = v[0] ** (low / 2) * v[1] ** (high / 2) / np.sqrt(wide)
    integral *= np.exp(-high * low * (m[0] - m[1]) ** 2 / (2 * wide))
    truth = float(divergences.alpha_divergence(p, q, alpha, STEP))
    return Sides(truth=truth, printed=4 / (1 - alpha**2) * (1 - integral))


@equation(
    "10.20",
    section="10.1.2",
    latex=r"\alpha = 0: \quad D_0(p\|q) = D_0(q\|p) = 2 D_H(p\|q), \quad D_H(p\|q) = \int \left("
    r" p(x)^{1/2} - q(x)^{1/2} \right)^2 dx",
)
def hellinger_distance(rng: Generator) -> Sides:
    """The symmetric member of the family is linear in the Hellinger distance, with factor 2."""
    p, q = _densities(*_gaussians(rng))
    distance = ((p ** (1 / 2) - q ** (1 / 2)) ** 2).sum() * STEP
    return Sides(truth=(_alpha(p, q, 0), _alpha(q, p, 0)), printed=(2 * distance, 2 * distance))


@equation(
    "10.20, metric",
    section="10.1.2",
    latex=r"D_H(p\|r)^{1/2} \leq D_H(p\|q)^{1/2} + D_H(q\|r)^{1/2}",
)
def hellinger_metric(rng: Generator) -> Sides:
    """The root of the Hellinger distance meets the triangle inequality, in all three orders."""
    p = rng.dirichlet(np.full(6, rng.choice([0.1, 1, 100])), 3)
    root = np.array([[np.sqrt(((np.sqrt(a) - np.sqrt(b)) ** 2).sum()) for b in p] for a in p])
    sides = [(root[i, k], root[i, j] + root[j, k]) for i, j, k in [(0, 1, 2), (1, 2, 0), (2, 0, 1)]]
    return Sides(truth=[a for a, _ in sides], printed=[min(a, b) for a, b in sides])


@equation(
    "10.187, exercise 10.4",
    section="10.7",
    latex=r"\operatorname{argmin}_{\mathbf{\mu}, \mathbf{\Sigma}}"
    r" \text{KL}(p\|\mathcal{N}(\mathbf{\mu},"
    r" \mathbf{\Sigma})): \quad \mathbf{\mu} = \mathbb{E}_p[\mathbf{x}], \quad"
    r" \mathbf{\Sigma} = \text{cov}_p[\mathbf{x}]",
    within=1e-4,
)
def moment_matching(rng: Generator) -> Sides:
    """The Gaussian of the smallest KL(p||q), by a search, has the moments of p, a mixture."""
    m, v, weight = rng.uniform(-3, 3, 2), rng.uniform(0.3, 2, 2), rng.uniform(0.2, 0.8)
    p = weight * norm(m[0], np.sqrt(v[0])).pdf(X) + (1 - weight) * norm(m[1], np.sqrt(v[1])).pdf(X)

    def cost(at: Floats) -> float:
        return float(p @ ((X - at[0]) ** 2 / (2 * np.exp(2 * at[1])) + at[1]) * STEP)  # + const

    options = {"xatol": 1e-8, "fatol": 1e-14}
    found = minimize(cost, [0.3, 0.5], method="Nelder-Mead", options=options).x
    mean = weight * m[0] + (1 - weight) * m[1]
    square = weight * (v[0] + m[0] ** 2) + (1 - weight) * (v[1] + m[1] ** 2)
    return Sides(truth=(found[0] + 5, np.exp(2 * found[1])), printed=(mean + 5, square - mean**2))
