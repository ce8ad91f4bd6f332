"""Equations of PRML 10.3: variational linear regression with known noise."""

from typing import NamedTuple

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.random import Generator
from scipy.special import gammaln, psi
from scipy.stats import gamma, multivariate_normal

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.types import Floats


class _Case(NamedTuple):
    """Data with the noise precision, a prior of the precision alpha, and factors q(w), q(alpha)."""

    Phi: Floats
    t: Floats
    beta: float
    a0: float
    b0: float
    m: Floats
    S: Floats
    a: float
    b: float


def _case(rng: Generator) -> _Case:
    N, M = int(rng.integers(3, 9)), int(rng.integers(1, 4))
    root = rng.normal(size=(M, M))
    a0, b0, a, b = rng.uniform(0.7, 3, 4)
    Phi, t, beta = rng.normal(size=(N, M)), rng.normal(1, 2, N), rng.uniform(0.3, 3)
    return _Case(Phi, t, beta, a0, b0, rng.normal(size=M), root @ root.T + 0.2 * np.eye(M), a, b)


def _weights(case: _Case) -> tuple[Floats, Floats]:
    """Nodes (K, M) and weights of an average over q(w), exact for polynomials of degree 5."""
    node, weight = hermegauss(3)
    M = len(case.m)
    z = np.stack(np.meshgrid(*[node] * M, indexing="ij"), axis=-1).reshape(-1, M)
    p = np.prod(np.stack(np.meshgrid(*[weight] * M, indexing="ij"), axis=-1), axis=-1).ravel()
    return case.m + z @ np.linalg.cholesky(case.S).T, p / p.sum()


def _precisions(case: _Case) -> tuple[Floats, Floats]:
    """Places of alpha and weights of an average over q(alpha), evenly spaced in ln alpha."""
    u = np.linspace(-60, 8, 6001)
    p = gamma(case.a, scale=1 / case.b).pdf(np.exp(u)) * np.exp(u)
    return np.exp(u), p / p.sum()


def _averages(case: _Case) -> dict[str, float]:
    """The five expectations of (10.107) by quadrature."""
    (w, p), (alpha, q), M = _weights(case), _precisions(case), len(case.m)
    error, square = np.sum((case.t - w @ case.Phi.T) ** 2, axis=-1), np.sum(w**2, axis=-1)
    noise = case.beta
    log_t = len(case.t) / 2 * np.log(noise / (2 * np.pi)) - noise / 2 * error
    log_w = M / 2 * np.log(alpha / (2 * np.pi))[:, None] - alpha[:, None] / 2 * square
    prior, factor = gamma(case.a0, scale=1 / case.b0), gamma(case.a, scale=1 / case.b)
    return {
        "t": p @ log_t,
        "w": q @ log_w @ p,
        "alpha": q @ prior.logpdf(alpha),
        "entropy of w": -p @ np.atleast_1d(multivariate_normal(case.m, case.S).logpdf(w)),
        "entropy of alpha": -q @ factor.logpdf(alpha),
    }


@equation(
    "10.108, 10.109, 10.111, 10.112",
    section="10.3.3",
    latex=r"E[\ln p(\mathbf{t}|\mathbf{w})] = \frac{N}{2} \ln \frac{\beta}{2\pi} - \frac{\beta}{2}"
    r" \mathbf{t}^T \mathbf{t} + \beta \mathbf{m}_N^T \mathbf{\Phi}^T \mathbf{t} - \frac{\beta}{2}"
    r" Tr[\mathbf{\Phi}^T \mathbf{\Phi} (\mathbf{m}_N \mathbf{m}_N^T + \mathbf{S}_N)], \quad"
    r" E[\ln p(\mathbf{w}|\alpha)] = -\frac{M}{2} \ln 2\pi + \frac{M}{2} (\psi(a_N) - \ln b_N)"
    r" - \frac{a_N}{2 b_N} [\mathbf{m}_N^T \mathbf{m}_N + Tr(\mathbf{S}_N)], \quad"
    r" -E[\ln q(\mathbf{w})] = \frac{1}{2} \ln |\mathbf{S}_N| + \frac{M}{2} [1 + \ln 2\pi], \quad"
    r" -E[\ln q(\alpha)] = \ln \Gamma(a_N) - (a_N - 1) \psi(a_N) - \ln b_N + a_N",
)
def regression_bound_terms(rng: Generator) -> Sides:
    """Four of the five terms of the lower bound, at any factors q(w) and q(alpha).

    The other route averages the log densities by quadrature.
    """
    case = _case(rng)
    Phi, t, beta, _, _, m, S, a, b = case
    N, M = Phi.shape
    likelihood = (
        N / 2 * np.log(beta / (2 * np.pi))
        - beta / 2 * t @ t
        + beta * m @ Phi.T @ t
        - beta / 2 * np.trace(Phi.T @ Phi @ (np.outer(m, m) + S))
    )
    weights = -M / 2 * np.log(2 * np.pi) + M / 2 * (psi(a) - np.log(b))
    weights -= a / (2 * b) * (m @ m + np.trace(S))
    entropy_w = np.linalg.slogdet(S).logabsdet / 2 + M / 2 * (1 + np.log(2 * np.pi))
    entropy_alpha = gammaln(a) - (a - 1) * psi(a) - np.log(b) + a
    found = _averages(case)
    names = ("t", "w", "entropy of w", "entropy of alpha")
    truth = tuple(found[name] for name in names)
    return Sides(truth=truth, printed=(likelihood, weights, entropy_w, entropy_alpha))


