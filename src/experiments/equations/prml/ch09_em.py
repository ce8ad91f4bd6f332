"""Equations of PRML 9.3 and 9.4: limits, Bernoulli mixtures and incremental EM."""

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, logsumexp, softmax

from bythebook.experiments.core.equations import Sides, equation
from bythebook.experiments.equations._mixtures import densities
from bythebook.models.clustering import bernoulli_mixture
from bythebook.models.clustering.bernoulli_mixture import BernoulliMixture
from bythebook.models.clustering.gaussian_mixture import (
    GaussianMixture,
    log_joint,
    responsibilities,
)
from bythebook.models.clustering.mixture import expected_complete
from bythebook.models.types import Floats


def _round(rng: Generator) -> tuple[Floats, Floats, Floats]:
    """Points, coefficients and centres of components with a common round covariance."""
    D, K = int(rng.integers(1, 5)), int(rng.integers(2, 5))
    X = rng.normal(size=(int(rng.integers(10, 40)), D)) * rng.uniform(0.5, 3)
    return X, rng.dirichlet(np.full(K, 2.0)), rng.normal(size=(K, D))


def _binary(rng: Generator, largest: int) -> tuple[Floats, int]:
    """Binary data, and a number of components."""
    D, K, N = int(rng.integers(2, largest)), int(rng.integers(2, 5)), int(rng.integers(20, 60))
    return (rng.random((N, D)) < rng.uniform(0.2, 0.8, D)).astype(float), K


def _model(pi: Floats, mu: Floats, epsilon: float) -> GaussianMixture:
    K, D = mu.shape
    return GaussianMixture(pi[None], mu[None], np.tile(epsilon * np.eye(D), (1, K, 1, 1)))


@equation(
    "9.41",
    section="9.3.2",
    latex=r"p(\mathbf{x}|\mathbf{\mu}_k, \mathbf{\Sigma}_k) = \frac{1}{(2 \pi \epsilon)^{1/2}}"
    r" \exp \left\{ -\frac{1}{2 \epsilon} \|\mathbf{x} - \mathbf{\mu}_k\|^2 \right\}",
    corrected=r"p(\mathbf{x}|\mathbf{\mu}_k, \mathbf{\Sigma}_k) = \frac{1}{(2 \pi"
    r" \epsilon)^{D/2}} \exp \left\{ -\frac{1}{2 \epsilon} \|\mathbf{x} - \mathbf{\mu}_k\|^2"
    r" \right\}",
    cause="normaliser-of-one-dimension",
)
def round_density(rng: Generator) -> Sides:
    """The density of a component with covariance epsilon I, in two dimensions or more."""
    D, epsilon = int(rng.integers(2, 6)), rng.uniform(0.1, 3)
    x, mu = rng.normal(size=(2, D))
    shape = np.exp(-np.sum((x - mu) ** 2) / (2 * epsilon))
    return Sides(
        truth=densities(x[None], mu[None], epsilon * np.eye(D)[None])[0, 0],
        printed=shape / (2 * np.pi * epsilon) ** (1 / 2),
        corrected=shape / (2 * np.pi * epsilon) ** (D / 2),
    )


@equation(
    "9.42",
    section="9.3.2",
    latex=r"\gamma(z_{nk}) = \frac{\pi_k \exp\{-\|\mathbf{x}_n - \mathbf{\mu}_k\|^2/2\epsilon\}}"
    r"{\sum_j \pi_j \exp\{-\|\mathbf{x}_n - \mathbf{\mu}_j\|^2/2\epsilon\}}",
)
def round_responsibility(rng: Generator) -> Sides:
    """The responsibilities of components with covariance epsilon I."""
    (X, pi, mu), epsilon = _round(rng), rng.uniform(0.3, 3)
    weight = pi * np.exp(-np.square(X[:, None] - mu).sum(2) / (2 * epsilon))
    return Sides(
        truth=responsibilities(X, _model(pi, mu, epsilon))[0],
        printed=weight / weight.sum(1)[:, None],
    )


@equation(
    "9.43",
    section="9.3.2",
    latex=r"\mathbb{E}_{\mathbf{Z}}[\ln p(\mathbf{X}, \mathbf{Z}|\mathbf{\mu}, \mathbf{\Sigma},"
    r" \mathbf{\pi})] \rightarrow -\frac{1}{2} \sum_{n=1}^N \sum_{k=1}^K r_{nk} \|\mathbf{x}_n -"
    r" \mathbf{\mu}_k\|^2 + \text{const}",
    corrected=r"\epsilon \, \mathbb{E}_{\mathbf{Z}}[\ln p(\mathbf{X}, \mathbf{Z}|\mathbf{\mu},"
    r" \mathbf{\Sigma}, \mathbf{\pi})] \rightarrow -\frac{1}{2} \sum_{n=1}^N \sum_{k=1}^K r_{nk}"
    r" \|\mathbf{x}_n - \mathbf{\mu}_k\|^2 + \text{const}",
    cause="limit-without-epsilon",
    within=1e-6,
)
def complete_data_limit(rng: Generator) -> Sides:
    """The expected complete-data log likelihood of two sets of centres: the constants cancel.

    The points are near the centres, so that both sets have the same assignments.
    """
    _, pi, mu = _round(rng)
    mu, epsilon = 10 * mu + 20 * np.arange(len(mu))[:, None], 1e-3
    labels = rng.integers(len(mu), size=25)
    X = mu[labels] + rng.normal(size=(25, mu.shape[1])) / 3
    sets = mu + rng.normal(size=(2, *mu.shape)) / 3
    complete = []
    for centres in sets:
        theta = _model(pi, centres, epsilon)
        joint = log_joint(X, theta)
        complete.append(expected_complete(joint, responsibilities(X, theta))[0])
    J = np.square(X - sets[:, labels]).sum((1, 2))
    return Sides(
        truth=complete[1] - complete[0],
        printed=-(J[1] - J[0]) / 2,
        corrected=-(J[1] - J[0]) / (2 * epsilon),
    )


