"""Equations of Ghahramani 2.1, factor analysis."""

import numpy as np
from numpy.random import Generator
from scipy.stats import norm

from bythebook.experiments.core.equations import Sides, equation


@equation(
    "12",
    section="2.1",
    latex=r"p(\mathbf{y} | \theta) = \int p(\mathbf{x} | \theta) p(\mathbf{y} | \mathbf{x}, \theta)"
    r" d\mathbf{x} = \mathcal{N}(0, \Lambda \Lambda^\top + \Psi)",
    within=1e-7,
)
def factor_density(rng: Generator) -> Sides:
    """The density of factor analysis, by Gauss-Hermite quadrature over one or two factors."""
    K, D = int(rng.integers(1, 3)), int(rng.integers(2, 5))
    Lambda, Psi = rng.normal(size=(D, K)) * 0.7, np.diag(rng.uniform(0.8, 2, D))
    y = rng.normal(size=D) * 1.5
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    x = np.stack(np.meshgrid(*[nodes] * K), axis=-1).reshape(-1, K)
    p_x = np.stack(np.meshgrid(*[weights / np.sqrt(2 * np.pi)] * K), axis=-1).reshape(-1, K)
    given = norm.logpdf(y, x @ Lambda.T, np.sqrt(np.diag(Psi))).sum(1)
    S = Lambda @ Lambda.T + Psi
    exponent = -y @ np.linalg.solve(S, y) / 2
    log_p = exponent - np.linalg.slogdet(S)[1] / 2 - D / 2 * np.log(2 * np.pi)
    return Sides(truth=np.log(p_x.prod(1) @ np.exp(given)), printed=log_p)
