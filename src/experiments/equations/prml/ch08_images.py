"""Equations of PRML 8.3.3, restoration of binary images, against all images of a few pixels."""

from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.graphs.lattice import energy, least_cut
from bythebook.models.types import Floats, Ints


class _Case(NamedTuple):
    """A noisy image, coefficients, and all images of its shape."""

    y: Ints
    beta: float
    eta: float
    h: float
    images: Ints


def _case(rng: Generator, pixels: int = 12) -> _Case:
    rows = int(rng.choice([2, 3]))
    shape = (rows, pixels // rows)
    images = np.array(list(product((-1, 1), repeat=pixels))).reshape(-1, *shape)
    beta, eta = rng.uniform(0.3, 2, 2)
    y = rng.choice(np.array([-1, 1]), shape)
    return _Case(y, float(beta), float(eta), rng.uniform(0.1, 1), images)


def _energy(x: Ints, y: Ints, beta: float, eta: float, h: float) -> float:
    """(8.42) as printed, pair by pair."""
    rows, columns = x.shape
    pairs = 0
    for i, j in product(range(rows), range(columns)):
        pairs += x[i, j] * (x[i + 1, j] if i + 1 < rows else 0)
        pairs += x[i, j] * (x[i, j + 1] if j + 1 < columns else 0)
    return float(h * x.sum() - beta * pairs - eta * (x * y).sum())


@equation(
    "8.42",
    section="8.3.3",
    latex=r"E(\mathbf{x}, \mathbf{y}) = h \sum_i x_i - \beta \sum_{\{i,j\}} x_i x_j"
    r" - \eta \sum_i x_i y_i",
)
def denoising_energy(rng: Generator) -> Sides:
    """The energy of an image and its noisy image.

    The model sums products of shifted images.
    """
    case = _case(rng)
    x = rng.choice(case.images)
    return Sides(
        truth=energy(x, case.y, case.beta, case.eta, case.h),
        printed=_energy(x, case.y, case.beta, case.eta, case.h),
    )


@equation(
    "exercise 8.13",
    section="8.3.3",
    latex=r"E(x_j = 1) - E(x_j = -1) = 2 h - 2 \beta \sum_{i \in \text{ne}(j)} x_i - 2 \eta y_j",
)
def local_energy_difference(rng: Generator) -> Sides:
    """The energy difference of the two states of a pixel depends on its surroundings alone."""
    y, beta, eta, h, images = _case(rng)
    x = rng.choice(images)
    i, j = (int(rng.integers(side)) for side in x.shape)
    up, down = x.copy(), x.copy()
    up[i, j], down[i, j] = 1, -1
    near = [(i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)]
    around = sum(x[k] for k in near if 0 <= k[0] < x.shape[0] and 0 <= k[1] < x.shape[1])
    return Sides(
        truth=energy(up, y, beta, eta, h) - energy(down, y, beta, eta, h),
        printed=2 * h - 2 * beta * around - 2 * eta * y[i, j],
    )


@equation(
    "exercise 8.14",
    section="8.3.3",
    latex=r"\beta = h = 0: \quad \operatorname{argmax}_{\mathbf{x}} p(\mathbf{x}|\mathbf{y})"
    r" = \mathbf{y}",
)
def noisy_image_without_links(rng: Generator) -> Sides:
    """Without links and bias, the most probable image is the noisy one."""
    case = _case(rng)
    best = case.images[energy(case.images, case.y, 0.0, case.eta, 0.0).argmin()]
    return Sides(truth=best, printed=case.y)


@equation(
    "section 8.3.3, h = 0",
    section="8.3.3",
    latex=r"h = 0: \quad p(x_i = 1) = p(x_i = -1)",
)
def equal_prior_states(rng: Generator) -> Sides:
    """Without bias, the two states of a pixel have equal prior probabilities.

    The sum is over all images and all noisy images of six pixels.
    """
    case = _case(rng, pixels=6)
    x, y = np.broadcast_arrays(case.images[:, None], case.images[None])
    p: Floats = np.exp(-energy(x, y, case.beta, case.eta, 0.0)).sum(1)
    i = np.unravel_index(rng.integers(6), case.y.shape)
    on = case.images[:, i[0], i[1]] == 1
    return Sides(truth=p[on].sum() / p.sum(), printed=p[~on].sum() / p.sum())


@equation(
    "section 8.3.3, graph cuts",
    section="8.3.3",
    latex=r"E(\mathbf{x}_{\text{cut}}, \mathbf{y}) = \min_{\mathbf{x}} E(\mathbf{x}, \mathbf{y})",
    within=1e-5,
)
def graph_cut_is_the_minimum(rng: Generator) -> Sides:
    """A graph cut has the lowest energy of all images.

    The capacities of the cut are rounded to a millionth.
    """
    y, beta, eta, h, images = _case(rng)
    cut = least_cut(y, beta, eta, h)
    return Sides(truth=energy(images, y, beta, eta, h).min(), printed=_energy(cut, y, beta, eta, h))
