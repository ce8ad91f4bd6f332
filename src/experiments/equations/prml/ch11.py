"""Equations of PRML 11.1.2 and 11.1.3, rejection sampling."""

import numpy as np
from numpy.polynomial import Polynomial
from numpy.random import Generator
from scipy.optimize import minimize_scalar
from scipy.special import gamma as gamma_function
from scipy.stats import cauchy, gamma, norm

from bythebook.experiments.core.equations import Sides, equation


@equation(
    "11.15",
    section="11.1.2",
    latex=r"\text{Gam}(z|a, b) = \frac{b^a z^{a - 1} \exp(-b z)}{\Gamma(a)}",
)
def gamma_density(rng: Generator) -> Sides:
    """The density of the gamma distribution with the rate b."""
    a, b = rng.uniform(0.5, 12), rng.uniform(0.2, 4)
    z = gamma(a, scale=1 / b).rvs(9, random_state=rng)
    printed = b**a * z ** (a - 1) * np.exp(-b * z) / gamma_function(a)
    return Sides(truth=gamma(a, scale=1 / b).pdf(z), printed=printed)


@equation(
    "11.15, a > 1",
    section="11.1.2",
    latex=r"a > 1: \quad \frac{d}{dz} \text{Gam}(z|a, b) = 0"
    r" \; \text{at} \; z = \frac{a - 1}{b} \; \text{only}",
    within=1e-6,
)
def gamma_is_bell_shaped(rng: Generator) -> Sides:
    """The gamma density with a > 1 rises to one maximum and then falls."""
    a, b = rng.uniform(1.1, 12), rng.uniform(0.2, 4)
    density = gamma(a, scale=1 / b)
    low, high = density.ppf([1e-6, 1 - 1e-6])
    z = np.linspace(low, high, 2001)
    rises = np.diff(density.logpdf(z)) > 0
    top = minimize_scalar(
        lambda x: -density.logpdf(x), bounds=(z[0], z[-1]), options={"xatol": 1e-10}
    )
    changes = np.count_nonzero(rises[1:] != rises[:-1])
    return Sides(truth=(changes, top.x), printed=(1, (a - 1) / b))


@equation(
    "11.16",
    section="11.1.2",
    latex=r"q(z) = \frac{k}{1 + (z - c)^2 / b^2}, \quad k = \frac{1}{\pi b}",
    within=1e-7,
)
def cauchy_by_tangent(rng: Generator) -> Sides:
    """The density of z = b tan y + c, where y is uniform over an interval as long as pi.

    The slope of the distribution function of z, of which y is the tangent's inverse.
    """
    b, c, h = rng.uniform(0.3, 5), rng.normal(0, 4), 1e-4
    z = c + b * np.tan(rng.uniform(-1.4, 1.4, 9))
    below, above = (np.arctan((z + sign * h * b - c) / b) / np.pi for sign in (-1, 1))
    k = 1 / (np.pi * b)
    return Sides(truth=(above - below) / (2 * h * b), printed=k / (1 + (z - c) ** 2 / b**2))


@equation(
    "exercise 11.7",
    section="11.1.2",
    latex=r"y = b \tan z + c, \quad z \sim U(0, 1)",
    corrected=r"y = b \tan z + c, \quad z \sim U \left(-\frac{\pi}{2}, \frac{\pi}{2}\right)",
    cause="tangent-of-unit-interval",
)
def tangent_of_unit_interval(rng: Generator) -> Sides:
    """The quantiles of the Cauchy distribution from a uniform variable.

    The printed interval of the uniform variable is [0, 1].
    """
    b, c, u = rng.uniform(0.3, 5), rng.normal(0, 4), rng.uniform(0.05, 0.95, 9)
    return Sides(
        truth=cauchy(c, b).ppf(u),
        printed=b * np.tan(u) + c,
        corrected=b * np.tan(np.pi * (u - 0.5)) + c,
    )


