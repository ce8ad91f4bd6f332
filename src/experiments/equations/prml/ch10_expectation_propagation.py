"""Equations of PRML 10.7, expectation propagation for the clutter problem."""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.stats import multivariate_normal, norm

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.approximation import clutter
from bythebook.models.approximation.clutter import Clutter
from bythebook.models.types import Floats

LINE = np.linspace(-40, 40, 4001)  # places at which one-dimensional densities are summed


class _Case(NamedTuple):
    """The clutter, a point, a cavity N(m, v I), and its product with the factor on a lattice."""

    of: Clutter
    x: Floats  # (D,)
    m: Floats  # (D,)
    v: float
    theta: Floats  # (G, D)
    cell: float
    signal: Floats  # (G,) the part of the factor that is not clutter, times the cavity
    tilted: Floats  # (G,) the factor times the cavity


class _Moments(NamedTuple):
    total: float
    mean: Floats
    variance: float  # mean over the dimensions
    square: float  # the expectation of theta^T theta


def _normal(theta: Floats, m: Floats, v: float) -> Floats:
    return np.asarray(multivariate_normal(m, v * np.eye(len(m))).pdf(theta))


def _case(rng: Generator) -> _Case:
    D, v = int(rng.integers(1, 3)), rng.uniform(0.4, 2)
    of = Clutter(*rng.uniform([0.2, 3, 0.5], [0.8, 12, 5]))
    x, m = rng.normal(0, 1.5, (2, D))
    side = np.linspace(-10, 10, 801 if D == 1 else 161) * np.sqrt(v)
    theta = m + np.stack(np.meshgrid(*[side] * D, indexing="ij"), axis=-1).reshape(-1, D)
    cavity = _normal(theta, m, v)
    signal = (1 - of.w) * _normal(theta, x, 1.0) * cavity
    noise = of.w * _normal(x, np.zeros(D), of.a) * cavity
    return _Case(of, x, m, v, theta, (side[1] - side[0]) ** D, signal, signal + noise)


def _moments(values: Floats, case: _Case) -> _Moments:
    p = values / values.sum()
    mean, square = p @ case.theta, float(p @ (case.theta**2).sum(1))
    variance = (square - mean @ mean) / len(mean)
    return _Moments(values.sum() * case.cell, mean, variance, square)


def _log_z(case: _Case, m: Floats, v: float) -> float:
    """The logarithm of Z_n (10.216)."""
    w, a, _ = case.of
    noise = w * _normal(case.x, np.zeros(len(m)), a)
    return float(np.log((1 - w) * _normal(case.x, m, v + 1) + noise))


def _rho(case: _Case) -> float:
    """The probability that the point is not clutter (10.219)."""
    w, a, _ = case.of
    noise = w * _normal(case.x, np.zeros(len(case.m)), a)
    return float(1 - noise / np.exp(_log_z(case, case.m, case.v)))


@equation(
    "section 10.7.1, posterior of 2^N Gaussians",
    section="10.7.1",
    latex=r"p(\mathcal{D}, \theta) = \sum_{\mathbf{c} \in \{0, 1\}^N} p(\mathbf{c})"
    r" p(\theta) \prod_{n=1}^N p(\mathbf{x}_n|\theta, c_n)",
)
def clutter_posterior_is_a_mixture(rng: Generator) -> Sides:
    """The joint density of the clutter problem is a mixture of 2^N Gaussians.

    Each assignment of the points to clutter gives one Gaussian in theta.
    """
    N, w, a, b = int(rng.integers(1, 6)), rng.uniform(0.2, 0.8), rng.uniform(3, 12), 20.0
    x, theta = rng.normal(1, 2, N), rng.normal(1, 2, 9)
    mixture = np.zeros(9)
    for index in range(2**N):
        clean = np.array([(index >> n) & 1 for n in range(N)], dtype=bool)
        ones, v = np.ones(clean.sum()), 1 / (1 / b + clean.sum())
        weight = w ** (~clean).sum() * (1 - w) ** clean.sum()
        weight *= norm(0, np.sqrt(a)).pdf(x[~clean]).prod()
        if clean.any():
            weight *= multivariate_normal(0 * ones, np.eye(len(ones)) + b).pdf(x[clean])
        mixture += weight * norm(v * x[clean].sum(), np.sqrt(v)).pdf(theta)
    of = Clutter(w, a, b)
    factors = clutter.tilted(np.tile(x[:, None, None], (9, 1)), theta[:, None], np.zeros(9), of)
    prior = norm(0, np.sqrt(b)).pdf(theta)
    return Sides(truth=prior * np.exp(factors.log_z.sum(0)), printed=mixture)


