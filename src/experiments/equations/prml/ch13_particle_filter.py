"""Equations of PRML 13.3.4, particle filters."""

import numpy as np
from numpy.random import Generator
from scipy.stats import norm

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.state_space.line_systems import line_system
from bythebook.models.state_space.particle_filter import bootstrap_filter


@equation(
    "13.118",
    section="13.3.4",
    latex=r"w_n^{(l)} = \frac{p(\mathbf{x}_n|\mathbf{z}_n^{(l)})}"
    r"{\sum_{m=1}^L p(\mathbf{x}_n|\mathbf{z}_n^{(m)})}",
)
def particle_weights(rng: Generator) -> Sides:
    """The weight of a particle is its share of the likelihood."""
    a, q, r = rng.uniform([0.3, 0.2, 0.2], [0.95, 2, 2])
    line, L = line_system("linear", a, q, r), int(rng.integers(5, 40))
    _, y = line.simulate(4, rng, 1)
    found = bootstrap_filter(line.state_space(y), 4, L, rng, size=(1,), threshold=1.0)
    likelihood = norm(found.z[0, :, 0], np.sqrt(r)).pdf(y[0, -1, 0])
    return Sides(truth=found.W[0], printed=likelihood / likelihood.sum())


@equation(
    "13.119",
    section="13.3.4",
    latex=r"p(\mathbf{z}_{n+1}|\mathbf{X}_n) \simeq"
    r" \sum_l w_n^{(l)} p(\mathbf{z}_{n+1}|\mathbf{z}_n^{(l)})",
)
def mixture_of_particles(rng: Generator) -> Sides:
    """The particles predict a mixture of the transitions from each of them."""
    a, q, r = rng.uniform([0.3, 0.2, 0.2], [0.95, 2, 2])
    line, L = line_system("linear", a, q, r), int(rng.integers(3, 20))
    z, w = rng.normal(size=L), rng.dirichlet(np.ones(L))
    points = rng.normal(scale=2, size=7)
    printed = [
        sum(weight * norm(a * state, np.sqrt(q)).pdf(x) for weight, state in zip(w, z, strict=True))
        for x in points
    ]
    return Sides(truth=line.predicted(1, z[:, None], w, points), printed=np.array(printed))
