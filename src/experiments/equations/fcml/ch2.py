"""Equations of FCML 2.7: the likelihood of the linear model."""

import numpy as np
from numpy.random import Generator
from scipy.stats import norm

from bythebook.experiments.core.equations import Sides, equation


@equation(
    "section 2.7.4",
    section="2.7.4",
    latex=r"\log L = -\frac{N}{2} (1 + \log 2 \pi) - \frac{N}{2} \log \hat{\sigma}^2",
)
def maximised_log_likelihood(rng: Generator) -> Sides:
    """The log likelihood at its maximum follows from the number of points and the noise variance.

    The sum of the log densities of the residuals of a fit by least squares.
    """
    N, D = int(rng.integers(6, 30)), int(rng.integers(1, 5))
    X, t = rng.normal(size=(N, D)), rng.normal(2, 3, N)
    residuals = t - X @ np.linalg.lstsq(X, t, rcond=None)[0]
    variance = np.mean(residuals**2)
    printed = -N / 2 * (1 + np.log(2 * np.pi)) - N / 2 * np.log(variance)
    return Sides(truth=norm(0, np.sqrt(variance)).logpdf(residuals).sum(), printed=printed)