@equation(
    "exercise 10.37",
    section="10.7.1",
    latex=r"\tilde{f}_0^{\text{new}}(\mathbf{\theta})"
    r" = Z_0 \frac{q^{\text{new}}(\mathbf{\theta})}{q^{\setminus 0}(\mathbf{\theta})}"
    r" = f_0(\mathbf{\theta})",
)
def prior_factor_is_unchanged(rng: Generator) -> Sides:
    """An update of expectation propagation leaves the factor of the prior unchanged."""
    case = _case(rng)
    b, D = case.of.b, len(case.m)
    prior = _normal(case.theta, np.zeros(D), b)
    found = _moments(prior * _normal(case.theta, case.m, case.v), case)
    places = rng.normal(0, 1, (5, D))
    ratio = _normal(places, found.mean, found.variance) / _normal(places, case.m, case.v)
    return Sides(truth=found.total * ratio, printed=_normal(places, np.zeros(D), b))


@equation(
    "10.214, 10.215",
    section="10.7.1",
    latex=r"\mathbf{m}^{\setminus n} = \mathbf{m} + v^{\setminus n} v_n^{-1}"
    r" (\mathbf{m} - \mathbf{m}_n), \quad (v^{\setminus n})^{-1} = v^{-1} - v_n^{-1}",
)
def cavity_mean_and_variance(rng: Generator) -> Sides:
    """The mean and the inverse variance of q without one factor.

    The logarithm of q less that of the factor, whose variance may be negative.
    """
    D = int(rng.integers(1, 4))
    (m, m_n), v = rng.normal(0, 1.5, (2, D)), rng.uniform(0.4, 2)
    v_n = rng.choice([-1, 1]) * rng.uniform(2.5, 8)
    theta = rng.normal(0, 2, (6, D))
    quotient = np.log(_normal(theta, m, v)) + ((theta - m_n) ** 2).sum(1) / (2 * v_n)
    cavity_v = 1 / (1 / v - 1 / v_n)
    cavity_m = m + cavity_v / v_n * (m - m_n)
    exponent = -((theta - cavity_m) ** 2).sum(1) / (2 * cavity_v)
    return Sides(truth=quotient[1:] - quotient[0], printed=exponent[1:] - exponent[0])


@equation(
    "10.216",
    section="10.7.1",
    latex=r"Z_n = (1 - w) \mathcal{N}(\mathbf{x}_n|\mathbf{m}^{\setminus n},"
    r" (v^{\setminus n} + 1) \mathbf{I}) + w \mathcal{N}(\mathbf{x}_n|\mathbf{0}, a \mathbf{I})",
)
def factor_normaliser(rng: Generator) -> Sides:
    """The normalisation constant of a factor in its cavity, against quadrature."""
    case = _case(rng)
    (w, a, _), x, m, v = case.of, case.x, case.m, case.v
    Z = (1 - w) * _normal(x, m, v + 1) + w * _normal(x, 0 * m, a)
    return Sides(truth=_moments(case.tilted, case).total, printed=Z)


