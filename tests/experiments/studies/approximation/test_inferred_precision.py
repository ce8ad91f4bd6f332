"""Study `inferred_precision`: settings and results."""

from collections.abc import Callable

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.approximation.inferred_precision import InferredPrecision

Run = Callable[..., Outcome]


def test_two_numbers() -> None:
    with pytest.raises(InputError, match="two numbers"):
        InferredPrecision(weights=[1.0])


def test_formulas(run: Run) -> None:
    found = run(InferredPrecision(points=8, sets=2, hyperprior=[2.0, 0.5]))
    for name in ("mean_ratio", "square_gap"):
        off = np.abs(found[name].values - (name == "mean_ratio"))
        assert off[1].max() < 0.02
        assert off[0].max() > 0.02
    wrong, right = found["form_spread"].values.max(-1)
    assert right < 1e-9 < wrong
    assert found["shape_gap"].values.max() < 1e-3
    assert (found["bound"].values <= found["log_evidence"].values[:, None]).all()
    assert found["free_slack"].values.min() > 0
