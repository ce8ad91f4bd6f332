"""Study `evidence_maximisation`: invalid settings, and the quantities of each method."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.registry import figures
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
    np.testing.assert_allclose(
        found["prediction"].values[1], found["prediction"].values[-1], atol=1e-3
    )
    x, t = found["inputs"].values, found["targets"].values
    phi = lambda u: np.column_stack(  # noqa: E731
        [np.ones(len(u)), np.exp(-((u[:, None] - np.linspace(0, 1, 4)) ** 2) / 0.08)]
    )
    a = found["searched_alpha"].values[0]
    S = np.linalg.inv(a * np.eye(5) + phi(x).T @ phi(x) / 0.09)
    at = phi(found["prediction"].coord("x"))
    np.testing.assert_allclose(found["prediction"].values[-1], at @ S @ phi(x).T @ t / 0.09)
    variance = 0.09 + np.einsum("gi,ij,gj->g", at, S, at)
    np.testing.assert_allclose(found["prediction_sd"].values[-1] ** 2, variance)


def test_kernels_are_pruned(run: Run) -> None:
    knobs: dict[str, Any] = {"precisions": "each", "basis": "kernels", "n": 12, "width": 0.2}
    found = run(EvidenceMaximisation(methods=["direct"], repetitions=3, iterations=300, **knobs))
    assert found["relevance"].values.shape == (1, 3, 13)
    assert (found["relevance"].values == 0).any(-1).all()


def test_each_figure_is_drawn(run: Run) -> None:
    shared, each = (
        EvidenceMaximisation(precisions=kind, n=12, repetitions=3, iterations=50)
        for kind in ("shared", "each")
    )
    assert list(figures(shared, run(shared))) == ["evidence", "prediction", "agreement"]
    assert list(figures(each, run(each))) == ["relevance"]
