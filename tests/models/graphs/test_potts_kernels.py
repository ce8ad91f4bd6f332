"""The kernels in Python against the compiled ones."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bythebook.models.graphs import potts_kernels as kernels


def test_gibbs_sweeps_draw_the_same_compiled_or_not() -> None:
    start = np.random.default_rng(1).integers(3, size=(2, 3, 4))
    more = np.expm1(0.7 * np.arange(5.0))
    one, other = start.copy(), start.copy()
    kernels.gibbs_sweeps(one, 3, more, 2, np.random.default_rng(2))
    kernels.gibbs_sweeps.plain(other, 3, more, 2, np.random.default_rng(2))
    assert_array_equal(one, other)


def test_spin_sweeps_draw_the_same_compiled_or_not() -> None:
    start = np.random.default_rng(1).choice(np.array([-1, 1], dtype=np.int8), (2, 3, 4))
    up = np.linspace(0.1, 0.9, 9)
    one, other = start.copy(), start.copy()
    kernels.spin_sweeps(one, up, 2, np.random.default_rng(2))
    kernels.spin_sweeps.plain(other, up, 2, np.random.default_rng(2))
    assert_array_equal(one, other)


class _Certain:
    """A stand-in for probabilities: every spin turns up, and visits are counted."""

    visits = 0

    def __getitem__(self, field: int) -> float:
        self.visits += 1
        return 1.0


@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (4, 1), (3, 4), (5, 5)])
def test_a_sweep_of_spins_visits_every_site_once(shape: tuple[int, int]) -> None:
    """As many visits as sites, and none left out."""
    spins, up = np.full((1, *shape), -1, dtype=np.int8), _Certain()
    kernels.spin_sweeps.plain(spins, up, 1, np.random.default_rng(5))
    assert up.visits == spins.size
    assert (spins == 1).all()


def test_without_closed_links_every_site_is_drawn_alone() -> None:
    labels = np.zeros((1, 40, 40), dtype=np.int64)
    kernels.cluster_sweeps(labels, 4, 0.0, 1, np.random.default_rng(3))
    share = np.bincount(labels.ravel(), minlength=4) / 1600
    assert np.abs(share - 0.25).max() < 0.05


def test_with_all_links_closed_regions_keep_together() -> None:
    labels = np.repeat(np.arange(4), 4).reshape(1, 4, 4)
    kernels.cluster_sweeps(labels, 100, 1.0 - 1e-15, 1, np.random.default_rng(4))
    assert all(len(set(row)) == 1 for row in labels[0].tolist())