def _log_smallest_k(a: float, c: float, b: float) -> float:
    """The logarithm of the smallest k for a gamma density (b = 1) under a Cauchy density.

    The ratio is stationary where (a - 1 - z) (b^2 + (z - c)^2) + 2 z (z - c) = 0.
    """
    square = Polynomial([b**2 + c**2, -2 * c, 1])
    roots = (Polynomial([a - 1, -1]) * square + Polynomial([0, -2 * c, 2])).roots()
    z = roots.real[(abs(roots.imag) < 1e-6) & (roots.real > 0)]
    return float((gamma(a).logpdf(z) - cauchy(c, b).logpdf(z)).max())


@equation(
    "11.15, 11.16, smallest k",
    section="11.1.2",
    latex=r"k = \max_z \frac{\text{Gam}(z|a, 1)}{q(z)}",
    within=1e-6,
)
def comparison_touches(rng: Generator) -> Sides:
    """The smallest comparison function touches the gamma density, and is nowhere below it.

    The maximum over the places where the ratio is stationary, and over a fine grid.
    """
    a = rng.uniform(1.2, 12)
    c, b = (a - 1) * rng.uniform(0.7, 1.3), np.sqrt(2 * a - 1) * rng.uniform(0.7, 1.4)
    z = np.linspace(1e-3, 4 * a + 20, 40_001)
    ratio = gamma(a).logpdf(z) - cauchy(c, b).logpdf(z)
    return Sides(truth=np.exp(ratio.max()), printed=np.exp(_log_smallest_k(a, c, b)))


@equation(
    "section 11.1.2, c = a - 1 and b^2 = 2a - 1",
    section="11.1.2",
    latex=r"\frac{\partial \ln k}{\partial \ln b} = 0 \quad \text{at} \quad c = a - 1, \;"
    r" b^2 = 2a - 1",
    corrected=r"\frac{\partial \ln k}{\partial \ln b} = 1 \quad \text{at} \quad c = a - 1, \;"
    r" b^2 = 2a - 1",
    cause="least-rejection-cauchy",
    within=1e-6,
)
def least_rejection(rng: Generator) -> Sides:
    """The reject rate is not at its minimum at the printed width of the Cauchy density.

    The comparison function touches at the mode, where its height is proportional to k / b.
    """
    a, h = rng.uniform(1.5, 20), 1e-4
    b = np.sqrt(2 * a - 1)
    ends = [_log_smallest_k(a, a - 1, b * np.exp(shift)) for shift in (-h, h)]
    return Sides(truth=(ends[1] - ends[0]) / (2 * h), printed=0.0, corrected=1.0)


@equation(
    "section 11.1.3, optimal k in D dimensions",
    section="11.1.3",
    latex=r"k = \left( \frac{\sigma_q}{\sigma_p} \right)^D",
)
def smallest_k_of_gaussians(rng: Generator) -> Sides:
    """The smallest k for a Gaussian target under a wider Gaussian proposal in D dimensions."""
    D, target = int(rng.integers(1, 8)), rng.uniform(0.3, 3)
    proposal = target * rng.uniform(1.01, 2)
    z = np.append(rng.normal(0, target, (500, D)), np.zeros((1, D)), axis=0)
    ratio = norm(0, target).logpdf(z) - norm(0, proposal).logpdf(z)
    return Sides(truth=np.exp(ratio.sum(1).max()), printed=(proposal / target) ** D)


@equation(
    "section 11.1.3, existence of k",
    section="11.1.3",
    latex=r"\exists k: \; k q(z) \geq p(z) \; \text{for all} \; z"
    r" \quad \text{only if} \quad \sigma_q^2 \geq \sigma_p^2",
)
def bounded_ratio_of_gaussians(rng: Generator) -> Sides:
    """The ratio of two Gaussian densities is bounded only if the proposal is as wide as the target.

    A bounded ratio has its maximum at zero, and a longer grid does not have a larger one.
    """
    target, factor = rng.uniform(0.3, 3), np.append(rng.uniform(0.5, 1.5, 6), 1.0)
    proposal = target * factor
    near, far = (np.linspace(0, reach * target, 2001)[:, None] for reach in (20, 40))
    largest = [
        (norm(0, target).logpdf(z) - norm(0, proposal).logpdf(z)).max(0) for z in (near, far)
    ]
    bounded = largest[1] - largest[0] <= 1e-9
    return Sides(truth=bounded.astype(float), printed=(proposal**2 >= target**2).astype(float))
