"""Study `mixture_evidence`: invalid settings, and the requested quantities."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.clustering.mixture_evidence import MixtureEvidence

Run = Callable[..., Outcome]
SMALL: dict[str, Any] = {"variables": 3, "n": [4], "repetitions": 3, "restarts": 3}


@pytest.mark.parametrize(
    ("knobs", "words"),
    [
        ({"k": [3], "n": [10]}, "59049 assignments"),
    ],
)
def test_refused(knobs: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        MixtureEvidence(**knobs)


def test_bounds_are_below_what_they_bound(run: Run) -> None:
    found = run(MixtureEvidence(**SMALL, k=[1, 2]))
    evidence, bound = found["log_evidence"].values, found["bound"].values
    assert (bound <= evidence + 1e-9).all()
    np.testing.assert_allclose(bound[..., 0], evidence[..., 0])
    assert (found["max_log_likelihood"].values > evidence[0]).all()
    penalty = found["max_log_likelihood"].values - found["bic"].values
    np.testing.assert_allclose(penalty[..., 1], 7 / 2 * np.log(4))


def test_annealed_runs_that_cost_no_more(run: Run) -> None:
    found = run(MixtureEvidence(**SMALL, k=[2], temperatures=[2, 8]))
    runs, same = found["ais_log_evidence"].values, found["ais_at_cost"].values
    assert runs.shape == (2, 1, 3)
    affordable = found["vb_evaluations"].values >= 8 * 4 * 2  # else the shortest run counts
    np.testing.assert_array_equal(same, np.where(affordable, runs[1], runs[0]))
