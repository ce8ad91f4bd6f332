"""Study `evidence_maximisation`: invalid settings, and the quantities of each method."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.regression.evidence_maximisation import EvidenceMaximisation

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("knobs", "words"),
    [
        ({"noise": 0.0}, "allowed: > 0"),
        ({"precisions": "each", "methods": ["variational"]}, "direct, em"),
    ],
)
def test_refused(knobs: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        EvidenceMaximisation(**knobs)


def test_all_ways_meet_when_the_noise_is_known(run: Run) -> None:
    knobs: dict[str, Any] = {"known_noise": True, "repetitions": 3, "functions": 4, "width": 0.2}
    names = ["direct", "em", "variational", "variational_noise"]
    found = run(EvidenceMaximisation(methods=names, iterations=3000, **knobs))
    alpha = found["alpha"].values
    np.testing.assert_allclose(alpha[1:3], alpha[[0, 0]], rtol=1e-3)
    np.testing.assert_allclose(found["searched_beta"].values, 1 / 0.09)
    assert "first_alpha" not in found
    assert found["drawn_prediction_sd"].values == pytest.approx(
        found["prediction_sd"].values[1], rel=0.1
    )


def test_kernels_are_pruned(run: Run) -> None:
    knobs: dict[str, Any] = {"precisions": "each", "basis": "kernels", "n": 12, "width": 0.2}
    found = run(EvidenceMaximisation(methods=["direct"], repetitions=3, iterations=300, **knobs))
    assert found["relevance"].values.shape == (1, 3, 13)
    assert (found["relevance"].values == 0).any(-1).all()
