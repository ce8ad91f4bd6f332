"""Equations of FCML 4.5: samples from a posterior density."""

import numpy as np
from numpy.random import Generator
from scipy.special import expit
from scipy.stats import multivariate_normal, norm

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.types import Floats


@equation(
    "4.17",
    section="4.5.2",
    latex=r"r = \frac{p(\tilde{\mathbf{w}}_s | \mathbf{X}, \mathbf{t}, \sigma^2)}"
    r"{p(\mathbf{w}_{s-1} | \mathbf{X}, \mathbf{t}, \sigma^2)}"
    r" \frac{p(\mathbf{w}_{s-1} | \tilde{\mathbf{w}}_s, \Sigma)}"
    r"{p(\tilde{\mathbf{w}}_s | \mathbf{w}_{s-1}, \Sigma)}"
    r" = \frac{p(\tilde{\mathbf{w}}_s | \sigma^2)}{p(\mathbf{w}_{s-1} | \sigma^2)}"
    r" \frac{p(\mathbf{t} | \tilde{\mathbf{w}}_s, \mathbf{X})}"
    r"{p(\mathbf{t} | \mathbf{w}_{s-1}, \mathbf{X})}",
)
def ratio_of_metropolis_hastings(rng: Generator) -> Sides:
    """The ratio of posterior and proposal densities by those of prior and likelihood alone.

    The posterior of logistic regression is normalised on a grid that contains both weights.
    """
    N, sigma2 = int(rng.integers(3, 12)), rng.uniform(0.5, 3)
    X, t = rng.standard_normal((N, 2)), rng.random(N) < 0.5
    B = rng.standard_normal((2, 3))
    Sigma = B @ B.T + 0.5 * np.eye(2)
    old, new = rng.standard_normal((2, 2))

    def log_g(w: Floats) -> Floats:
        signs = np.where(t, 1.0, -1.0)
        log_prior = norm(0, np.sqrt(sigma2)).logpdf(w).sum(-1)
        return np.asarray(log_prior + np.log(expit(signs * (w @ X.T))).sum(-1))

    line = np.linspace(-6, 6, 61)
    grid = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    posterior = np.exp(log_g(np.concatenate([[new, old], grid])))
    posterior /= posterior[2:].sum()
    back, forth = multivariate_normal(new, Sigma), multivariate_normal(old, Sigma)
    prior = np.exp(-(new @ new) / (2 * sigma2)) / np.exp(-(old @ old) / (2 * sigma2))
    terms = [np.where(t, expit(X @ w), 1 - expit(X @ w)).prod() for w in (new, old)]
    return Sides(
        truth=posterior[0] / posterior[1] * back.pdf(old) / forth.pdf(new),
        printed=prior * terms[0] / terms[1],
    )