@equation(
    "10.217, 10.218",
    section="10.7.1",
    latex=r"\mathbf{m} = \mathbf{m}^{\setminus n} + \rho_n \frac{v^{\setminus n}}"
    r"{v^{\setminus n} + 1} (\mathbf{x}_n - \mathbf{m}^{\setminus n}), \quad v = v^{\setminus n}"
    r" - \rho_n \frac{(v^{\setminus n})^2}{v^{\setminus n} + 1} + \rho_n (1 - \rho_n)"
    r" \frac{(v^{\setminus n})^2 \|\mathbf{x}_n - \mathbf{m}^{\setminus n}\|^2}"
    r"{D (v^{\setminus n} + 1)^2}",
)
def new_mean_and_variance(rng: Generator) -> Sides:
    """The mean and the variance of a factor times its cavity, against quadrature."""
    case = _case(rng)
    x, m, v, rho, D = case.x, case.m, case.v, _rho(case), len(case.m)
    mean = m + rho * v / (v + 1) * (x - m)
    variance = v - rho * v**2 / (v + 1)
    variance += rho * (1 - rho) * v**2 * ((x - m) ** 2).sum() / (D * (v + 1) ** 2)
    truth = _moments(case.tilted, case)
    return Sides(truth=(truth.mean, truth.variance), printed=(mean, variance))


@equation(
    "10.219",
    section="10.7.1",
    latex=r"\rho_n = 1 - \frac{w}{Z_n} \mathcal{N}(\mathbf{x}_n|\mathbf{0}, a \mathbf{I})",
)
def probability_of_no_clutter(rng: Generator) -> Sides:
    """The probability that a point is not clutter, as a share of the quadrature's total."""
    case = _case(rng)
    w, a, _ = case.of
    Z = np.exp(_log_z(case, case.m, case.v))
    printed = 1 - w / Z * _normal(case.x, 0 * case.m, a)
    return Sides(truth=case.signal.sum() / case.tilted.sum(), printed=printed)


@equation(
    "10.220, 10.221",
    section="10.7.1",
    latex=r"v_n^{-1} = (v^{\text{new}})^{-1} - (v^{\setminus n})^{-1}, \quad"
    r" \mathbf{m}_n = \mathbf{m}^{\setminus n} + (v_n + v^{\setminus n}) (v^{\setminus n})^{-1}"
    r" (\mathbf{m}^{\text{new}} - \mathbf{m}^{\setminus n})",
)
def refined_factor(rng: Generator) -> Sides:
    """The variance and the mean of a refined factor.

    The logarithm of the new q less that of the cavity, which may be wider or narrower.
    """
    D = int(rng.integers(1, 4))
    (new_m, m), (new_v, v) = rng.normal(0, 1.5, (2, D)), rng.uniform(0.4, 3, 2)
    theta = rng.normal(0, 2, (6, D))
    quotient = np.log(_normal(theta, new_m, new_v) / _normal(theta, m, v))
    v_n = 1 / (1 / new_v - 1 / v)
    m_n = m + (v_n + v) / v * (new_m - m)
    exponent = -((theta - m_n) ** 2).sum(1) / (2 * v_n)
    return Sides(truth=quotient[1:] - quotient[0], printed=exponent[1:] - exponent[0])


@equation(
    "10.222",
    section="10.7.1",
    latex=r"s_n = \frac{Z_n}{(2 \pi v_n)^{D/2} \mathcal{N}(\mathbf{m}_n|"
    r"\mathbf{m}^{\setminus n}, (v_n + v^{\setminus n}) \mathbf{I})}",
    corrected=r"s_n = \frac{Z_n}{\mathcal{N}(\mathbf{m}_n|\mathbf{m}^{\setminus n},"
    r" (v_n + v^{\setminus n}) \mathbf{I})}",
    cause="scale-with-the-normaliser-twice",
)
def factor_scale(rng: Generator) -> Sides:
    """The scale of a refined factor, whose integral in the cavity is Z_n by (10.201)."""
    case = _case(rng)
    m_n, v_n, D = rng.normal(0, 1.5, len(case.m)), rng.uniform(0.5, 4), len(case.m)
    Z = rng.uniform(0.05, 3)
    integral = _moments(_normal(case.theta, m_n, v_n) * _normal(case.theta, case.m, case.v), case)
    scale = Z / _normal(m_n, case.m, v_n + case.v)
    printed = scale / (2 * np.pi * v_n) ** (D / 2)
    return Sides(truth=Z / integral.total, printed=printed, corrected=scale)


