"""Agreement of clusterings, up to the names of the clusters."""

import numpy as np
import pytest

from bythebook.models.clustering.agreement import agreement, fewest_parts


def test_agreement_is_up_to_names() -> None:
    a = np.array([0, 0, 1, 1, 2, 2])
    assert agreement(a, np.array([2, 2, 0, 0, 1, 1]), 3) == 1.0
    assert agreement(a, np.array([2, 2, 0, 0, 1, 0]), 3) == pytest.approx(5 / 6)


def test_fewest_parts_of_a_coarse_cluster() -> None:
    coarse = np.array([1, 1, 1, 3, 3, 3, 3])
    fine = np.array([[0, 1, 2, 3, 3, 4, 4], [0, 0, 0, 1, 2, 3, 4], [5, 6, 6, 5, 6, 7, 8]])
    assert fewest_parts(fine, coarse).tolist() == [2, 1, 2]
    # Of three coarse clusters no two are one.
    coarse, fine = np.array([0, 0, 0, 1, 1, 2, 2]), np.array([[0, 1, 2, 3, 4, 5, 5]])
    assert fewest_parts(fine, coarse).tolist() == [1]
