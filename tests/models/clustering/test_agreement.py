"""Agreement of clusterings, up to the names of the clusters."""

import numpy as np
import pytest

from models.clustering.agreement import agreement


def test_agreement_is_up_to_names() -> None:
    a = np.array([0, 0, 1, 1, 2, 2])
    assert agreement(a, np.array([2, 2, 0, 0, 1, 1]), 3) == 1.0
    assert agreement(a, np.array([2, 2, 0, 0, 1, 0]), 3) == pytest.approx(5 / 6)
