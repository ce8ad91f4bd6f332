"""Fixtures for the tests of linear systems."""

import numpy as np
import pytest

from bythebook.models.state_space.kalman import LDS


@pytest.fixture(scope="session")
def theta() -> LDS:
    """Two states, three outputs, and no symmetric matrix except covariances."""
    return LDS(
        A=np.array([[0.9, 0.3], [-0.2, 0.8]]),
        Gamma=np.array([[0.3, 0.1], [0.1, 0.2]]),
        C=np.array([[1.0, 0.0], [0.5, -1.0], [0.0, 2.0]]),
        Sigma=np.array([[1.0, 0.3, 0.0], [0.3, 2.0, 0.1], [0.0, 0.1, 1.5]]),
        mu0=np.array([1.0, -1.0]),
        V0=np.array([[1.0, -0.2], [-0.2, 0.5]]),
    )
