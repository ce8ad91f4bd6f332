"""EM for six models: no fall, and every model with a stream of its own."""

import numpy as np
import pytest

from experiments.contract.errors import BadInput
from experiments.studies.clustering.em_monotone import EmMonotone
from models.em_examples import EXAMPLES


def test_unknown_models_are_refused():
    with pytest.raises(BadInput, match=r"study\.models"):
        EmMonotone(models=["oracle"])


def test_no_model_ever_falls(run):
    L = run(EmMonotone(restarts=3, iterations=15))["log_likelihood"]
    assert L.values.shape == (len(EXAMPLES), 3, 16)
    for name in EXAMPLES:
        climbs = L.at(model=name).values
        assert np.diff(climbs).min() >= -1e-9 * np.abs(climbs).max()
        assert (climbs[:, -1] > climbs[:, 0]).all()


def test_a_model_does_not_depend_on_its_company(run):
    alone = run(EmMonotone(models=["ppca"], restarts=2, iterations=5))
    both = run(EmMonotone(models=["mixture", "ppca"], restarts=2, iterations=5))
    curves = [outcome["log_likelihood"].at(model="ppca") for outcome in (alone, both)]
    np.testing.assert_array_equal(*curves)


def test_a_fall_is_seen_and_an_end_is_held(run, monkeypatch):
    falling = np.array([[-5.0, -4.0, -4.1], [-5.0, -4.0, np.nan]])
    monkeypatch.setitem(EXAMPLES, "ppca", lambda *_: falling)
    outcome = run(EmMonotone(models=["ppca"], restarts=2))
    np.testing.assert_array_equal(
        outcome["log_likelihood"].values[0], [[-5, -4, -4.1], [-5, -4, -4]]
    )
    np.testing.assert_array_equal(outcome["iterations"].values, [[2, 1]])
