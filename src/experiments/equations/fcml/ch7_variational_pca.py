"""Equations of FCML 7.4 to 7.6, probabilistic PCA by variational Bayes."""

from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.special import digamma, gammaln
from scipy.stats import gamma, multivariate_normal, norm

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.types import Floats

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(3)


class _Case(NamedTuple):
    """Data, which of them are observed, and the moments of a factorised Q."""

    Y: Floats  # (N, M)
    z: Floats  # (N, M) 1 where observed
    mu_x: Floats  # (N, D)
    Sigma_x: Floats  # (N, D, D)
    mu_w: Floats  # (M, D)
    Sigma_w: Floats  # (M, D, D)
    a: float
    b: float
    e: float
    f: float

    @property
    def xx(self) -> Floats:
        """<x x^T>."""
        return np.asarray(self.Sigma_x + self.mu_x[:, :, None] * self.mu_x[:, None])

    @property
    def ww(self) -> Floats:
        """<w w^T>."""
        return np.asarray(self.Sigma_w + self.mu_w[:, :, None] * self.mu_w[:, None])


def _case(rng: Generator, complete: bool = False) -> _Case:
    N, M, D = (int(n) for n in rng.integers([2, 2, 1], [5, 5, 3]))
    z = np.ones((N, M)) if complete else (rng.random((N, M)) < 0.7).astype(float)
    z[0, 0] = 1.0
    roots = rng.normal(0, 0.7, (N, D, D)), rng.normal(0, 0.7, (M, D, D))
    spread = [root @ root.swapaxes(1, 2) + 0.1 * np.eye(D) for root in roots]
    means = rng.normal(size=(N, D)), rng.normal(size=(M, D))
    constants = rng.uniform([0.5, 0.5, 2, 0.5], [3, 3, 8, 4])
    return _Case(rng.normal(0, 2, (N, M)), z, means[0], spread[0], means[1], spread[1], *constants)


def _nodes(mean: Floats, covariance: Floats) -> tuple[Floats, Floats]:
    """Places (G, D) and weights for the expectation of a polynomial under a Gaussian."""
    D = len(mean)
    grid = np.array(list(product(NODES, repeat=D)))
    weight = np.prod(list(product(WEIGHTS, repeat=D)), axis=1) / WEIGHTS.sum() ** D
    return mean + grid @ np.linalg.cholesky(covariance).T, weight


def _square(case: _Case, n: int, m: int) -> float:
    """The expectation of (y - w^T x)^2 under Q, by Gauss-Hermite quadrature."""
    x, p = _nodes(case.mu_x[n], case.Sigma_x[n])
    w, q = _nodes(case.mu_w[m], case.Sigma_w[m])
    return float(p @ (case.Y[n, m] - x @ w.T) ** 2 @ q)


def _log_joint(case: _Case, tau: Floats) -> Floats:
    """The expectation over X and W of log p(Y, X, W, tau), up to a constant."""
    log = gamma(case.a, scale=1 / case.b).logpdf(tau)
    for n, m in zip(*np.nonzero(case.z), strict=True):
        log = log + np.log(tau / (2 * np.pi)) / 2 - tau / 2 * _square(case, n, m)
    return np.asarray(log)


def _cross(case: _Case) -> tuple[Floats, Floats]:
    """<x>^T <w>, and <x^T <w w^T> x> by the trace, for each entry (N, M)."""
    squares = np.einsum("mij,nji->nm", case.ww, case.Sigma_x)
    squares = squares + np.einsum("ni,mij,nj->nm", case.mu_x, case.ww, case.mu_x)
    return case.mu_x @ case.mu_w.T, squares


def _gamma(case: _Case) -> tuple[float, float]:
    """The parameters of the gamma factor, from three values of the expected log joint."""
    tau = np.array([0.4, 1.1, 2.7])
    rows = np.stack([np.diff(np.log(tau)), -np.diff(tau)], axis=-1)
    e, f = np.linalg.solve(rows, np.diff(_log_joint(case, tau)))
    return float(e + 1), float(f)


