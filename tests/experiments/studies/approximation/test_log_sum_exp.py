"""Study `log_sum_exp`: settings and results."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.approximation.log_sum_exp import LogSumExp

Run = Callable[..., Outcome]


def test_a_label_that_is_not_there() -> None:
    with pytest.raises(InputError, match="below 3"):
        LogSumExp(chosen=3)


def test_slacks(run: Run) -> None:
    found = run(LogSumExp([1.0, 3.0], 0, draws=40))
    assert_allclose(found["log_sum"].values, np.log(np.exp(1) + np.exp(3)))
    assert found["slack"].values.min() > 0
    printed, right = found["objective_slack"].values
    assert_allclose(right - printed, 5 * np.log(4))
    assert right.min() > 0
    assert found["chord_slack"].values[1].min() > 0


def test_energy_of_the_prior(run: Run) -> None:
    printed, corrected = run(LogSumExp(draws=40))["prior_gap"].values
    assert np.abs(printed).min() > 1e-6
    assert_allclose(corrected, 0, atol=1e-12)


def test_shown_problems_by_a_loop(run: Run) -> None:
    found = run(LogSumExp(draws=5))
    score, loss = found["score"].values, found["log_loss"].values
    for k in range(5):
        total = found["half_square"].values[k]
        for s, extra in zip(score[k], loss[k], strict=True):
            total += np.log(sum(np.exp(s + extra)) / sum(np.exp(s)))
        assert_allclose(found["shown_objective"].values[0, k], total)
