"""Equations of the notes, 3.2.1: the marginal of a node of a chain."""

from itertools import pairwise

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.equations import Sides, equation


@equation(
    "3.3 to 3.7",
    section="3.2.1",
    latex=r"p(x_n) = \frac{1}{Z} \mu_\alpha(x_n) \mu_\beta(x_n), \quad"
    r" \mu_\alpha(x_n) = \sum_{x_{n-1}} \psi_{n-1,n}(x_{n-1}, x_n) \mu_\alpha(x_{n-1}), \quad"
    r" \mu_\alpha(x_2) = \sum_{x_1} \psi_{1,2}(x_1, x_2)",
)
def chain_marginal(rng: Generator) -> Sides:
    """The marginal of the third of five nodes, against the sum over all configurations."""
    states = rng.integers(2, 5, 5)
    psi12, psi23, psi34, psi45 = (rng.uniform(0.1, 2, shape) for shape in pairwise(states))
    joint = np.einsum("ab,bc,cd,de->abcde", psi12, psi23, psi34, psi45)
    alpha = (psi23 * psi12.sum(0)[:, None]).sum(0)  # 3.7, 3.6
    beta = (psi34 * psi45.sum(1)).sum(1)
    Z = (alpha * beta).sum()
    return Sides(truth=joint.sum((0, 1, 3, 4)) / joint.sum(), printed=alpha * beta / Z)