@equation(
    "7.12, e",
    section="7.6",
    latex=r"e = a + \frac{1}{2} \sum_{n,m} z_{nm}",
)
def shape_of_the_noise(rng: Generator) -> Sides:
    """The shape of the factor of the precision; with all values observed it is a + NM/2."""
    case = _case(rng, complete=bool(rng.random() < 0.3))
    return Sides(truth=_gamma(case)[0], printed=case.a + 1 / 2 * case.z.sum())


@equation(
    "7.12, f",
    section="7.5.1",
    latex=r"f = b + \frac{1}{2} \sum_{n,m} \left( y_{nm}^2 - 2 \langle \mathbf{w}_n \rangle^T"
    r" \langle \mathbf{x}_n \rangle + \langle \mathbf{x}_n^T \langle \mathbf{w}_m \mathbf{w}_m^T"
    r" \rangle \mathbf{x}_n \rangle \right)",
    corrected=r"f = b + \frac{1}{2} \sum_{n,m} \left( y_{nm}^2 - 2 y_{nm} \langle \mathbf{w}_m"
    r" \rangle^T \langle \mathbf{x}_n \rangle + \langle \mathbf{x}_n^T \langle \mathbf{w}_m"
    r" \mathbf{w}_m^T \rangle \mathbf{x}_n \rangle \right)",
    cause="y-missing-in-f",
)
def rate_of_the_noise(rng: Generator) -> Sides:
    """The rate of the factor of the precision, with all values observed."""
    case = _case(rng, complete=True)
    inner, squares = _cross(case)
    printed, corrected = (
        case.b + 1 / 2 * (case.Y**2 - 2 * cross + squares).sum()
        for cross in (inner, case.Y * inner)
    )
    return Sides(truth=_gamma(case)[1], printed=printed, corrected=corrected)


@equation(
    "7.6, f",
    section="7.6",
    latex=r"f = b + \frac{1}{2} \sum_{n,m} z_{nm} \left( y_{nm}^2 - 2 \langle \mathbf{w}_m"
    r" \rangle^T \langle \mathbf{x}_n \rangle + \langle \mathbf{x}_n^T \langle \mathbf{w}_m"
    r" \mathbf{w}_m^T \rangle \mathbf{x}_n \rangle \right)",
    corrected=r"f = b + \frac{1}{2} \sum_{n,m} z_{nm} \left( y_{nm}^2 - 2 y_{nm} \langle"
    r" \mathbf{w}_m \rangle^T \langle \mathbf{x}_n \rangle + \langle \mathbf{x}_n^T \langle"
    r" \mathbf{w}_m \mathbf{w}_m^T \rangle \mathbf{x}_n \rangle \right)",
    cause="y-missing-in-f",
)
def rate_with_missing_values(rng: Generator) -> Sides:
    """The rate of the factor of the precision, with missing values."""
    case = _case(rng)
    inner, squares = _cross(case)
    printed, corrected = (
        case.b + 1 / 2 * (case.z * (case.Y**2 - 2 * cross + squares)).sum()
        for cross in (inner, case.Y * inner)
    )
    return Sides(truth=_gamma(case)[1], printed=printed, corrected=corrected)


def _position(case: _Case, rng: Generator) -> tuple[Floats, Floats, Floats]:
    """Places of x_0, the expected log joint there, and <tau>."""
    x, tau = rng.normal(0, 1.5, (5, case.mu_x.shape[1])), case.e / case.f
    truth = norm.logpdf(x).sum(1)
    for m in np.nonzero(case.z[0])[0]:
        w, q = _nodes(case.mu_w[m], case.Sigma_w[m])
        truth = truth - tau / 2 * (case.Y[0, m] - x @ w.T) ** 2 @ q
    return x, truth, np.asarray(tau)