@equation(
    "9.83, exercise 9.13",
    section="9.3.3",
    latex=r"\mathbb{E}[\mathbf{x}] = \frac{1}{N} \sum_{n=1}^N \mathbf{x}_n = \bar{\mathbf{x}}",
    within=1e-5,
)
def bernoulli_mean(rng: Generator) -> Sides:
    """The mean of a Bernoulli mixture at a maximum of the likelihood, by a gradient search."""
    X, K = _binary(rng, largest=4)
    N, D = X.shape

    def parts(values: Floats) -> tuple[Floats, Floats]:
        return log_softmax(values[:K]), values[K:].reshape(K, D)

    def loss(values: Floats) -> tuple[float, Floats]:
        log_pi, logit = parts(values)
        joint = log_pi + X @ logit.T - np.logaddexp(0, logit).sum(1)
        gamma, pi = softmax(joint, axis=1), np.exp(log_pi)
        slope = gamma.T @ X - gamma.sum(0)[:, None] * expit(logit)
        gradient = np.concatenate([gamma.sum(0) - N * pi, slope.ravel()])
        return -logsumexp(joint, axis=1).sum() / N, -gradient / N

    best = minimize(loss, rng.normal(size=K + K * D), jac=True, options={"gtol": 1e-8}).x
    log_pi, logit = parts(best)
    return Sides(truth=X.mean(0), printed=(np.exp(log_pi)[:, None] * expit(logit)).sum(0))


@equation(
    "exercise 9.13, equal components",
    section="9.3.3",
    latex=r"\mathbf{\mu}_k = \hat{\mathbf{\mu}} \; \text{for all} \; k: \quad"
    r" \mathbf{\mu}_k^{\text{new}} = \bar{\mathbf{x}}, \quad \pi_k^{\text{new}} = \pi_k",
)
def equal_components(rng: Generator) -> Sides:
    """EM for a Bernoulli mixture with equal components, after one iteration and after another."""
    X, K = _binary(rng, largest=12)
    start = BernoulliMixture(
        rng.dirichlet(np.full(K, 0.5), 1), np.tile(rng.uniform(0.1, 0.9, X.shape[1]), (1, K, 1))
    )
    theta, steps = start, []
    for _ in range(2):
        theta = bernoulli_mixture.m_step(theta, bernoulli_mixture.e_step(X, theta)[0])
        steps.append((theta.pi[0], theta.mu[0]))
    averages = np.tile(X.sum(0) / len(X), (K, 1))
    weights = start.pi[0]
    return Sides(truth=(*steps[0], *steps[1]), printed=(weights, averages, weights, averages))


@equation(
    "9.78, 9.79",
    section="9.4",
    latex=r"\mathbf{\mu}_k^{\text{new}} = \mathbf{\mu}_k^{\text{old}} + \left("
    r"\frac{\gamma^{\text{new}}(z_{mk}) - \gamma^{\text{old}}(z_{mk})}{N_k^{\text{new}}} \right)"
    r" (\mathbf{x}_m - \mathbf{\mu}_k^{\text{old}}), \quad N_k^{\text{new}} = N_k^{\text{old}} +"
    r" \gamma^{\text{new}}(z_{mk}) - \gamma^{\text{old}}(z_{mk})",
)
def incremental_means(rng: Generator) -> Sides:
    """The means after new responsibilities of one point, from all responsibilities."""
    D, K, N = int(rng.integers(1, 5)), int(rng.integers(2, 6)), int(rng.integers(5, 40))
    X, gamma = rng.normal(size=(N, D)), rng.dirichlet(np.full(K, 0.7), N)
    m, new = int(rng.integers(N)), rng.dirichlet(np.full(K, 0.7))
    N_old, old = gamma.sum(0), gamma.T @ X / gamma.sum(0)[:, None]
    change = new - gamma[m]
    N_new = N_old + change
    mu = old + (change / N_new)[:, None] * (X[m] - old)
    after = gamma.copy()
    after[m] = new
    return Sides(
        truth=(np.array([np.average(X, axis=0, weights=w) for w in after.T]), after.sum(0)),
        printed=(mu, N_new),
    )
