"""Study `mixture_evidence`: invalid settings, and the requested quantities."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.clustering.mixture_evidence import MixtureEvidence

Run = Callable[..., Outcome]
SMALL: dict[str, Any] = {"variables": 3, "sizes": [4], "sets": 3, "restarts": 3}


@pytest.mark.parametrize(
    ("knobs", "words"),
    [
        ({"k": [3], "sizes": [10]}, "59049 assignments"),
        ({"k": [2], "models": True}, "two numbers or more"),
    ],
)
def test_refused(knobs: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        MixtureEvidence(**knobs)


def test_bounds_are_below_what_they_bound(run: Run) -> None:
    found = run(MixtureEvidence(**SMALL, k=[1, 2], random_q=5, models=True))
    evidence = found["log_evidence"].values
    assert (found["bound"].values <= evidence + 1e-9).all()
    np.testing.assert_allclose(found["exact_bound"].values, evidence)
    assert (found["random_bound"].values < evidence[0, 0, :, 1, None]).all()
    assert found["solution_shift"].values.max() < 1e-4
    assert found["searched_model_probability"].values.sum(-1) == pytest.approx(np.ones(3))


def test_annealed_runs_that_cost_no_more(run: Run) -> None:
    found = run(MixtureEvidence(**SMALL, k=[2], temperatures=[2, 8]))
    assert found["annealed"].values.shape == (2, 1, 3)
    assert found["annealed_evaluations"].values.tolist() == [[16], [64]]
    same = found["annealed_at_cost"].values
    assert (same == found["annealed"].values).any(0).all()
