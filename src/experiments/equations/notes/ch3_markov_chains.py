"""Equations of section 3.4.2 of the notes, Metropolis-Hastings."""

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.chains import transition_kernels as made


@equation(
    "3.51, 3.52",
    section="3.4.2",
    latex=r"\alpha(\mathbf{z}, \mathbf{z}') = \min \left( 1,"
    r" \frac{p(\mathbf{z}') q(\mathbf{z}|\mathbf{z}')}{p(\mathbf{z}) q(\mathbf{z}'|\mathbf{z})}"
    r" \right), \quad p(\mathbf{z}) q(\mathbf{z}'|\mathbf{z}) \alpha(\mathbf{z}, \mathbf{z}') ="
    r" \min(p(\mathbf{z}) q(\mathbf{z}'|\mathbf{z}), p(\mathbf{z}') q(\mathbf{z}|\mathbf{z}'))",
)
def accepted_flows(rng: Generator) -> Sides:
    """With Metropolis and Hastings' acceptance detailed balance holds, with the smaller flow."""
    K = int(rng.integers(2, 6))
    p, q = rng.dirichlet(np.ones(K)), rng.dirichlet(np.ones(K), K)
    T = made.with_rejections(q, made.hastings_acceptance(p, q))
    flow = p[:, None] * T
    np.fill_diagonal(flow, 0)
    smaller = np.zeros((K, K))
    for i, j in np.ndindex(K, K):
        if i != j:
            smaller[i, j] = min(p[i] * q[i, j], p[j] * q[j, i])
    return Sides(truth=(flow, flow.T), printed=(smaller, smaller))
