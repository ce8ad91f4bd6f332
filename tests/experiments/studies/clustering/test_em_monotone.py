"""EM for six models: no fall, and every model with a stream of its own."""

import numpy as np
import pytest

from experiments.contract.errors import BadInput
from experiments.contract.study import generator
from experiments.studies import em_monotone
from experiments.studies.clustering.em_monotone import MODELS, EmMonotone


def test_unknown_models_are_refused() -> None:
    with pytest.raises(BadInput, match=r"study\.models"):
        EmMonotone(models=["oracle"])


def test_no_model_ever_falls() -> None:
    study = EmMonotone(restarts=3, iterations=15)
    outcome = study.run(generator(study.name, 0))
    for name in MODELS:
        L = outcome.arrays[name]
        assert L.shape[0] == 3
        assert np.nanmin(np.diff(L)) >= -1e-9 * np.nanmax(np.abs(L))
        assert outcome.metrics[f"{name}_never_falls"] is True
        assert outcome.metrics[f"{name}_final"] == np.nanmax(L)
    assert outcome.metrics["never_falls"] is True
    assert list(study.draw(outcome)) == ["climb"]


def test_a_model_does_not_depend_on_its_company() -> None:
    alone = EmMonotone(models=["ppca"], restarts=2, iterations=5)
    both = EmMonotone(models=["mixture", "ppca"], restarts=2, iterations=5)
    curves = [study.run(generator("em_monotone", 0)).arrays["ppca"] for study in (alone, both)]
    np.testing.assert_array_equal(*curves)


def test_a_fall_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    falling = np.array([[-5.0, -4.0, -4.1], [-5.0, -4.0, np.nan]])
    monkeypatch.setitem(em_monotone.MODELS, "ppca", ("a model that falls", lambda *_: falling))
    study = EmMonotone(models=["ppca"])
    found = study.run(generator("em_monotone", 0)).metrics
    assert found["ppca_never_falls"] is False
    assert found["never_falls"] is False
    assert found["ppca_smallest_relative_gain"] == pytest.approx(-0.1 / 5)
