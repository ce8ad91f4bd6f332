"""Chains against tables of all configurations, written with one letter a node."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.models.graphs.chain import (
    all_configurations,
    backward,
    clamped,
    forward,
    marginals,
    neighbours,
)

PSI = np.random.default_rng(1).uniform(0.2, 2, (3, 3, 2, 2))  # three chains of four nodes
JOINT = np.einsum("iab,ibc,icd->iabcd", PSI[:, 0], PSI[:, 1], PSI[:, 2])


def test_messages_are_sums_over_one_side() -> None:
    assert_allclose(forward(PSI)[:, 2], np.einsum("iab,ibc->ic", PSI[:, 0], PSI[:, 1]))
    assert_allclose(backward(PSI)[:, 1], np.einsum("ibc,icd->ib", PSI[:, 1], PSI[:, 2]))
    assert_allclose(forward(PSI)[:, 0], 1)
    assert_allclose(backward(PSI)[:, 3], 1)


def test_marginals_of_nodes_and_of_neighbours() -> None:
    Z = JOINT.sum((1, 2, 3, 4))
    assert_allclose(marginals(PSI)[:, 1], JOINT.sum((1, 3, 4)) / Z[:, None])
    assert_allclose(neighbours(PSI)[:, 2], JOINT.sum((1, 2)) / Z[:, None, None])
    assert_allclose(all_configurations(PSI[1]), JOINT[1])


@pytest.mark.parametrize("node", [0, 2, 3])
def test_a_clamped_node_has_one_state(node: int) -> None:
    at = JOINT.take(1, node + 1).sum((1, 2, 3))
    found = forward(clamped(PSI, node, 1))[:, -1].sum(-1)
    assert_allclose(found, at)
