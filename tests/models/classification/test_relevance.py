"""Relevance vectors: a mode with no slope, and weights that go where they are not needed."""

import numpy as np
import pytest
from scipy.special import expit

from bythebook.models.classification import relevance
from bythebook.models.convergence import NotConverged


def test_the_mode_has_no_slope_and_its_curvature() -> None:
    rng = np.random.default_rng(0)
    Phi, alpha = rng.standard_normal((40, 3)), np.array([0.5, 1.0, 2.0])
    t = (rng.random(40) < expit(Phi @ [1.0, -2.0, 0.0])).astype(float)
    w, S = relevance.mode(Phi, t, alpha, np.zeros(3))

    def height(v: np.ndarray) -> float:
        a = Phi @ v
        return float(t @ a - np.logaddexp(0, a).sum() - alpha @ v**2 / 2)

    h, eye = 1e-4, np.eye(3)
    slope = [(height(w + h * e) - height(w - h * e)) / (2 * h) for e in eye]
    assert np.abs(slope).max() < 1e-6
    bend = [
        [
            (height(w + h * (a + b)) - height(w + h * (a - b)))
            - (height(w - h * (a - b)) - height(w - h * (a + b)))
            for a in eye
        ]
        for b in eye
    ]
    np.testing.assert_allclose(-np.linalg.inv(np.array(bend) / (4 * h**2)), S, rtol=1e-3, atol=1e-5)


def test_functions_that_tell_nothing_are_removed() -> None:
    rng = np.random.default_rng(1)
    x = rng.standard_normal(200)
    Phi = np.column_stack([x, rng.standard_normal((200, 8))])
    t = (rng.random(200) < expit(3 * x)).astype(float)
    machine = relevance.fit(Phi, t)
    assert 0 in machine.kept
    gamma = 1 - machine.alpha * np.diagonal(machine.covariance)
    np.testing.assert_allclose(machine.alpha * machine.w**2, gamma, rtol=2e-3)
    assert len(machine.kept) <= 5
    assert 1 < machine.w[machine.kept == 0][0] < 6


def test_re_estimation_that_has_not_ended_is_reported() -> None:
    Phi = np.random.default_rng(3).standard_normal((40, 4))
    with pytest.warns(NotConverged, match="limit of 1 iterations"):
        relevance.fit(Phi, (Phi[:, 0] > 0.3).astype(float), max_iter=1)


def test_labels_without_a_rule_leave_little() -> None:
    rng = np.random.default_rng(2)
    machine = relevance.fit(rng.standard_normal((60, 4)), (rng.random(60) < 0.5).astype(float))
    assert 1 <= len(machine.kept) <= 4
