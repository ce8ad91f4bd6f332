"""Sweeps over lattices of labels, compiled: one site after another, or cluster by cluster.

Each changes an array of lattices (chain, row, column) in place and draws from NumPy's generator.
Neighbours are those above, below, left and right; a lattice ends at its borders.
"""

import numpy as np
from numpy.random import Generator

from bythebook.models.compiled import compiled
from bythebook.models.types import AnyArray, Floats, Ints


@compiled
def gibbs_sweeps(labels: Ints, states: int, more: Floats, sweeps: int, rng: Generator) -> None:
    """Redraw each site from p(k | neighbours) ~ 1 + more[n_k], with n_k neighbours of label k.

    more[n] = exp(J n) - 1. A label that no neighbour has gets weight one: first a label is drawn
    uniformly, and only the remaining probability goes to the labels of neighbours.
    """
    chains, rows, columns = labels.shape
    around, count = np.empty(4, np.int64), np.empty(4, np.int64)
    for c in range(chains):
        y = labels[c]
        for _ in range(sweeps):
            for i in range(rows):
                for j in range(columns):
                    kinds = 0
                    for side in range(4):
                        a = i + (side == 0) - (side == 1)
                        b = j + (side == 2) - (side == 3)
                        if a < 0 or b < 0 or a == rows or b == columns:
                            continue
                        at = 0
                        while at < kinds and around[at] != y[a, b]:
                            at += 1
                        if at == kinds:
                            around[kinds] = y[a, b]
                            count[kinds] = 0
                            kinds += 1
                        count[at] += 1
                    total = float(states)
                    for k in range(kinds):
                        total += more[count[k]]
                    left = rng.random() * total
                    if left < states:
                        y[i, j] = int(left)
                        continue
                    left -= states
                    k = 0
                    while k < kinds - 1 and left >= more[count[k]]:
                        left -= more[count[k]]
                        k += 1
                    y[i, j] = around[k]


HALF = 2.0**26


@compiled
def spin_sweeps(spins: AnyArray, up: Floats, sweeps: int, rng: Generator) -> None:
    """Spins -1 and 1, in small integers: each is 1 with probability up[4 + sum of neighbours].

    The two colours of a chequerboard are updated one after the other: no spin waits for the one
    before it. Each random number gives two spins, its first 26 bits the one and those after them
    the other, so that probabilities are right to one part in sixty million.
    """
    chains, rows, columns = spins.shape
    for c in range(chains):
        for turn in range(2 * sweeps):
            for i in range(rows):
                here = spins[c, i]
                above, below = spins[c, i - 1], spins[c, (i + 1) % rows]  # any, at a border
                top, bottom = int(i > 0), int(i < rows - 1)
                rest = 0.0
                fresh = True
                for j in range((i + turn) % 2, columns, 2):
                    field = top * above[j] + bottom * below[j] + 4
                    if j > 0:
                        field += here[j - 1]
                    if j < columns - 1:
                        field += here[j + 1]
                    if fresh:
                        rest = rng.random() * HALF
                        first = np.floor(rest)
                        rest -= first
                        drawn = first / HALF
                    else:
                        drawn = rest
                    fresh = not fresh
                    here[j] = 2 * int(drawn < up[field]) - 1


@compiled
def _root(parent: Ints, site: int) -> int:
    """The representative site of a cluster; paths are halved on the way."""
    while parent[site] != site:
        parent[site] = parent[parent[site]]
        site = parent[site]
    return site


@compiled
def _merge(y: Ints, bond: float, parent: Ints, rng: Generator) -> None:
    """Clusters of equal neighbours whose link is closed, each with probability `bond`."""
    rows, columns = y.shape
    for site in range(rows * columns):
        parent[site] = site
    for i in range(rows):
        for j in range(columns):
            for side in range(2):
                a, b = i + (side == 0), j + (side == 1)
                if a == rows or b == columns or y[a, b] != y[i, j]:
                    continue
                if bond < 1.0 and rng.random() >= bond:
                    continue
                one, other = _root(parent, i * columns + j), _root(parent, a * columns + b)
                parent[max(one, other)] = min(one, other)


@compiled
def cluster_sweeps(labels: Ints, states: int, bond: float, sweeps: int, rng: Generator) -> None:
    """Swendsen and Wang: links of equal neighbours are closed by chance, clusters are redrawn."""
    chains, rows, columns = labels.shape
    parent = np.empty(rows * columns, np.int64)
    for c in range(chains):
        y = labels[c]
        for _ in range(sweeps):
            _merge(y, bond, parent, rng)
            for site in range(rows * columns):
                i, j = site // columns, site % columns
                root = _root(parent, site)  # the first of its cluster, so it has its label already
                if root == site:
                    y[i, j] = int(rng.random() * states)
                else:
                    y[i, j] = y[root // columns, root % columns]


@compiled
def region_sizes(labels: Ints, sizes: Ints, rng: Generator) -> None:
    """Write at each site how many sites its region of equal labels has; nothing is drawn."""
    chains, rows, columns = labels.shape
    parent = np.empty(rows * columns, np.int64)
    members = np.empty(rows * columns, np.int64)
    for c in range(chains):
        _merge(labels[c], 1.0, parent, rng)
        members[:] = 0
        for site in range(rows * columns):
            members[_root(parent, site)] += 1
        for site in range(rows * columns):
            sizes[c, site // columns, site % columns] = members[_root(parent, site)]
