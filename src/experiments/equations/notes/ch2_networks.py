"""Equations of section 2.4 of the Notes, neural networks."""

import numpy as np
from numpy.random import Generator
from scipy import stats
from scipy.optimize import minimize_scalar
from scipy.special import expit

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.networks.neural_network import (
    error_and_gradient,
    layers,
    predict,
    random_start,
)
from bythebook.models.types import Floats


@equation(
    "2.99 to 2.103",
    section="2.4.1",
    latex=r"y_k(\mathbf{x}, \mathbf{w}) = \sigma \left( \sum_{j=1}^M w_{kj}^{(2)} h \left("
    r" \sum_{i=1}^D w_{ji}^{(1)} x_i + w_{j0}^{(1)} \right) + w_{k0}^{(2)} \right)",
)
def network_output(rng: Generator) -> Sides:
    """The output of a network with two layers is a function of a linear combination of basis
    functions, the hidden units.
    """
    D, M, K = (int(n) for n in rng.integers(1, 5, 3))
    sizes, x = (D, M, K), rng.normal(size=D)
    theta = random_start(sizes, 1, rng)[0] * 2
    first, second = layers(theta, sizes)
    printed = np.empty(K)
    for k in range(K):
        a_k = second.b[k]
        for j in range(M):
            a_j = sum(first.W[j, i] * x[i] for i in range(D)) + first.b[j]
            a_k += second.W[k, j] * np.tanh(a_j)
        printed[k] = expit(a_k)
    return Sides(truth=expit(predict(theta, sizes, x[None])[0]), printed=printed)


@equation(
    "2.107",
    section="2.4.2",
    latex=r"-\ln p(\mathbf{t} | \mathbf{X}, \mathbf{w}, \beta) = \frac{\beta}{2} \sum_n"
    r" \{y(\mathbf{x}_n, \mathbf{w}) - t_n\}^2 - \frac{N}{2} \ln \beta + \frac{N}{2} \ln (2 \pi)",
)
def gaussian_error(rng: Generator) -> Sides:
    """The negative log likelihood of targets with Gaussian noise."""
    N, beta = int(rng.integers(3, 20)), rng.uniform(0.2, 9)
    y, t = rng.normal(size=(2, N))
    printed = beta / 2 * ((y - t) ** 2).sum() - N / 2 * np.log(beta) + N / 2 * np.log(2 * np.pi)
    return Sides(truth=-stats.norm.logpdf(t, y, beta**-0.5).sum(), printed=printed)


@equation(
    "2.109",
    section="2.4.2",
    latex=r"\frac{1}{\beta_{ML}} = \frac{1}{N} \sum_n \{y(\mathbf{x}_n, \mathbf{w}_{ML}) -"
    r" t_n\}^2",
    within=1e-6,
)
def noise_precision(rng: Generator) -> Sides:
    """The precision that maximises the likelihood, by a search over its logarithm."""
    N = int(rng.integers(5, 20))
    y, t = rng.normal(size=(2, N))
    found = minimize_scalar(
        lambda log_beta: -stats.norm.logpdf(t, y, np.exp(-log_beta / 2)).sum(),
        bounds=(-5, 5),
        method="bounded",
        options={"xatol": 1e-10},
    )
    return Sides(truth=np.exp(-found.x), printed=((y - t) ** 2).mean())


@equation(
    "2.111",
    section="2.4.2",
    latex=r"E(\mathbf{w}) = \sum_n \{t_n \ln y_n + (1 - t_n) \ln (1 - y_n)\}",
    corrected=r"E(\mathbf{w}) = -\sum_n \{t_n \ln y_n + (1 - t_n) \ln (1 - y_n)\}",
    cause="cross-entropy-without-minus",
)
def binary_cross_entropy(rng: Generator) -> Sides:
    """The error of a binary target, the negative logarithm of its likelihood (2.110)."""
    N = int(rng.integers(3, 20))
    y, t = rng.uniform(0.05, 0.95, N), rng.integers(2, size=N)
    printed = (t * np.log(y) + (1 - t) * np.log(1 - y)).sum()
    return Sides(truth=-stats.bernoulli.logpmf(t, y).sum(), printed=printed, corrected=-printed)


@equation(
    "2.112, 2.113",
    section="2.4.2",
    latex=r"E(\mathbf{w}) = -\sum_n \sum_k t_{kn} \ln y_k(\mathbf{x}_n, \mathbf{w}), \quad"
    r" y_k = \frac{\exp(a_k)}{\sum_j \exp(a_j)}",
)
def softmax_cross_entropy(rng: Generator) -> Sides:
    """The error of one class of K, the negative log likelihood of a softmax output."""
    N, K = int(rng.integers(2, 6)), int(rng.integers(2, 6))
    a, t = 2 * rng.normal(size=(N, K)), np.eye(K)[rng.integers(K, size=N)]
    y = np.exp(a) / np.exp(a).sum(1, keepdims=True)
    odds = a - np.log(np.exp(a).sum(1))[:, None]
    return Sides(truth=-odds[t == 1].sum(), printed=-(t * np.log(y)).sum())


@equation(
    "2.115 to 2.118",
    section="2.4.2",
    latex=r"E(\mathbf{w}) \simeq E(\hat{\mathbf{w}}) + (\mathbf{w} - \hat{\mathbf{w}})^T \mathbf{b}"
    r" + \frac{1}{2} (\mathbf{w} - \hat{\mathbf{w}})^T \mathbf{H} (\mathbf{w} - \hat{\mathbf{w}}),"
    r" \quad \nabla E \simeq \mathbf{b} + \mathbf{H} (\mathbf{w} - \hat{\mathbf{w}})",
    within=1e-4,
)
def local_quadratic_approximation(rng: Generator) -> Sides:
    """The terms of first and second order in a small step, from both ends of the step.

    The sum of both ends has no terms of odd order, and their difference none of even order.
    """
    sizes, N = (1, int(rng.integers(1, 4)), 1), 6
    x, t = rng.standard_normal((2, N, 1))
    w = random_start(sizes, 1, rng)[0]
    steps = 1e-3 * rng.standard_normal((6, len(w)))
    h = 1e-4

    def error(at: Floats) -> tuple[Floats, Floats]:
        return error_and_gradient(at, sizes, x, t)

    (here, b), (up, slope_up), (down, slope_down) = map(error, (w, w + steps, w - steps))
    axes = h * np.eye(len(w))
    H = (error(w + axes)[1] - error(w - axes)[1]) / (2 * h)
    return Sides(
        truth=((up - down) / 2, up + down - 2 * here, (slope_up - slope_down) / 2),
        printed=(steps @ b, np.einsum("ni,ij,nj->n", steps, H, steps), steps @ H),
    )


@equation(
    "2.121, as a prior",
    section="2.4.5",
    latex=r"\frac{\lambda}{2} \mathbf{w}^T \mathbf{w} = -\ln \mathcal{N}(\mathbf{w} | \mathbf{0},"
    r" \lambda^{-1} \mathbf{I}) + \mathrm{const}",
)
def decay_is_a_prior(rng: Generator) -> Sides:
    """The regulariser is the negative logarithm of a Gaussian prior, as a difference."""
    one, two = rng.normal(size=(2, int(rng.integers(2, 20))))
    decay = rng.uniform(0.1, 5)
    prior = stats.norm(0, decay**-0.5).logpdf
    return Sides(
        truth=prior(two).sum() - prior(one).sum(), printed=decay / 2 * (one @ one - two @ two)
    )