@equation(
    "10.110",
    section="10.3.3",
    latex=r"E[\ln p(\alpha)] = a_0 \ln b_0 + (a_0 - 1) [\psi(a_N) - \ln b_N]"
    r" - b_0 \frac{a_N}{b_N} - \ln \Gamma(a_N)",
    corrected=r"E[\ln p(\alpha)] = a_0 \ln b_0 + (a_0 - 1) [\psi(a_N) - \ln b_N]"
    r" - b_0 \frac{a_N}{b_N} - \ln \Gamma(a_0)",
    cause="gamma-function-of-the-prior",
)
def expected_prior_of_precision(rng: Generator) -> Sides:
    """The expected log prior of the weights' precision.

    The other route averages the log density by quadrature.
    """
    case = _case(rng)
    a0, b0, a, b = case.a0, case.b0, case.a, case.b
    common = a0 * np.log(b0) + (a0 - 1) * (psi(a) - np.log(b)) - b0 * a / b
    return Sides(
        truth=_averages(case)["alpha"],
        printed=common - gammaln(a),
        corrected=common - gammaln(a0),
    )


@equation(
    "10.94, 10.95, 10.102, 10.103",
    section="10.3.1",
    latex=r"q^*(\alpha) = Gam(\alpha|a_N, b_N), \quad a_N = a_0 + \frac{M}{2}, \quad b_N = b_0"
    r" + \frac{1}{2} E[\mathbf{w}^T \mathbf{w}], \quad E[\mathbf{w} \mathbf{w}^T] = \mathbf{m}_N"
    r" \mathbf{m}_N^T + \mathbf{S}_N, \quad E[\alpha] = \frac{a_N}{b_N}",
)
def precision_factor(rng: Generator) -> Sides:
    """The optimal factor of the weights' precision, and its mean.

    The other route takes the averaged log joint density at many precisions, normalises it, and
    reads the mean of alpha, of its logarithm and of its square from it.
    """
    case = _case(rng)
    (w, p), u = _weights(case), np.linspace(-60, 8, 6001)
    alpha, M = np.exp(u), len(case.m)
    log_joint = gamma(case.a0, scale=1 / case.b0).logpdf(alpha) + u  # density of ln alpha
    log_joint += M / 2 * u - alpha / 2 * (p @ np.sum(w**2, axis=-1))
    q = np.exp(log_joint - log_joint.max())
    q /= q.sum()
    a = case.a0 + M / 2
    b = case.b0 + np.trace(np.outer(case.m, case.m) + case.S) / 2
    return Sides(
        truth=(q @ alpha, q @ u, q @ alpha**2),
        printed=(a / b, psi(a) - np.log(b), a * (a + 1) / b**2),
    )


@equation(
    "10.99 to 10.101",
    section="10.3.1",
    latex=r"q^*(\mathbf{w}) = N(\mathbf{w}|\mathbf{m}_N, \mathbf{S}_N), \quad \mathbf{m}_N = \beta"
    r" \mathbf{S}_N \mathbf{\Phi}^T \mathbf{t}, \quad \mathbf{S}_N = (E[\alpha] \mathbf{I} + \beta"
    r" \mathbf{\Phi}^T \mathbf{\Phi})^{-1}",
)
def weight_factor(rng: Generator) -> Sides:
    """The optimal factor of the weights.

    Differences of the averaged log joint density, which is quadratic, give its slope and curvature.
    """
    case = _case(rng)
    Phi, t, beta = case.Phi, case.t, case.beta
    (alpha, q), M = _precisions(case), Phi.shape[1]

    def averaged(w: Floats) -> Floats:
        error, square = np.sum((t - w @ Phi.T) ** 2, axis=-1), np.sum(w**2, axis=-1)
        return np.asarray(-beta / 2 * error - (q @ alpha) / 2 * square)

    eye, zero = np.eye(M), np.zeros(M)
    slope = (averaged(eye) - averaged(-eye)) / 2
    pairs = averaged(eye[:, None] + eye) - averaged(eye)[:, None] - averaged(eye) + averaged(zero)
    S = np.linalg.inv(case.a / case.b * eye + beta * Phi.T @ Phi)
    truth = np.linalg.solve(-pairs, slope), np.linalg.inv(-pairs)
    return Sides(truth=truth, printed=(beta * S @ Phi.T @ t, S))


@equation(
    "10.105, 10.106",
    section="10.3.2",
    latex=r"p(t|\mathbf{x}, \mathbf{t}) \simeq N(t|\mathbf{m}_N^T \mathbf{\phi}(\mathbf{x}),"
    r" \sigma^2(\mathbf{x})), \quad \sigma^2(\mathbf{x}) = \frac{1}{\beta} +"
    r" \mathbf{\phi}(\mathbf{x})^T \mathbf{S}_N \mathbf{\phi}(\mathbf{x})",
)
def regression_prediction(rng: Generator) -> Sides:
    """The mean and the variance of a prediction under the factor of the weights.

    The other route averages the mean and the second moment of the noise model by quadrature.
    """
    case = _case(rng)
    phi = rng.normal(size=len(case.m))
    w, p = _weights(case)
    mean = p @ (w @ phi)
    variance = p @ ((w @ phi) ** 2 + 1 / case.beta) - mean**2
    return Sides(truth=(mean, variance), printed=(case.m @ phi, 1 / case.beta + phi @ case.S @ phi))
