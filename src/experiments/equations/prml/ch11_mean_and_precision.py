"""Equations of PRML Exercise 11.13, Gibbs sampling of a mean and a precision."""

import numpy as np
from numpy.random import Generator
from scipy.stats import gamma, norm

from bythebook.experiments.core.equations import Sides, equation


@equation(
    "exercise 11.13",
    section="11.3",
    latex=r"p(\mu|x, \tau) = \mathcal{N} \left( \mu \Big| \frac{\mu_0 / s_0 + \tau x}"
    r"{1 / s_0 + \tau}, \frac{1}{1 / s_0 + \tau} \right), \quad p(\tau|x, \mu)"
    r" = \text{Gam} \left( \tau \Big| a + \frac{1}{2}, b + \frac{(x - \mu)^2}{2} \right)",
)
def conditionals_of_mean_and_precision(rng: Generator) -> Sides:
    """The conditional distributions are proportional to the joint density along each variable."""
    (x, mu0), (s0, a, b) = rng.normal(0, 2, 2), rng.uniform(0.3, 4, 3)
    mu, tau = rng.normal(0, 2, 5), rng.uniform(0.1, 4, 5)

    def joint(at: np.ndarray, precision: np.ndarray) -> np.ndarray:
        data = norm(at, 1 / np.sqrt(precision)).logpdf(x)
        return np.asarray(
            data + norm(mu0, np.sqrt(s0)).logpdf(at) + gamma(a, scale=1 / b).logpdf(precision)
        )

    precision = 1 / s0 + tau[0]
    of_mu = norm((mu0 / s0 + tau[0] * x) / precision, 1 / np.sqrt(precision)).logpdf(mu)
    of_tau = gamma(a + 1 / 2, scale=1 / (b + (x - mu[0]) ** 2 / 2)).logpdf(tau)
    truth = joint(mu, np.full(5, tau[0])), joint(np.full(5, mu[0]), tau)
    return Sides(
        truth=tuple(side[1:] - side[0] for side in truth),
        printed=(of_mu[1:] - of_mu[0], of_tau[1:] - of_tau[0]),
    )
