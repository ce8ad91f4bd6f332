"""Study `variational_clusters`: invalid settings, and well-separated clusters."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.clustering.variational_clusters import VariationalClusters

Run = Callable[..., Outcome]
PLAIN: dict[str, Any] = {
    "data": None,
    "centres": [[-5.0, 0.0], [5.0, 0.0]],
    "n_each": 20,
    "restarts": 6,
    "iterations": 60,
}


@pytest.mark.parametrize(
    ("knobs", "words"),
    [
        ({"nu0": 1.0}, "allowed: > 1"),
        ({"k": [2], "copies": [3]}, "some of study.k"),
        ({"alpha0": [0.0], "splits": 2}, "need a Dirichlet"),
        ({"k": [21]}, "at most half"),
    ],
)
def test_refused(knobs: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        VariationalClusters(**{**PLAIN, **knobs})


def test_two_plain_clusters_are_left(run: Run) -> None:
    found = run(VariationalClusters(**PLAIN, k=[4], shown=[0, 5], splits=1))
    taken = found["points_taken"].values[0, 0]
    np.testing.assert_allclose(taken.sum(-1), 40)
    best = found["bound"].values[0, 0].argmax()
    assert np.sort(taken[best])[-2:] == pytest.approx([20, 20], abs=0.01)
    assert found["history"].values[-1] == pytest.approx(found["bound"].values.max())
    assert found["held_out"].values.shape == (2, 1, 1)


def test_copies_and_checks(run: Run) -> None:
    found = run(VariationalClusters(**PLAIN, k=[2], alpha0=[1.0], checks=2, copies=[2]))
    assert found["copies_gain"].values[0, 0] == pytest.approx(found["log_copies"].values[0])
    assert found["half_step_bound"].values.shape == (6, 4)
    assert set(found["slope"].coord("block")) >= {"mixing", "responsibilities"}


def test_coefficients_as_parameters_have_no_factor_to_check(run: Run) -> None:
    found = run(VariationalClusters(**PLAIN, k=[3], alpha0=[0.0], checks=2))
    assert "drawn_term" not in found
    assert found["searched_gap"].values.max() < 1e-3
