r"""Binary images with links between neighbouring pixels (PRML 8.3.3).

    E(x, y) = h sum_i x_i - beta sum_{i,j} x_i x_j - eta sum_i x_i y_i                    PRML 8.42

Pixels are -1 or 1, neighbours are those above, below, left and right. The minimum of
the energy is a minimum cut, found as a maximum flow: the cut has the links between pixels that
differ, and each pixel's link to the source (1) or to the sink (-1).
"""

from collections.abc import Iterator

import numpy as np
from numpy.random import Generator
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from bythebook.models.types import Floats, Ints

SCALE = 1_000_000  # the flow needs integers


def energy(x: Ints, y: Ints, beta: float, eta: float, h: float = 0.0) -> Floats:
    """(8.42), of images in the last two axes."""
    along = (x[..., 1:, :] * x[..., :-1, :]).sum((-1, -2))
    across = (x[..., 1:] * x[..., :-1]).sum((-1, -2))
    return np.asarray(h * x.sum((-1, -2)) - beta * (along + across) - eta * (x * y).sum((-1, -2)))


def neighbours(x: Ints) -> Ints:
    """The sum of the pixels around each."""
    total = np.zeros_like(x)
    total[..., 1:, :] += x[..., :-1, :]
    total[..., :-1, :] += x[..., 1:, :]
    total[..., 1:] += x[..., :-1]
    total[..., :-1] += x[..., 1:]
    return total


def conditional_modes(y: Ints, beta: float, eta: float, h: float = 0.0) -> Iterator[Ints]:
    """Iterated conditional modes from x = y: the image, then after each half of a sweep.

    Pixels of one colour of a chequerboard have no links, so half of them change at the same time.
    The iteration ends after a whole sweep without a change.
    """
    x = y.copy()
    white = np.indices(y.shape[-2:]).sum(0) % 2 == 0
    still = 0
    yield x
    while still < 2:
        for colour in (white, ~white):
            pull = beta * neighbours(x) + eta * y - h  # half of E(x_j = -1) - E(x_j = 1)
            new = np.where(colour & (pull != 0), np.where(pull > 0, 1, -1), x)
            still = still + 1 if np.array_equal(new, x) else 0
            x = new
            yield x


def least_cut(y: Ints, beta: float, eta: float, h: float = 0.0) -> Ints:
    """The image of minimum energy, for a single y."""
    rows, columns = y.shape
    number = np.arange(y.size).reshape(rows, columns)
    source, sink = y.size, y.size + 1
    pairs = np.concatenate(
        [
            np.column_stack([number[:, :-1].ravel(), number[:, 1:].ravel()]),
            np.column_stack([number[:-1].ravel(), number[1:].ravel()]),
        ]
    )
    pull = np.rint(SCALE * 2 * (eta * y - h)).astype(np.int64).ravel()  # towards 1
    link = np.full(len(pairs), round(SCALE * 2 * beta))
    up, down = np.flatnonzero(pull > 0), np.flatnonzero(pull < 0)
    start = np.concatenate([pairs[:, 0], pairs[:, 1], np.full(len(up), source), down])
    end = np.concatenate([pairs[:, 1], pairs[:, 0], up, np.full(len(down), sink)])
    room = np.concatenate([link, link, pull[up], -pull[down]]).astype(np.int32)
    graph = coo_array((room, (start, end)), (y.size + 2, y.size + 2)).tocsr()
    left = graph - maximum_flow(graph, source, sink).flow
    left.eliminate_zeros()
    reached = breadth_first_order(left, source, return_predecessors=False)
    x = np.full(y.size, -1)
    x[reached[reached < y.size]] = 1
    return x.reshape(y.shape)


def shapes(size: int, rng: Generator, count: int = 6) -> Ints:
    """A binary image of some discs, bars and rings, in no order."""
    row, column = np.indices((size, size)) / size
    image = np.full((size, size), -1)
    for kind in rng.integers(3, size=count):
        y, x, r = *rng.uniform(0.15, 0.85, 2), rng.uniform(0.08, 0.22)
        far = np.hypot(row - y, column - x)
        slope = rng.uniform(0, np.pi)
        off = np.abs((row - y) * np.cos(slope) + (column - x) * np.sin(slope))
        inside = [far < r, (off < 0.05) & (far < 2 * r), (far < r) & (far > 0.6 * r)][kind]
        image[inside] = 1
    return image
