"""Kinds of start by name."""

import numpy as np
import pytest

from models.clustering.starts import CENTRES, MIXTURES, centres, mixtures
from models.types import Floats

R, K = 40, 3


@pytest.fixture(name="X")
def make_points() -> Floats:
    return np.random.default_rng(0).normal(size=(30, 2))


@pytest.mark.parametrize("kind", CENTRES)
def test_centres_are_where_their_kind_says(kind: str, X: Floats) -> None:
    box = np.array([4.0, 4.0]), np.array([6.0, 8.0])
    found = centres(kind, X, K, box, np.random.default_rng(1), R)
    assert found.shape == (R, K, 2)
    if kind in ("points", "plus_plus"):
        assert (found[..., None, :] == X).all(-1).any(-1).all()
        return
    assert ((found >= box[0]) & (found <= box[1])).all()
    # A tenth of each side, in a corner: together in every variable.
    together = (np.ptp(found, axis=1) <= (box[1] - box[0]) / 10).all(-1)
    assert together.all() == (kind == "corner")


@pytest.mark.parametrize("kind", MIXTURES)
def test_every_mixture_is_one(kind: str, X: Floats) -> None:
    theta = mixtures(kind, X, K, (X.min(0), X.max(0)), np.random.default_rng(1), R)
    assert theta.mu.shape == (R, K, 2)
    np.testing.assert_allclose(theta.pi.sum(axis=1), 1)
    assert (np.linalg.eigvalsh(theta.Sigma) > 0).all()
    assert (np.ptp(theta.mu, axis=1).max() < 1e-12) == (kind == "identical")
