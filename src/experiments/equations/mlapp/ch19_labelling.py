"""Equations of MLAPP 19.4.3 and 19.6.2.7, labels of pixels."""

from itertools import product

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.graphs import stereo
from bythebook.models.graphs.labelling import potts_cost, quadratic_cost
from bythebook.models.graphs.pairwise import Field, exact, grid


@equation(
    "19.23",
    section="19.4.3",
    latex=r"p(\mathbf{y}, \mathbf{x}|\theta) = \left[ \frac{1}{Z(J)}"
    r" \prod_{s \sim t} \psi(y_s, y_t; J) \right] \prod_t p(x_t|y_t, \theta)",
)
def absorbed_observations(rng: Generator) -> Sides:
    """The posterior of the labels is that of an undirected model with local evidence.

    The printed side sums the joint density of labels and Gaussian pixels over all labellings; the
    truth is the model's field.
    """
    K, rows, columns = int(rng.integers(2, 4)), 2, int(rng.integers(2, 4))
    links, N, J = grid(rows, columns), rows * columns, rng.uniform(0.2, 1.5)
    means, sd = np.sort(rng.normal(0, 2, K)), rng.uniform(0.5, 1.5)
    x = rng.normal(rng.choice(means, N), sd)
    density = np.exp(-((x[:, None] - means) ** 2) / (2 * sd**2)) / np.sqrt(2 * np.pi * sd**2)
    labellings = np.array(list(product(range(K), repeat=N)))
    equal = (labellings[:, links[:, 0]] == labellings[:, links[:, 1]]).sum(1)
    prior = np.exp(J * equal) / np.exp(J * equal).sum()
    joint = prior * density[np.arange(N), labellings].prod(1)
    printed = np.array([[joint[labellings[:, t] == k].sum() for k in range(K)] for t in range(N)])
    tables = np.exp(-np.array([potts_cost(K, J)] * len(links)))
    return Sides(truth=exact(Field(density[None], links, tables))[0], printed=printed / joint.sum())


@equation(
    "19.68",
    section="19.6.2.7",
    latex=r"\psi_s(y_s|\mathbf{x}) \propto \exp \left\{ -\frac{1}{2 \sigma^2}"
    r" (x_L(i_s, j_s) - x_R(i_s + y_s, j_s))^2 \right\}",
)
def disparity_potential(rng: Generator) -> Sides:
    """The local potential of a disparity, which the model computes for all pixels at once."""
    labels, sigma = int(rng.integers(6, 12)), rng.uniform(0.2, 2)
    pair = stereo.drawn_pair(8, int(rng.integers(8, 12)), labels, rng.uniform(0.1, 0.5), rng)
    i, j, y = int(rng.integers(8)), int(rng.integers(8)), int(rng.integers(labels))
    off = pair.left[i, j] - pair.right[i, j + y]
    return Sides(
        truth=np.exp(-stereo.matching_cost(pair, labels, sigma)[y, i, j]),
        printed=np.exp(-1 / (2 * sigma**2) * off**2),
    )


@equation(
    "19.69, 19.70",
    section="19.6.2.7",
    latex=r"\psi_{st}(y_s, y_t) \propto \exp \left( -\frac{1}{2 \gamma^2} (y_s - y_t)^2 \right),"
    r" \quad \psi_{st}(y_s, y_t) \propto \exp \left\{ -\frac{1}{2 \gamma^2}"
    r" \min((y_s - y_t)^2, \delta_0^2) \right\}",
)
def disparity_links(rng: Generator) -> Sides:
    """The potentials of neighbouring disparities, Gaussian and truncated."""
    labels, gamma, delta = int(rng.integers(4, 9)), rng.uniform(0.5, 2), rng.uniform(1.2, 3)
    s, t = rng.choice(labels, 2, replace=False)
    costs = [quadratic_cost(labels, 1 / (2 * gamma**2), bound) for bound in (np.inf, delta)]
    return Sides(
        truth=[np.exp(-cost[s, t]) for cost in costs],
        printed=[
            np.exp(-1 / (2 * gamma**2) * (s - t) ** 2),
            np.exp(-1 / (2 * gamma**2) * min((s - t) ** 2, delta**2)),
        ],
    )


@equation(
    "19.69, note 9",
    section="19.6.2.7",
    latex=r"f(a, b) = (a - b)^2: \quad \text{reflexive, symmetric,} \quad"
    r" f(a, b) + f(b, c) \geq f(a, c)",
    corrected=r"f(a, b) = (a - b)^2: \quad \text{reflexive and symmetric only}",
    cause="squares-as-a-metric",
)
def squares_form_a_metric(rng: Generator) -> Sides:
    """The three properties of a metric: 1 if all triples of some labels have it, else 0."""
    labels = np.arange(int(rng.integers(3, 9)))
    f = quadratic_cost(len(labels), rng.uniform(0.2, 3))
    reflexive = np.array_equal(f == 0, labels[:, None] == labels)
    triangle = all(
        f[a, b] + f[b, c] >= f[a, c] for a, b, c in product(range(len(labels)), repeat=3)
    )
    return Sides(
        truth=[int(reflexive), int(np.array_equal(f, f.T)), int(triangle)],
        printed=[1, 1, 1],
        corrected=[1, 1, 0],
    )
