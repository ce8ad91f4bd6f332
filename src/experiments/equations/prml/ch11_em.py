"""Equations of PRML 11.1.3 and 11.1.6: piecewise exponential envelopes, and sampling with EM."""

from itertools import pairwise, product

import numpy as np
from numpy.random import Generator
from scipy.integrate import quad
from scipy.stats import multivariate_normal, norm

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.sampling import sampled_em
from bythebook.models.sampling.adaptive_rejection import CONCAVE, tangents


@equation(
    "11.17",
    section="11.1.3",
    latex=r"q(z) = k_i \lambda_i \exp \{ -\lambda_i (z - z_{i-1}) \}, \quad z_{i-1} < z \leq z_i",
    within=1e-7,
)
def piecewise_exponential(rng: Generator) -> Sides:
    """Shares of the pieces of an envelope of tangents, between its first and its last corner.

    The coefficients follow from continuity and normalisation (Exercise 11.8); the other side is the
    integral of the exponential of the lower edge of the tangents, by quadrature.
    """
    target = CONCAVE[str(rng.choice(sorted(CONCAVE)))]
    P = int(rng.integers(4, 8))
    points = np.sort(target.mode + target.width * rng.uniform(-0.9, 2, P))
    envelope = tangents(target, points[None])
    corners = envelope.ends[0, 1:-1]

    def height(z: float) -> float:
        return float(np.exp(min(target.log_p(points) + target.slope(points) * (z - points))))

    areas = np.array([quad(height, a, b, epsabs=0)[0] for a, b in pairwise(corners)])
    rate, length = -target.slope(points[1:-1]), np.diff(corners)  # lambda_i
    k = [1 / rate[0]]
    for i in range(1, P - 2):  # continuity at corner i
        k.append(k[-1] * rate[i - 1] * np.exp(-rate[i - 1] * length[i - 1]) / rate[i])
    shares = np.array(k) * (1 - np.exp(-rate * length))
    return Sides(truth=areas / areas.sum(), printed=shares / shares.sum())


@equation(
    "11.28",
    section="11.1.6",
    latex=r"Q(\theta, \theta^{\text{old}}) = \int p(\mathbf{Z} | \mathbf{X}, \theta^{\text{old}})"
    r" \ln p(\mathbf{Z}, \mathbf{X} | \theta) \, d\mathbf{Z}",
)
def expected_complete_log_likelihood(rng: Generator) -> Sides:
    """Q by a sum over all assignments of a few points, against the project's sum over points."""
    N, (old, new) = int(rng.integers(3, 7)), rng.normal(0, 1.5, (2, 2))
    x = rng.normal(0, 2, N)
    shares = sampled_em.responsibilities(x, old)
    either = np.stack([norm.pdf(x, old[0]), norm.pdf(x, old[1])])
    posterior = either / either.sum(0)
    total = 0.0
    for Z in product((0, 1), repeat=N):
        each = np.array(Z)
        log_joint = norm.logpdf(x, new[each]) + np.log(1 / 2)
        total += posterior[each, np.arange(N)].prod() * log_joint.sum()
    return Sides(truth=sampled_em.expected(x, shares, new), printed=total)


@equation(
    "11.30, 11.31",
    section="11.1.6",
    latex=r"p(\mathbf{Z} | \mathbf{X}) = \int p(\mathbf{Z} | \theta, \mathbf{X}) p(\theta |"
    r" \mathbf{X}) \, d\theta, \quad p(\theta | \mathbf{X}) = \int p(\theta | \mathbf{Z},"
    r" \mathbf{X}) p(\mathbf{Z} | \mathbf{X}) \, d\mathbf{Z}",
)
def relations_of_data_augmentation(rng: Generator) -> Sides:
    """Posterior of the assignments and of two means, each by way of the other.

    The evidence of an assignment is that of a Gaussian in closed form; the posterior of the means
    is the prior times the likelihood of the mixture on a grid.
    """
    N, v = int(rng.integers(2, 5)), rng.uniform(0.5, 3)
    x = rng.normal(0, 1.5, N)
    sets = [np.array(Z) for Z in product((0, 1), repeat=N)]
    evidence = []
    for Z in sets:
        covariance = np.eye(N) + v * (Z[:, None] == Z)
        evidence.append(multivariate_normal(np.zeros(N), covariance).pdf(x))
    p_Z = np.array(evidence) / np.sum(evidence)
    line = np.linspace(-12, 12, 241)
    m = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    like = norm.pdf(x[:, None, None], m)  # (N, grid, component)
    p_m = norm.pdf(m, 0, np.sqrt(v)).prod(-1) * like.mean(-1).prod(0)
    p_m /= p_m.sum()
    given_m = like / like.sum(-1, keepdims=True)
    by_means = [p_m @ given_m[np.arange(N), :, Z].prod(0) for Z in sets]
    by_assignments = np.zeros(len(m))
    for Z, p in zip(sets, p_Z, strict=True):
        n, s = np.bincount(Z, minlength=2), np.bincount(Z, x, minlength=2)
        density = norm.pdf(m, s / (n + 1 / v), 1 / np.sqrt(n + 1 / v)).prod(-1)
        by_assignments += p * density / density.sum()
    return Sides(truth=(p_Z, p_m), printed=(np.array(by_means), by_assignments))