@equation(
    "10.223, 10.224",
    section="10.7.1",
    latex=r"p(\mathcal{D}) \simeq (2 \pi v^{\text{new}})^{D/2} \exp(B / 2) \prod_{n=1}^N \left\{"
    r" s_n (2 \pi v_n)^{-D/2} \right\}, \quad B = \frac{(\mathbf{m}^{\text{new}})^T"
    r" \mathbf{m}^{\text{new}}}{v} - \sum_{n=1}^N \frac{\mathbf{m}_n^T \mathbf{m}_n}{v_n}",
    corrected=r"p(\mathcal{D}) \simeq \left( \frac{v^{\text{new}}}{b} \right)^{D/2} \exp(B / 2)"
    r" \prod_{n=1}^N \left\{ s_n (2 \pi v_n)^{-D/2} \right\}",
    cause="evidence-without-the-prior",
)
def evidence_from_factors(rng: Generator) -> Sides:
    """The evidence from the factors: the integral of their product by quadrature, (10.208)."""
    case = _case(rng)
    D, N, b = len(case.m), int(rng.integers(2, 5)), case.of.b
    m_n, v_n, s_n = case.m + rng.normal(0, 1, (N, D)), *rng.uniform(0.5, 2.5, (2, N))
    product = _normal(case.theta, np.zeros(D), b)
    for m, v, s in zip(m_n, v_n, s_n, strict=True):
        product = product * s * _normal(case.theta, m, v)
    new_v = 1 / (1 / b + (1 / v_n).sum())
    new_m = new_v * (m_n / v_n[:, None]).sum(0)
    B = new_m @ new_m / new_v - ((m_n**2).sum(1) / v_n).sum()
    printed = (2 * np.pi * new_v) ** (D / 2) * np.exp(B / 2)
    printed *= (s_n * (2 * np.pi * v_n) ** (-D / 2)).prod()
    corrected = printed * (2 * np.pi * b) ** (-D / 2)
    truth = product.sum() * case.cell
    return Sides(truth=truth, printed=printed, corrected=corrected)


@equation(
    "10.244",
    section="10.7.1",
    latex=r"\mathbb{E}[\mathbf{\theta}] = \mathbf{m}^{\setminus n} + v^{\setminus n}"
    r" \nabla_{\mathbf{m}^{\setminus n}} \ln Z_n",
    within=1e-6,
)
def mean_by_the_normaliser(rng: Generator) -> Sides:
    """The mean of a factor times its cavity, from the derivative of ln Z_n in the mean."""
    case, h = _case(rng), 1e-4
    m, v = case.m, case.v
    slope = [(_log_z(case, m + e, v) - _log_z(case, m - e, v)) / 2 for e in h * np.eye(len(m))]
    return Sides(truth=_moments(case.tilted, case).mean, printed=m + v * np.array(slope) / h)


@equation(
    "10.245",
    section="10.7.1",
    latex=r"\mathbb{E}[\mathbf{\theta} \mathbf{\theta}^T] = 2 (v^{\setminus n})^2"
    r" \nabla_{v^{\setminus n}} \ln Z_n + 2 \mathbb{E}[\mathbf{\theta}]^T \mathbf{m}^{\setminus n}"
    r" - \|\mathbf{m}^{\setminus n}\|^2",
    corrected=r"\mathbb{E}[\mathbf{\theta}^T \mathbf{\theta}] = 2 (v^{\setminus n})^2"
    r" \nabla_{v^{\setminus n}} \ln Z_n + 2 \mathbb{E}[\mathbf{\theta}]^T \mathbf{m}^{\setminus n}"
    r" - \|\mathbf{m}^{\setminus n}\|^2 + v^{\setminus n} D",
    cause="second-moment-without-its-variance",
    within=1e-7,
)
def second_moment_by_the_normaliser(rng: Generator) -> Sides:
    """The second moment of a factor times its cavity, from the derivative of ln Z_n.

    The right side is a number, so the left side is taken as the trace of the matrix.
    """
    case, h = _case(rng), 1e-4
    m, v, truth = case.m, case.v, _moments(case.tilted, case)
    slope = (_log_z(case, m, v + h) - _log_z(case, m, v - h)) / (2 * h)
    printed = 2 * v**2 * slope + 2 * truth.mean @ m - m @ m
    return Sides(truth=truth.square, printed=printed, corrected=printed + v * len(m))


