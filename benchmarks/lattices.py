"""Lattices: Gibbs sweeps of an Ising model against NumPy, minimum cuts against PyMaxflow.

Both functions use their own random numbers, so the compared answer is a mean over the lattice: the
fraction of equal neighbours after the same number of sweeps from the same initial state. Our code
updates the spins row by row; NumPy updates half of a chequerboard at a time. Time divided by size
is the cost of one update.
"""

from typing import Any

import numpy as np

from benchmarks.case import Case, Contest
from bythebook.models.graphs.lattice import energy, least_cut, shapes
from bythebook.models.graphs.potts import equal_share, sweep_spins
from bythebook.models.types import AnyArray, Ints

J = 0.35  # below the critical coupling, so that few sweeps reach equilibrium
SWEEPS = 20


def _chequerboard(spins: AnyArray, sweeps: int, rng: np.random.Generator) -> AnyArray:
    """Sweeps in NumPy, one colour at a time: slices, a table of probabilities, a mask."""
    up = 1 / (1 + np.exp(-2 * J * np.arange(-4.0, 5.0)))
    white = np.indices(spins.shape).sum(0) % 2 == 0
    padded = np.pad(spins, 1)
    inner = padded[1:-1, 1:-1]
    for _ in range(sweeps):
        for colour in (white, ~white):
            field = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
            drawn = np.where(rng.random(spins.shape) < up[field + 4], 1, -1)
            np.copyto(inner, drawn, where=colour, casting="unsafe")
    return inner


def sweeps(updates: int) -> Contest:
    """`updates` spins in twenty sweeps of a square lattice."""
    side = round((updates / SWEEPS) ** 0.5)
    start = np.random.default_rng(0).choice(np.array([-1, 1], dtype=np.int8), (side, side))

    def ours() -> dict[str, Any]:
        spins = start[None].copy()
        sweep_spins(spins, J, SWEEPS, np.random.default_rng(1))
        return {"equal neighbours": equal_share(spins.astype(np.int64))[0]}

    def peer() -> dict[str, Any]:
        spins = _chequerboard(start, SWEEPS, np.random.default_rng(2))
        return {"equal neighbours": equal_share(spins.astype(np.int64))}

    why = "Two random streams: the share varies by some 0.002 at 512 x 512, by more on less."
    return Contest(ours, peer, tolerance=0.02, why=why)


def _cut_by_pymaxflow(y: Ints, beta: float, eta: float) -> Ints:
    import maxflow  # type: ignore[import-not-found,unused-ignore]

    graph = maxflow.Graph[float](y.size, 2 * y.size)
    nodes = graph.add_grid_nodes(y.shape)
    right = np.zeros((3, 3))
    right[1, 2] = 1
    for structure in (right, right.T):
        graph.add_grid_edges(nodes, weights=2 * beta, structure=structure, symmetric=True)
    pull = 2 * eta * y
    graph.add_grid_tedges(nodes, np.maximum(pull, 0), np.maximum(-pull, 0))
    graph.maxflow()
    return np.where(graph.get_grid_segments(nodes), -1, 1)


def cut(pixels: int) -> Contest:
    """PRML's image de-noising: a square image of shapes with 10 % of its pixels flipped."""
    side = round(pixels**0.5)
    rng = np.random.default_rng(3)
    clean = shapes(side, rng)
    y = np.where(rng.random(clean.shape) < 0.1, -clean, clean)
    beta, eta = 1.0, 2.1

    def ours() -> dict[str, Any]:
        return {"energy": energy(least_cut(y, beta, eta), y, beta, eta)}

    def peer() -> dict[str, Any]:
        return {"energy": energy(_cut_by_pymaxflow(y, beta, eta), y, beta, eta)}

    return Contest(ours, peer)


CASES = [
    Case(
        "Gibbs sweeps of an Ising model",
        "NumPy chequerboard",
        5,
        sweeps,
        size=SWEEPS * 512**2,
        unit="spin updates",
        package="numpy",
        sizes=tuple(SWEEPS * side**2 for side in (64, 128, 256, 512)),
    ),
    Case(
        "least cut of a noisy image",
        "PyMaxflow",
        0,
        cut,
        size=200**2,
        unit="pixels",
        package="maxflow",
        sizes=tuple(side**2 for side in (50, 100, 200, 400)),
        note="No goal: SciPy's maximum flow needs no package of its own.",
    ),
]
