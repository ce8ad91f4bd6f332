"""Dynamics against closed forms, and errors that the checks must notice."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import kstest

from bythebook.models.sampling.dynamics import (
    ENERGIES,
    Energy,
    cells,
    distance,
    flow,
    hamiltonian,
    steps,
    wander,
)

SPRING = Energy(lambda z: (z**2).sum(-1) / 2, lambda z: -z)
STATE = (np.array([[0.7, -0.3], [1.1, 0.4]]), np.array([[0.2, 0.5], [-0.6, 0.1]]))


def test_a_spring_turns() -> None:
    z, r = flow(SPRING, STATE, 1.3)
    assert_allclose(z, STATE[0] * np.cos(1.3) + STATE[1] * np.sin(1.3), atol=1e-9)
    assert_allclose(r, STATE[1] * np.cos(1.3) - STATE[0] * np.sin(1.3), atol=1e-9)
    assert_allclose(hamiltonian(SPRING, (z, r)), hamiltonian(SPRING, STATE))


@pytest.mark.parametrize("name", ENERGIES)
def test_fine_steps_follow_the_flow(name: str) -> None:
    energy = ENERGIES[name]
    fine = steps(energy, STATE, 0.001, 1400)
    assert distance(fine, flow(energy, STATE, 1.4)).max() < 1e-4


def test_cells_follow_the_density() -> None:
    energy, rng = ENERGIES["wells"], np.random.default_rng(0)
    found = cells(energy)

    x = np.linspace(-3, 3, 1201)
    p = np.exp(-energy.of(np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1))).sum(1)
    assert_allclose(found.cdf(np.array(0.6)), p[x <= 0.6].sum() / p.sum(), atol=3e-3)
    z = found.draw(3000, rng)
    assert kstest(z[:, 0], found.cdf).pvalue > 0.001
    assert (z[:, 0] * z[:, 1]).mean() < 0  # the coupling


def test_a_full_turn_leads_nowhere() -> None:
    rng = np.random.default_rng(0)
    assert wander(20, 10, 0.0, rng).max() < 1e-12
    assert wander(20, 10, 0.1, rng).min() > 0.1
