"""Equations of MLAPP 20.2.3: Gaussian belief propagation."""

import numpy as np
from numpy.random import Generator
from scipy.stats import norm

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.types import Floats

# Sums over these points are integrals of smooth functions that vanish at the ends.
POINTS = np.linspace(-40, 40, 8001)
STEP = POINTS[1] - POINTS[0]


def _information_form(rng: Generator) -> tuple[Floats, Floats, list[int]]:
    """A positive definite A and b of a random tree, and the parent of each node."""
    D = int(rng.integers(3, 7))
    parent = [-1, *(int(rng.integers(s)) for s in range(1, D))]
    A = np.zeros((D, D))
    for s, t in enumerate(parent[1:], 1):
        A[s, t] = A[t, s] = rng.uniform(0.3, 1) * rng.choice([-1, 1])
    A += np.diag(np.abs(A).sum(1) + rng.uniform(0.2, 1, D))
    return A, rng.normal(size=D), parent


@equation(
    "20.12 to 20.14",
    section="20.2.3",
    latex=r"\prod_t \exp \left( -\frac{1}{2} A_{tt} x_t^2 + b_t x_t \right) \prod_{s,t} \exp \left("
    r" -\frac{1}{2} x_s A_{st} x_t \right) = \exp \left( -\frac{1}{2} \mathbf{x}^T \mathbf{A}"
    r" \mathbf{x} + \mathbf{b}^T \mathbf{x} \right)",
)
def gaussian_potentials(rng: Generator) -> Sides:
    """The product of the potentials, in logarithms; each edge counts in both directions."""
    A, b, parent = _information_form(rng)
    x = rng.normal(size=len(b))
    edges = [(s, t) for s, t in enumerate(parent) if t >= 0]
    nodes = sum(-A[t, t] * x[t] ** 2 / 2 + b[t] * x[t] for t in range(len(b)))
    printed = nodes + sum(-x[s] * A[s, t] * x[t] / 2 for e in edges for s, t in (e, e[::-1]))
    return Sides(truth=-x @ A @ x / 2 + b @ x, printed=printed)


@equation(
    "20.17 to 20.19",
    section="20.2.3",
    latex=r"\lambda = \lambda_1 + \lambda_2, \quad \mu = \lambda^{-1} (\mu_1 \lambda_1 + \mu_2"
    r" \lambda_2)",
)
def gaussian_product(rng: Generator) -> Sides:
    """The precision and the mean of the product of two Gaussians, by numerical integration."""
    (mu1, mu2), (l1, l2) = rng.normal(size=2), rng.uniform(0.3, 2, 2)
    product = norm.pdf(POINTS, mu1, l1**-0.5) * norm.pdf(POINTS, mu2, l2**-0.5)
    p = product / product.sum()
    mean = p @ POINTS
    precision = l1 + l2
    return Sides(
        truth=(1 / (p @ (POINTS - mean) ** 2), mean),
        printed=(precision, (mu1 * l1 + mu2 * l2) / precision),
    )


@equation(
    "20.20",
    section="20.2.3",
    latex=r"C = \sqrt{\frac{\lambda}{\lambda_1 \lambda_2}} \exp \left( \frac{1}{2} (\lambda_1"
    r" \mu_1^2 (\lambda^{-1} \lambda_1 - 1) + \lambda_2 \mu_2^2 (\lambda^{-1} \lambda_2 - 1) + 2"
    r" \lambda^{-1} \lambda_1 \lambda_2 \mu_1 \mu_2) \right)",
    corrected=r"C = \sqrt{\frac{\lambda_1 \lambda_2}{2 \pi \lambda}} \exp \left( \frac{1}{2}"
    r" (\lambda_1 \mu_1^2 (\lambda^{-1} \lambda_1 - 1) + \lambda_2 \mu_2^2 (\lambda^{-1} \lambda_2"
    r" - 1) + 2 \lambda^{-1} \lambda_1 \lambda_2 \mu_1 \mu_2) \right)",
    cause="factor-of-a-gaussian-product",
)
def gaussian_constant(rng: Generator) -> Sides:
    """The integral of the product of two Gaussians, by numerical integration."""
    (mu1, mu2), (l1, l2) = rng.normal(size=2), rng.uniform(0.3, 2, 2)
    total = l1 + l2
    first, second = l1 * mu1**2 * (l1 / total - 1), l2 * mu2**2 * (l2 / total - 1)
    exponential = np.exp((first + second + 2 * l1 * l2 * mu1 * mu2 / total) / 2)
    product = norm.pdf(POINTS, mu1, l1**-0.5) * norm.pdf(POINTS, mu2, l2**-0.5)
    return Sides(
        truth=product.sum() * STEP,
        printed=np.sqrt(total / (l1 * l2)) * exponential,
        corrected=np.sqrt(l1 * l2 / (2 * np.pi * total)) * exponential,
    )


