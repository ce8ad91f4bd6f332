"""Equations of PRML 11.2 to 11.4: Metropolis, Gibbs and slice sampling."""

from typing import Any, cast

import numpy as np
from numpy.random import Generator
from scipy.integrate import quad
from scipy.special import erf
from scipy.stats import gamma, norm

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.sampling import kernels, targets
from bythebook.models.types import Floats

CHAINS = 20_000


class _Even:
    """Numbers of a step that are not random: one proposal, and even levels of acceptance."""

    def __init__(self, noise: Floats, size: float = 1.0) -> None:
        self.noise, self.forwards = noise, size > 0

    def standard_normal(self, shape: tuple[int, int]) -> Floats:
        return np.tile(self.noise, (shape[0], 1))

    def uniform(self, low: float, high: float, shape: tuple[int, int]) -> Floats:
        return np.full(shape, (low + high) / 2)  # the step size as named

    def random(self, shape: tuple[int, int]) -> Floats:
        return np.full(shape, 0.25 if self.forwards else 0.75)

    def standard_exponential(self, count: int) -> Floats:
        return np.asarray(-np.log((np.arange(count) + 0.5) / count))


def _covariance(rng: Generator, D: int) -> Floats:
    B = rng.standard_normal((D, D + 2))
    return np.asarray(B @ B.T / D)


def _gaussian(covariance: Floats) -> targets.Target:
    variances, directions = np.linalg.eigh(covariance)
    return targets.gaussian_of(np.sqrt(variances), directions)


@equation(
    "11.33",
    section="11.2",
    latex=r"A(\mathbf{z}^*, \mathbf{z}^{(\tau)}) = \min \left( 1,"
    r" \frac{\tilde{p}(\mathbf{z}^*)}{\tilde{p}(\mathbf{z}^{(\tau)})} \right)",
    within=2e-3,
)
def metropolis_acceptance(rng: Generator) -> Sides:
    """The share of accepted copies of one proposal, for levels u that are even on (0, 1)."""
    sds, scale = rng.uniform(1, 2, 2), rng.uniform(0.3, 0.6)
    z, noise = rng.uniform(-1, 1, (2, 2)) * [sds, [2.0, 2.0]]
    state = np.tile(z, (CHAINS, 1))
    target = targets.gaussian(*sds)
    numbers = np.full((CHAINS, 1), scale)
    even = cast(Any, _Even(noise))
    move = kernels.metropolis(target, state, target.log_p(state), numbers, even)
    log_ratio = (norm(0, sds).logpdf(z + scale * noise) - norm(0, sds).logpdf(z)).sum()
    return Sides(truth=np.mean(move.accepted), printed=min(1, np.exp(log_ratio)))


@equation(
    "11.49",
    section="11.3",
    latex=r"A(\mathbf{z}^*, \mathbf{z}) = \frac{p(\mathbf{z}^*) q_k(\mathbf{z}|\mathbf{z}^*)}"
    r"{p(\mathbf{z}) q_k(\mathbf{z}^*|\mathbf{z})} = 1",
)
def gibbs_step_is_accepted(rng: Generator) -> Sides:
    """A Gibbs step as a Metropolis-Hastings step is always accepted.

    The step is the project's, which uses the precision; the conditional densities of the ratio are
    those of the covariance.
    """
    D = int(rng.integers(2, 5))
    covariance, k = _covariance(rng, D), int(rng.integers(D))
    target, rest = _gaussian(covariance), np.delete(np.arange(D), k)
    assert target.resample is not None  # of a Gaussian
    z = target.draw(1, rng)
    after = z.copy()
    after[:, k] = target.resample(z, k, np.zeros(1), rng)
    slope = np.linalg.solve(covariance[np.ix_(rest, rest)], covariance[rest, k])
    q = norm(z[0, rest] @ slope, np.sqrt(covariance[k, k] - covariance[k, rest] @ slope))
    log_p = target.log_p(np.concatenate([after, z]))
    forth, back = q.logpdf(after[0, k]), q.logpdf(z[0, k])
    return Sides(truth=1.0, printed=np.exp(log_p[0] + back - log_p[1] - forth))


@equation(
    "11.50",
    section="11.3",
    latex=r"z_i' = \mu_i + \alpha (z_i - \mu_i) + \sigma_i (1 - \alpha^2)^{1/2} \nu",
)
def over_relaxed_update(rng: Generator) -> Sides:
    """The update keeps mean and variance (Exercise 11.14), and is the project's for one nu.

    Both z_i and nu take the values of a Gauss-Hermite rule, which has the moments of a Gaussian.
    """
    node, weight = np.polynomial.hermite_e.hermegauss(6)
    weight /= weight.sum()
    alpha, covariance = rng.uniform(-0.95, 0.95), _covariance(rng, 2)
    rest = rng.standard_normal()
    mean = covariance[0, 1] / covariance[1, 1] * rest
    sd = np.sqrt(covariance[0, 0] - covariance[0, 1] ** 2 / covariance[1, 1])
    z, nu = mean + sd * node[:, None], node[None, :]
    after = mean + alpha * (z - mean) + sd * (1 - alpha**2) ** 0.5 * nu
    w = np.outer(weight, weight)
    centre = (w * after).sum()
    target = _gaussian(covariance)
    assert target.resample is not None  # of a Gaussian
    states = np.stack([z[:, 0], np.full(len(z), rest)], axis=-1)
    step = target.resample(states, 0, np.full(len(z), alpha), cast(Any, _One(nu[0, 1])))
    return Sides(
        truth=(mean, sd**2, step),
        printed=(centre, (w * (after - centre) ** 2).sum(), after[:, 1]),
    )


