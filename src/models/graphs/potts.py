r"""Potts models on lattices: samples and regions of equal labels (MLAPP 19.4.3).

    p(y) = 1/Z exp(J sum_{s~t} [y_s = y_t]),  y_s = 0, ..., K - 1                      MLAPP 19.22

With two labels this is the Ising model of coupling J / 2. Lattices end at their borders.
"""

import numpy as np
from numpy.random import Generator

from bythebook.models.graphs import potts_kernels
from bythebook.models.types import AnyArray, Floats, Ints

SAMPLERS = ("gibbs", "clusters")


def sweep(labels: Ints, states: int, J: float, sampler: str, sweeps: int, rng: Generator) -> None:
    """Apply sweeps to lattices (chain, row, column), in place."""
    if sampler == "gibbs":
        more = np.expm1(J * np.arange(5.0))
        potts_kernels.gibbs_sweeps(labels, states, more, sweeps, rng)
    else:
        bond = float(-np.expm1(-J))  # a link of equal labels is closed with this probability
        potts_kernels.cluster_sweeps(labels, states, bond, sweeps, rng)


def sweep_spins(spins: AnyArray, J: float, sweeps: int, rng: Generator) -> None:
    """Gibbs sampling of spins -1 and 1 with p(y) ~ exp(J sum y_s y_t) (19.17), in place."""
    up = 1 / (1 + np.exp(-2 * J * np.arange(-4.0, 5.0)))  # Exercise 19.5
    potts_kernels.spin_sweeps(spins, up, sweeps, rng)


def region_sizes(labels: Ints) -> Ints:
    """The size of the region of equal labels around each site of (chain, row, column)."""
    sizes = np.empty_like(labels)
    potts_kernels.region_sizes(labels, sizes, np.random.default_rng(0))
    return sizes


def equal_share(labels: Ints) -> Floats:
    """The share of links between equal labels, of lattices in the last two axes."""
    down = labels[..., 1:, :] == labels[..., :-1, :]
    across = labels[..., 1:] == labels[..., :-1]
    links = np.prod(down.shape[-2:]) + np.prod(across.shape[-2:])
    return np.asarray((down.sum((-1, -2)) + across.sum((-1, -2))) / links)
