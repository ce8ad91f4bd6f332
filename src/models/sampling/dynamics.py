r"""Hamiltonian dynamics of two variables, exactly and by leapfrog steps (PRML 11.5.1-2).

    H(z, r) = E(z) + |r|^2 / 2,   dz/dt = r,   dr/dt = -grad E                        PRML 11.53-59

    quartic   E = (z_1^4 + z_2^4) / 4
    coupled   E = z_1^2 / 2 + z_2^2 + z_1^2 z_2^2 / 2
    wells     E = (z_1^2 - 1)^2 + (z_2^2 - 1)^2 + z_1 z_2 / 4

All functions take batches of points (..., 2).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

from bythebook.models.sampling.kernels import leapfrog
from bythebook.models.types import Floats

Rng = np.random.Generator
State = tuple[Floats, Floats]  # positions and momenta


class Energy(NamedTuple):
    """A potential energy of two variables, and the force that it exerts."""

    of: Callable[[Floats], Floats]
    force: Callable[[Floats], Floats]


def _coupled_force(z: Floats) -> Floats:
    a, b = z[..., 0], z[..., 1]
    return np.stack([-a - a * b**2, -2 * b - a**2 * b], axis=-1)


def _coupled(z: Floats) -> Floats:
    a, b = z[..., 0] ** 2, z[..., 1] ** 2
    return np.asarray(a / 2 + b + a * b / 2)


def _wells(z: Floats) -> Floats:
    return np.asarray(((z**2 - 1) ** 2).sum(-1) + z[..., 0] * z[..., 1] / 4)


ENERGIES = {
    "quartic": Energy(lambda z: (z**4).sum(-1) / 4, lambda z: -(z**3)),
    "coupled": Energy(_coupled, _coupled_force),
    "wells": Energy(_wells, lambda z: -4 * z * (z**2 - 1) - z[..., ::-1] / 4),
}


def hamiltonian(energy: Energy, state: State) -> Floats:
    """The total energy of positions and momenta."""
    z, r = state
    return np.asarray(energy.of(z) + (r**2).sum(-1) / 2)


def flow(energy: Energy, state: State, duration: float) -> State:
    """Accurate solution of the equations of motion, for all points together."""
    shape = state[0].shape

    def velocity(_: float, y: Floats) -> Floats:
        z, r = y.reshape(2, *shape)
        return np.stack([r, energy.force(z)]).ravel()

    path = solve_ivp(
        velocity, (0, duration), np.stack(state).ravel(), method="DOP853", rtol=1e-11, atol=1e-12
    )
    z, r = path.y[:, -1].reshape(2, *shape)
    return z, r


def steps(energy: Energy, state: State, size: float, count: int) -> State:
    """Leapfrog steps; backwards in time for a negative size."""
    return leapfrog(energy.force, *state, size, count)


def distance(a: State, b: State) -> Floats:
    """Distance in phase space."""
    return np.asarray(np.sqrt(sum(((x - y) ** 2).sum(-1) for x, y in zip(a, b, strict=True))))


class Cells(NamedTuple):
    """A density of two variables on a grid, with draws and the first's distribution function."""

    edges: Floats  # (G + 1,)
    shares: Floats  # (G, G) of the cells

    def draw(self, count: int, rng: Rng) -> Floats:
        """Points (count, 2), uniform within their cells."""
        G = len(self.shares)
        cell = rng.choice(G * G, size=count, p=self.shares.ravel())
        corner = np.stack(np.divmod(cell, G), axis=-1)
        return np.asarray(
            self.edges[0] + (corner + rng.random((count, 2))) * np.diff(self.edges)[0]
        )

    def cdf(self, x: Floats) -> Floats:
        """Distribution function of the first variable."""
        below = np.concatenate([[0.0], np.cumsum(self.shares.sum(1))])
        return np.asarray(np.interp(x, self.edges, below))


def cells(energy: Energy, reach: float = 4.5, count: int = 240) -> Cells:
    """Cells of exp(-E), by its values at the centres."""
    edges = np.linspace(-reach, reach, count + 1)
    middle = (edges[1:] + edges[:-1]) / 2
    p = np.exp(-energy.of(np.stack(np.meshgrid(middle, middle, indexing="ij"), axis=-1)))
    return Cells(edges, p / p.sum())


def wander(chains: int, updates: int, jitter: float, rng: Rng) -> Floats:
    """Distance covered by six leapfrog steps of size one on a Gaussian, with new momenta each time.

    It is the largest distance from the start over the updates, of each chain; the size of the steps
    is drawn within a share of one. Six steps of size one are a full turn, for any momenta.
    """
    z = start = rng.standard_normal((chains, 1))
    farthest = np.zeros(chains)
    for _ in range(updates):
        size = rng.uniform(1 - jitter, 1 + jitter, (chains, 1))
        z, _ = leapfrog(lambda x: -x, z, rng.standard_normal((chains, 1)), size, 6)
        farthest = np.maximum(farthest, np.abs(z - start)[:, 0])
    return farthest