@equation(
    "7.13, 7.14",
    section="7.5.2",
    latex=r"\mathbf{\Sigma}_{\mathbf{x}_n} = \left[ \mathbf{I}_D + \langle \tau \rangle \sum_m"
    r" \langle \mathbf{w}_m \mathbf{w}_m^T \rangle \right]^{-1}, \quad \mathbf{\mu}_{\mathbf{x}_n}"
    r" = \langle \tau \rangle \mathbf{\Sigma}_{\mathbf{x}_n} \sum_m y_{nm} \langle \mathbf{w}_m"
    r" \rangle",
)
def latent_factor(rng: Generator) -> Sides:
    """The factor of a latent position, against the expected log joint along the position."""
    case = _case(rng, complete=True)
    x, truth, tau = _position(case, rng)
    Sigma = np.linalg.inv(np.eye(x.shape[1]) + tau * case.ww.sum(0))
    mu = tau * Sigma @ (case.Y[0] @ case.mu_w)
    printed = multivariate_normal(mu, Sigma).logpdf(x)
    return Sides(truth=truth[1:] - truth[0], printed=printed[1:] - printed[0])


@equation(
    "7.6, x",
    section="7.6",
    latex=r"\mathbf{\Sigma}_{\mathbf{x}_n} = \left[ \mathbf{I}_D + \langle \tau \rangle \sum_m"
    r" z_{nm} \langle \mathbf{w}_m \mathbf{w}_m^T \rangle \right]^{-1}, \quad"
    r" \mathbf{\mu}_{\mathbf{x}_n} = \langle \tau \rangle \mathbf{\Sigma}_{\mathbf{x}_n} \sum_m"
    r" z_{nm} y_{nm} \langle \mathbf{w}_m \rangle",
)
def latent_factor_with_missing_values(rng: Generator) -> Sides:
    """The factor of a latent position with missing values."""
    case = _case(rng)
    x, truth, tau = _position(case, rng)
    z = case.z[0]
    Sigma = np.linalg.inv(np.eye(x.shape[1]) + tau * np.einsum("m,mij->ij", z, case.ww))
    mu = tau * Sigma @ ((z * case.Y[0]) @ case.mu_w)
    printed = multivariate_normal(mu, Sigma).logpdf(x)
    return Sides(truth=truth[1:] - truth[0], printed=printed[1:] - printed[0])


@equation(
    "7.5.3 and 7.6, w",
    section="7.6",
    latex=r"\mathbf{\Sigma}_{\mathbf{w}_m} = \left[ \mathbf{I}_D + \langle \tau \rangle \sum_n"
    r" z_{nm} \langle \mathbf{x}_n \mathbf{x}_n^T \rangle \right]^{-1}, \quad"
    r" \mathbf{\mu}_{\mathbf{w}_m} = \langle \tau \rangle \mathbf{\Sigma}_{\mathbf{w}_m} \sum_n"
    r" z_{nm} y_{nm} \langle \mathbf{x}_n \rangle",
)
def weight_factor(rng: Generator) -> Sides:
    """The factor of the weights of a variable, with all or with some values observed."""
    case = _case(rng, complete=bool(rng.random() < 0.3))
    w, tau = rng.normal(0, 1.5, (5, case.mu_w.shape[1])), case.e / case.f
    truth = norm.logpdf(w).sum(1)
    for n in np.nonzero(case.z[:, 0])[0]:
        x, p = _nodes(case.mu_x[n], case.Sigma_x[n])
        truth = truth - tau / 2 * (case.Y[n, 0] - w @ x.T) ** 2 @ p
    z = case.z[:, 0]
    Sigma = np.linalg.inv(np.eye(w.shape[1]) + tau * np.einsum("n,nij->ij", z, case.xx))
    mu = tau * Sigma @ ((z * case.Y[:, 0]) @ case.mu_x)
    printed = multivariate_normal(mu, Sigma).logpdf(w)
    return Sides(truth=truth[1:] - truth[0], printed=printed[1:] - printed[0])