@equation(
    "10.242, 10.243",
    section="10.7",
    latex=r"p_j(\mathcal{D}) \simeq p_{j-1}(\mathcal{D}) Z_j, \quad"
    r" p(\mathcal{D}) \simeq \prod_j Z_j",
    within=1e-7,
)
def evidence_of_one_pass(rng: Generator) -> Sides:
    """The evidence of assumed density filtering is the product of its normalisers.

    The integral of the prior and the factors that the model stores, against a recursion by
    quadrature that stores none.
    """
    of = Clutter(*rng.uniform([0.2, 3, 5], [0.8, 12, 30]))
    x, step = rng.normal(1.5, 2, int(rng.integers(2, 9))), LINE[1] - LINE[0]
    prior = norm(0, np.sqrt(of.b)).pdf(LINE)
    q, printed = prior, []
    for x_n in x:
        noise = of.w * norm(0, np.sqrt(of.a)).pdf(x_n)
        tilted = q * ((1 - of.w) * norm(LINE, 1).pdf(x_n) + noise)
        printed.append(tilted.sum() * step)
        mean = tilted @ LINE / tilted.sum()
        q = norm(mean, np.sqrt(tilted @ (LINE - mean) ** 2 / tilted.sum())).pdf(LINE)
    run = clutter.propagate(x[None, :, None], of, 1)
    log_factors = (
        run.constant[0]
        + np.outer(LINE, run.sites.shift[0])
        - np.outer(LINE**2 / 2, run.sites.precision[0])
    )
    product = prior[:, None] * np.exp(np.cumsum(log_factors, axis=1))
    return Sides(truth=product.sum(0) * step, printed=np.cumprod(printed))


@equation(
    "section 10.7, energy function",
    section="10.7",
    latex=r"\frac{\partial}{\partial \mathbf{\eta}_n} \ln \int \prod_i \tilde{f}_i(\theta)"
    r" \, d\theta = 0 \quad \text{at convergence}",
    within=1e-6,
)
def convergence_is_stationary(rng: Generator) -> Sides:
    """Where expectation propagation converges, its energy function is stationary.

    The energy is minus the log evidence (10.208) with factors scaled by (10.201), here by
    quadrature; it is differenced in the precision and the shift of every factor.
    """
    while True:  # until all factors have been refined and have converged
        of = Clutter(*rng.uniform([0.1, 3, 5], [0.4, 12, 30]))
        x = rng.normal(2, 1.2, int(rng.integers(2, 7)))
        run = clutter.propagate(x[None, :, None], of, 200)
        precision = run.sites.precision[0]
        if run.change[-1] <= 1e-12 and (precision.sum() - precision).min() > 0.2:
            break
    sites = np.array([precision, run.sites.shift[0, :, 0]])
    theta = LINE[::8]
    noise = of.w * norm(0, np.sqrt(of.a)).pdf(x)
    factors = (1 - of.w) * norm(theta[:, None], 1).pdf(x) + noise

    def log_evidence(precision: Floats, shift: Floats) -> float:
        log_sites = np.outer(theta, shift) - np.outer(theta**2 / 2, precision)
        log_q = log_sites.sum(1) - theta**2 / (2 * of.b)
        cavities = np.exp(log_q[:, None] - log_sites)
        scales = (factors * cavities).sum(0) / np.exp(log_q).sum()
        return float(np.log(np.exp(log_q).sum()) + np.log(scales).sum())

    h = 1e-4
    moves = [h * np.reshape(e, sites.shape) for e in np.eye(sites.size)]
    slope = [(log_evidence(*(sites + e)) - log_evidence(*(sites - e))) / (2 * h) for e in moves]
    return Sides(truth=1 + np.array(slope), printed=np.ones(sites.size))  # on the scale of one nat
