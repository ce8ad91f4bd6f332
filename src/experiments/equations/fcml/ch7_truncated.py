"""Equations of FCML 7.7.1: truncated Gaussians and the probit function."""

from math import exp, pi, sqrt

import numpy as np
from numpy.random import Generator
from scipy import stats
from scipy.integrate import quad

from bythebook.experiments.core.equations import Sides, equation


@equation(
    "comment 7.3",
    section="7.7.1",
    latex=r"p(x) = \mathcal{N}^+(\mu, \sigma^2): \; \langle x \rangle = \mu"
    r" + \frac{\mathcal{N}_{\mu/\sigma}(0, 1)}{1 - \phi(-\mu/\sigma)}, \quad"
    r" p(x) = \mathcal{N}^-(\mu, \sigma^2): \; \langle x \rangle = \mu"
    r" - \frac{\mathcal{N}_{\mu/\sigma}(0, 1)}{\phi(-\mu/\sigma)}",
    corrected=r"p(x) = \mathcal{N}^+(\mu, \sigma^2): \; \langle x \rangle = \mu"
    r" + \sigma \frac{\mathcal{N}_{\mu/\sigma}(0, 1)}{1 - \phi(-\mu/\sigma)}, \quad"
    r" p(x) = \mathcal{N}^-(\mu, \sigma^2): \; \langle x \rangle = \mu"
    r" - \sigma \frac{\mathcal{N}_{\mu/\sigma}(0, 1)}{\phi(-\mu/\sigma)}",
    cause="truncated-mean-without-sigma",
)
def truncated_mean(rng: Generator) -> Sides:
    """The means of a Gaussian that is truncated to positive and to negative values."""
    mu, s = rng.normal(0, 1.5), rng.uniform(0.3, 3)
    at = stats.norm.pdf(mu / s)
    above, below = at / (1 - stats.norm.cdf(-mu / s)), at / stats.norm.cdf(-mu / s)
    truth = [
        quad(lambda x: x * stats.norm.pdf(x, mu, s), *ends, epsabs=0, epsrel=1e-12)[0]
        / quad(lambda x: stats.norm.pdf(x, mu, s), *ends, epsabs=0, epsrel=1e-12)[0]
        for ends in ((0, abs(mu) + 12 * s), (-abs(mu) - 12 * s, 0))
    ]
    return Sides(
        truth=truth, printed=(mu + above, mu - below), corrected=(mu + s * above, mu - s * below)
    )


@equation(
    "comment 7.3, unit variance",
    section="7.7.1",
    latex=r"\langle q \rangle = \mu + \frac{N_{\mu}(0, 1)}{1 - \phi(-\mu)}, \quad \langle q \rangle"
    r" = \mu - \frac{N_{\mu}(0, 1)}{\phi(-\mu)}",
)
def truncated_mean_of_unit_variance(rng: Generator) -> Sides:
    """With unit variance the means of the truncated Gaussians are right, by SciPy's."""
    mu = rng.normal(0, 1.5)
    at, below = stats.norm.pdf(mu), stats.norm.cdf(-mu)
    truth = stats.truncnorm(-mu, np.inf, mu).mean(), stats.truncnorm(-np.inf, -mu, mu).mean()
    return Sides(truth=truth, printed=(mu + at / (1 - below), mu - at / below))


@equation(
    "section 7.7.1, probit",
    section="7.7.1",
    latex=r"\phi(z) = \int_{-\infty}^z \exp \left\{ -\frac{x^2}{2} \right\} dx",
    corrected=r"\phi(z) = \frac{1}{\sqrt{2 \pi}} \int_{-\infty}^z \exp \left\{ -\frac{x^2}{2}"
    r" \right\} dx",
    cause="probit-without-its-constant",
)
def probit(rng: Generator) -> Sides:
    """The probit function is the probability that a Gaussian with mean z is positive."""
    z = rng.normal(0, 1.5)
    printed = quad(lambda x: exp(-(x**2) / 2), -12, z, epsabs=0, epsrel=1e-12)[0]
    truth = stats.norm(z, 1).sf(0)
    return Sides(truth=truth, printed=printed, corrected=printed / sqrt(2 * pi))