@equation(
    "7.5.5, exercise 7.2",
    section="7.5.5",
    latex=r"\mathcal{L} = a \log b + (a - 1) \langle \log \tau \rangle - b \langle \tau \rangle"
    r" - \log \Gamma(a) - \dots - \left( -\frac{MD}{2} \log 2 \pi - \frac{MD}{2} - \frac{1}{2}"
    r" \sum_m \log |\mathbf{\Sigma}_{\mathbf{w}_m}| \right)",
    within=1e-7,
)
def bound_of_variational_pca(rng: Generator) -> Sides:
    """The seven lines of the bound, against expectations of SciPy's log densities."""
    case = _case(rng, complete=True)
    (N, M), D = case.Y.shape, case.mu_x.shape[1]
    a, b, e, f = case[6:]
    law, prior = gamma(e, scale=1 / f), gamma(a, scale=1 / b)
    log_tau, tau = digamma(e) - np.log(f), e / f
    places = np.exp(np.linspace(-16, 6, 4001))
    mass = law.pdf(places) * places
    truth = mass @ (prior.logpdf(places) - law.logpdf(places)) / mass.sum()
    sides = (case.mu_x, case.Sigma_x), (case.mu_w, case.Sigma_w)
    for mu, Sigma in (
        (m, S) for means, spread in sides for m, S in zip(means, spread, strict=True)
    ):
        x, p = _nodes(mu, Sigma)
        truth += p @ (norm.logpdf(x).sum(1) - multivariate_normal(mu, Sigma).logpdf(x))
    squares = sum(_square(case, n, m) for n, m in np.ndindex(N, M))
    truth += N * M / 2 * (log_tau - np.log(2 * np.pi)) - tau / 2 * squares
    inner, fourth = _cross(case)
    lines = [
        a * np.log(b) + (a - 1) * log_tau - b * tau - gammaln(a),
        -N * D / 2 * np.log(2 * np.pi) - np.einsum("nii->", case.xx) / 2,
        -M * D / 2 * np.log(2 * np.pi) - np.einsum("mii->", case.ww) / 2,
        -N * M / 2 * np.log(2 * np.pi)
        + N * M / 2 * log_tau
        - tau / 2 * (case.Y**2 - 2 * case.Y * inner + fourth).sum(),
        -(e * np.log(f) + (e - 1) * log_tau - f * tau - gammaln(e)),
        N * D / 2 * (np.log(2 * np.pi) + 1) + np.linalg.slogdet(case.Sigma_x)[1].sum() / 2,
        M * D / 2 * (np.log(2 * np.pi) + 1) + np.linalg.slogdet(case.Sigma_w)[1].sum() / 2,
    ]
    return Sides(truth=truth, printed=sum(lines))


@equation(
    "7.5.5, log tau",
    section="7.5.5",
    latex=r"\langle \log \tau \rangle \approx \frac{1}{S} \sum_{s=1}^S \log \tau^s",
    corrected=r"\langle \log \tau \rangle = \psi(e) - \log f",
    cause="log-tau-by-sampling",
    within=1e-6,
)
def expected_log_precision(rng: Generator) -> Sides:
    """The expectation of log tau has a closed form; 1,000 samples leave an error.

    The derivative of the log of the moments of tau at zero.
    """
    e, f, h = rng.uniform(2, 9), rng.uniform(0.5, 4), 1e-5
    moments = [gammaln(e + s) - gammaln(e) - s * np.log(f) for s in (h, -h)]
    samples = rng.gamma(e, 1 / f, 1000)
    return Sides(
        truth=(moments[0] - moments[1]) / (2 * h) + 5,  # a scale for values near zero
        printed=np.log(samples).mean() + 5,
        corrected=digamma(e) - np.log(f) + 5,
    )


