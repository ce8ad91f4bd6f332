"""Study `field_learning`: many cases bring both estimators to the truth."""

from collections.abc import Callable

import numpy as np

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.field_learning import FieldLearning

Run = Callable[..., Outcome]


def test_many_cases_lead_to_the_truth(run: Run) -> None:
    found = run(
        FieldLearning(rows=2, columns=2, cases=1_000_000, draws=2, gaussian_graphs=["complete"])
    )
    likelihood, pseudo = found["estimate"].values
    assert np.abs(likelihood - pseudo).max() < 0.03
    assert found["divergence"].values.max() < 1e-4
    assert np.abs(found["separate_gap"].values).max() < 0.03
    assert found["gaussian_gap"].values.max() < 1e-5


def test_few_cases_leave_them_apart(run: Run) -> None:
    found = run(FieldLearning(rows=2, columns=2, cases=60, draws=2, gaussian_graphs=["ring"]))
    likelihood, pseudo = found["estimate"].values
    assert np.abs(likelihood - pseudo).max() > 1e-3
    assert found["gaussian_gap"].values.max() > 1e-3