@equation(
    "20.21",
    section="20.2.3",
    latex=r"\int \exp(-a x^2 + b x) dx = \sqrt{\pi / a} \exp(b^2 / 4a)",
)
def gaussian_integral(rng: Generator) -> Sides:
    """The integral of the exponential of a quadratic form, by numerical integration."""
    a, b = rng.uniform(0.3, 2), rng.normal()
    truth = np.exp(-a * POINTS**2 + b * POINTS).sum() * STEP
    return Sides(truth=truth, printed=np.sqrt(np.pi / a) * np.exp(b**2 / (4 * a)))


@equation(
    "20.31 to 20.33",
    section="20.2.3",
    latex=r"\int \exp(-x_s A_{st} x_t) \exp \left( -\lambda_{s \setminus t} / 2 (x_s - \mu_{s"
    r" \setminus t})^2 \right) dx_s \propto \exp \left( (\lambda_{s \setminus t}"
    r" \mu_{s \setminus t} - A_{st} x_t)^2 / (2 \lambda_{s \setminus t}) \right)",
)
def gaussian_message(rng: Generator) -> Sides:
    """The message at several values of x_t, up to a factor, by numerical integration."""
    precision, mean, A = rng.uniform(0.3, 2), rng.normal(), rng.normal()
    x_t = rng.normal(size=5)
    inner = np.exp(-precision / 2 * (POINTS - mean) ** 2)
    truth = (np.exp(-np.multiply.outer(x_t, A * POINTS)) * inner).sum(1)
    printed = np.exp((precision * mean - A * x_t) ** 2 / (2 * precision))
    return Sides(truth=truth / truth.sum(), printed=printed / printed.sum())


@equation(
    "20.23, 20.24, 20.29, 20.30, 20.35, 20.36",
    section="20.2.3",
    latex=r"\lambda_{st} = A_{st}^2 / \lambda_{s \setminus t}, \quad \mu_{st} = A_{st} \mu_{s"
    r" \setminus t} / \lambda_{st}",
    corrected=r"\lambda_{st} = -A_{st}^2 / \lambda_{s \setminus t}, \quad \mu_{st} = -A_{st} \mu_{s"
    r" \setminus t} / \lambda_{st}",
    cause="signs-of-gaussian-messages",
)
def gaussian_beliefs(rng: Generator) -> Sides:
    """The mean and the variance of a node of a tree, against the inverse of A."""
    A, b, parent = _information_form(rng)
    s = int(rng.integers(len(b)))
    edges = [(u, t) for u, t in enumerate(parent) if t >= 0]
    near = {u: [v for e in edges for v in e if u in e and v != u] for u in range(len(b))}

    def belief(node: int, but: int, sign: int) -> tuple[float, float]:
        """The precision and the mean at a node, with all messages except one (20.29, 20.30)."""
        arriving = [message(u, node, sign) for u in near[node] if u != but]
        precision = A[node, node] + sum(own for own, _ in arriving)
        return precision, (b[node] + sum(own * mean for own, mean in arriving)) / precision

    def message(source: int, target: int, sign: int) -> tuple[float, float]:
        precision, mean = belief(source, target, sign)
        own = sign * A[source, target] ** 2 / precision
        return own, sign * A[source, target] * mean / own

    printed, corrected = (belief(s, -1, sign) for sign in (1, -1))
    covariance = np.linalg.solve(A, np.eye(len(b)))
    return Sides(
        truth=(1 / covariance[s, s], covariance[s] @ b), printed=printed, corrected=corrected
    )