@equation(
    "7.6.1, missing values",
    section="7.6.1",
    latex=r"Q_{y_{nm}^h}(y_{nm}^h) = \mathcal{N}(\langle \mathbf{w}_m \rangle^T \langle"
    r" \mathbf{x}_n \rangle, \langle \tau \rangle^{-1})",
)
def factor_of_a_missing_value(rng: Generator) -> Sides:
    """The factor of a missing value, against the expected log joint along the value."""
    case = _case(rng)
    y, tau = rng.normal(0, 2, 5), case.e / case.f
    x, p = _nodes(case.mu_x[0], case.Sigma_x[0])
    w, q = _nodes(case.mu_w[0], case.Sigma_w[0])
    truth = np.array([-tau / 2 * (p @ (value - x @ w.T) ** 2 @ q) for value in y])
    printed = norm(case.mu_w[0] @ case.mu_x[0], 1 / np.sqrt(tau)).logpdf(y)
    return Sides(truth=truth[1:] - truth[0], printed=printed[1:] - printed[0])


@equation(
    "7.6.2, mean and variance",
    section="7.6.2",
    latex=r"\mathbf{E} \{y\} = \langle \mathbf{w}_m \rangle^T \langle \mathbf{x}_n \rangle, \quad"
    r" \text{var} \{\mathbf{w}_m^T \mathbf{x}_n\} = \langle \mathbf{x}_n^T \langle \mathbf{w}_m"
    r" \mathbf{w}_m^T \rangle \mathbf{x}_n \rangle - \langle \mathbf{x}_n \rangle^T \langle"
    r" \mathbf{w}_m \rangle \langle \mathbf{w}_m \rangle^T \langle \mathbf{x}_n \rangle",
)
def predicted_value(rng: Generator) -> Sides:
    """The mean and the variance of w^T x under Q, by Gauss-Hermite quadrature."""
    case = _case(rng)
    x, p = _nodes(case.mu_x[0], case.Sigma_x[0])
    w, q = _nodes(case.mu_w[0], case.Sigma_w[0])
    mean = p @ (x @ w.T) @ q
    inner, squares = _cross(case)
    printed = inner[0, 0], squares[0, 0] - inner[0, 0] ** 2
    return Sides(truth=(mean, p @ (x @ w.T - mean) ** 2 @ q), printed=printed)


@equation(
    "7.6.2, noise",
    section="7.6.2",
    latex=r"\mathbf{E}_Q \{\epsilon^2\} = \langle \tau \rangle^{-1}",
    corrected=r"\mathbf{E}_Q \{\epsilon^2\} = \langle \tau^{-1} \rangle = \frac{f}{e - 1}",
    cause="inverse-of-a-mean",
    within=1e-6,
)
def noise_of_a_prediction(rng: Generator) -> Sides:
    """The variance that the noise adds to a prediction, when its precision has a distribution."""
    e, f = rng.uniform(2.5, 9), rng.uniform(0.5, 4)
    grid = np.exp(np.linspace(-16, 6, 20_001))
    mass = gamma(e, scale=1 / f).pdf(grid) * grid
    return Sides(truth=(mass / grid).sum() / mass.sum(), printed=f / e, corrected=f / (e - 1))


@equation(
    "7.6, exercise 7.1",
    section="7.4",
    latex=r"\log p(\mathbf{Y}) \geq \mathcal{L}(Q), \quad Q(\mathbf{\theta})"
    r" = p(\mathbf{\theta}|\mathbf{Y}): \; \mathcal{L}(Q) = \log p(\mathbf{Y})",
)
def bound_at_the_posterior(rng: Generator) -> Sides:
    """The bound is the log evidence at the posterior, and not above it for any other Q."""
    joint = rng.exponential(1, 8) * rng.uniform(0.01, 1)
    evidence, others = np.log(joint.sum()), rng.dirichlet(np.ones(8), 20)
    at_posterior = (joint / joint.sum() * (np.log(joint) - np.log(joint / joint.sum()))).sum()
    below = (others * np.log(joint / others)).sum(1)
    printed = np.append(np.maximum(below, evidence), at_posterior)
    return Sides(truth=np.full(21, evidence), printed=printed)