class _One:
    """A generator whose Gaussian numbers are all the same."""

    def __init__(self, value: float) -> None:
        self.value = value

    def standard_normal(self, shape: tuple[int, ...]) -> Floats:
        return np.full(shape, self.value)


def _mass(reach: float) -> float:
    """The integral of exp(-z^2 y^2) over |z|, |y| <= reach."""

    def along(log_y: float) -> float:
        y = np.exp(log_y)
        return float(y * np.sqrt(np.pi) / y * erf(reach * y))

    return float(2 * quad(along, -60, np.log(reach), epsabs=1e-11, limit=400)[0])


@equation(
    "section 11.3, the distribution exp(-z^2 y^2)",
    section="11.3",
    latex=r"\lim_{R \to \infty} \int_{-R}^R \int_{-R}^R \exp(-z^2 y^2) \, dz \, dy < \infty",
    corrected=r"\int_{-R'}^{R'} \int_{-R'}^{R'} \exp(-z^2 y^2) \, dz \, dy"
    r" - \int_{-R}^R \int_{-R}^R \exp(-z^2 y^2) \, dz \, dy"
    r" \simeq 4 \sqrt{\pi} \ln \frac{R'}{R}",
    cause="product-of-squares",
    within=1e-6,
)
def product_of_squares(rng: Generator) -> Sides:
    """The mass of a large square grows for ever, with the logarithm of its size.

    The mass that is added by a larger square, by quadrature. The mass of a distribution has a
    limit, so that large squares would add none.
    """
    R = 10 ** rng.uniform(2, 4)
    factor = rng.uniform(2, 50)
    added = _mass(factor * R) - _mass(R)
    return Sides(truth=added, printed=0.0, corrected=4 * np.sqrt(np.pi) * np.log(factor))


@equation(
    "11.51, 11.52",
    section="11.4",
    latex=r"\int \hat{p}(z, u) \, du = \int_0^{\tilde{p}(z)} \frac{1}{Z_p} \, du"
    r" = \frac{\tilde{p}(z)}{Z_p} = p(z)",
    within=1e-7,
)
def marginal_under_the_curve(rng: Generator) -> Sides:
    """The marginal distribution of z under the curve is p, the normalised density of SciPy."""
    shape, rate, factor = rng.uniform(1.2, 5), rng.uniform(0.3, 3), rng.uniform(0.2, 5)

    def curve(z: Any) -> Any:
        return factor * z ** (shape - 1) * np.exp(-rate * z)

    z = gamma(shape, scale=1 / rate).rvs(5, random_state=rng)
    Z = quad(curve, 0, np.inf, epsabs=0, epsrel=1e-10)[0]
    return Sides(truth=gamma(shape, scale=1 / rate).pdf(z), printed=curve(z) / Z)


@equation(
    "11.67",
    section="11.5.2",
    latex=r"\min(1, \exp \{ H(\mathbf{z}, \mathbf{r}) - H(\mathbf{z}^*, \mathbf{r}^*) \})",
    within=2e-3,
)
def hybrid_acceptance(rng: Generator) -> Sides:
    """The share of accepted copies of one leapfrog trajectory, for even levels on (0, 1).

    The energies of the printed side are those of a plain loop of leapfrog steps on a Gaussian with
    independent components.
    """
    sds, L = rng.uniform(0.8, 2, 2), int(rng.integers(1, 5))
    z, r = rng.uniform(-1, 1, (2, 2)) * [sds, [1.5, 1.5]]
    epsilon = rng.uniform(0.9, 1.3) * rng.choice([-1.0, 1.0])
    target, even = targets.gaussian(*sds), cast(Any, _Even(r, epsilon))
    state, numbers = np.tile(z, (CHAINS, 1)), np.tile([abs(epsilon), L], (CHAINS, 1))
    move = kernels.hamiltonian(target, state, target.log_p(state), numbers, even)
    start = ((z / sds) ** 2).sum() / 2 + (r**2).sum() / 2
    for _ in range(L):
        r = r - epsilon / 2 * z / sds**2
        z = z + epsilon * r
        r = r - epsilon / 2 * z / sds**2
    end = ((z / sds) ** 2).sum() / 2 + (r**2).sum() / 2
    return Sides(truth=np.mean(move.accepted), printed=min(1, np.exp(start - end)))
