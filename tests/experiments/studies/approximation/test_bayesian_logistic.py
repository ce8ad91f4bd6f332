"""Study `bayesian_logistic`: settings and results."""

from collections.abc import Callable

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.approximation.bayesian_logistic import BayesianLogistic

Run = Callable[..., Outcome]


def test_two_weights() -> None:
    with pytest.raises(InputError, match="a bias and a slope"):
        BayesianLogistic(weights=[1.0])


def test_methods(run: Run) -> None:
    found = run(BayesianLogistic([15], repetitions=2))
    off = found["total_variation"].values[0]
    assert (off[0] == 0).all()
    assert (off[1:] > 0).all()
    assert (off[3] < off[1]).all()
    evidence = found["log_evidence"].values[0]
    assert (evidence[2] < evidence[0]).all()
    assert np.abs(evidence[3] - evidence[0]).max() < 0.05
    assert (found["mean_error"].values[0, 0] == 0).all()
    assert found["predicted"].dims == ("predictor", "points", "repetition", "input")
    assert (found["em_iterations"].values > 1).all()
