"""Equations of Ghahramani 1.3: maximum likelihood, penalised likelihood and the posterior."""

import numpy as np
from numpy.random import Generator
from scipy.optimize import brentq
from scipy.stats import beta

from bythebook.experiments.core.equations import Sides, equation


@equation(
    "section 1.3, penalised likelihood",
    section="1.3",
    latex=r"\hat{\theta} = \text{argmax}_\theta \{\ln P(D|\theta) + \ln P(\theta)\} ="
    r" \text{argmax}_\theta P(\theta|D)",
)
def penalised_likelihood(rng: Generator) -> Sides:
    """The maximum of a penalised likelihood is the mode of the posterior.

    The penalty on a coin's probability of heads is the log density of a beta prior.
    """
    a, b = rng.uniform(1.2, 5, 2)
    heads, tails = rng.integers(0, 12, 2)

    def slope(r: float, h: float = 1e-6) -> float:
        ends = np.array([r + h, r - h])
        penalised = heads * np.log(ends) + tails * np.log1p(-ends) + beta(a, b).logpdf(ends)
        return float(penalised[0] - penalised[1])

    penalised = brentq(slope, 1e-4, 1 - 1e-4, xtol=1e-14)
    mode = (a + heads - 1) / (a + b + heads + tails - 2)  # of the beta posterior
    return Sides(truth=mode, printed=penalised)
