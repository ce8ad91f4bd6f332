"""Paths and states of random chains against all paths."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import diff_outcomes
from bythebook.experiments.core.random_streams import make_rng
from bythebook.experiments.studies.chains.hmm_paths import HmmPaths

Run = Callable[..., Any]


def test_paths_and_states_are_those_of_all_paths(run: Run) -> None:
    study = HmmPaths(length=4, forbidden=1, sequences=60)
    outcome = run(study)
    chains = study._chains(4, 60, make_rng(0))
    wrong = np.zeros(2)
    for n, (pi, A, lik, drawn) in enumerate(zip(*chains, strict=True)):
        joint, marginal = {}, np.zeros((4, 3))
        for z in itertools.product(range(3), repeat=4):
            weight = pi[z[0]] * math.prod(A[i, j] for i, j in itertools.pairwise(z))
            joint[z] = weight * math.prod(lik[t, k] for t, k in enumerate(z))
            for t, k in enumerate(z):
                marginal[t, k] += joint[z]
        best, modes = max(joint, key=lambda z: joint[z]), tuple(marginal.argmax(1).tolist())
        path, states = outcome["log_joint"].sel(n=n).values
        assert np.exp(path) == pytest.approx(joint[best], rel=1e-12)
        assert np.exp(states) == pytest.approx(joint[modes], rel=1e-12)
        wrong += [np.sum(np.array(best) != drawn), np.sum(np.array(modes) != drawn)]
    np.testing.assert_allclose(outcome["error_rate"].values, wrong / 240, rtol=1e-12)


def test_the_sequence_shown_is_an_impossible_one(run: Run) -> None:
    outcome = run(HmmPaths(length=4, forbidden=1, sequences=300))
    assert outcome["transition"].values[1:].min() == 0
    marginal = outcome["marginal"].values
    np.testing.assert_allclose(marginal.sum(1), np.ones(4), rtol=1e-12)
    np.testing.assert_array_equal(outcome["modes"].values, marginal.argmax(1) + 1)
    free = run(HmmPaths(length=4, sequences=50))
    assert np.isfinite(free["log_joint"].values).all()


def test_runs_repeat_and_rules_hold(run: Run) -> None:
    study = HmmPaths(sequences=30, forbidden=1, long=60)
    assert not diff_outcomes(run(study), run(study))
    with pytest.raises(InputError, match=r"below study\.states=3"):
        HmmPaths(forbidden=3)
