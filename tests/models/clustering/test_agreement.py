"""Agreement of clusterings, up to the names of the clusters."""

import numpy as np
import pytest

from models.clustering.agreement import agreement, renamings


def test_agreement_is_up_to_names() -> None:
    a = np.array([0, 0, 1, 1, 2, 2])
    assert agreement(a, np.array([2, 2, 0, 0, 1, 1]), 3) == 1.0
    assert agreement(a, np.array([2, 2, 0, 0, 1, 0]), 3) == pytest.approx(5 / 6)


def test_renamings_are_all_orders() -> None:
    assert sorted(map(tuple, renamings(3))) == sorted({tuple(order) for order in renamings(3)})
    assert renamings(3).shape == (6, 3)
    assert renamings(7).shape == (720, 7)
