"""Collected and distributed beliefs against every configuration."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.models.graphs.collection import between, collect, distribute, hung
from bythebook.models.graphs.pairwise import Field, exact

RNG = np.random.default_rng(1)
LINKS = np.array([(1, 0), (1, 2), (3, 1), (3, 4)])
FIELD = Field(RNG.uniform(0.2, 2, (5, 3)), LINKS, RNG.uniform(0.2, 2, (4, 3, 3)))


@pytest.mark.parametrize("dividing", [True, False])
@pytest.mark.parametrize("root", [0, 1, 4])
def test_every_belief_is_the_marginal(root: int, dividing: bool) -> None:
    order = hung(FIELD, root)
    up = collect(FIELD, order)
    down = distribute(FIELD, order, up, dividing=dividing)
    assert_allclose(down.belief, exact(FIELD), rtol=1e-12)
    assert_allclose(up.belief[root], exact(FIELD)[root], rtol=1e-12)


def test_normalisers_multiply_to_the_sum_over_all_configurations() -> None:
    psi, t = FIELD.nodes, FIELD.tables
    total = np.einsum("a,b,c,d,e,ba,bc,db,de->", *psi, *t)
    assert_allclose(collect(FIELD, hung(FIELD, 2)).normaliser.prod(), total)


def test_a_downward_message_is_the_sum_over_the_rest() -> None:
    order = hung(FIELD, 1)
    down = distribute(FIELD, order, collect(FIELD, order), dividing=False)
    psi, t = FIELD.nodes, FIELD.tables
    right = np.einsum("a,b,c,ba,bc,db->d", *psi[:3], t[0], t[1], t[2])
    assert_allclose(down.message[3], right / right.sum())


def test_the_tree_hangs_on_its_root() -> None:
    assert hung(FIELD, 4) == [(4, -1), (3, 4), (1, 3), (0, 1), (2, 1)]
    assert_allclose(between(FIELD, 0, 1), FIELD.tables[0].T)
    with pytest.raises(KeyError):
        between(FIELD, 0, 4)
