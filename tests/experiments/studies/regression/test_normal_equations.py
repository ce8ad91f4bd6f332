"""The study of the normal equations: a broken identity must be seen; weights by np.polyfit."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments.contract.errors import BadInput
from experiments.contract.outcome import Outcome
from experiments.drawing.registry import figures
from experiments.studies.regression import normal_equations
from experiments.studies.regression.normal_equations import NormalEquations
from models.datasets import load

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"favoured": 3}, "study.favoured=3; allowed: < 3"),
        ({"favour": 0.0}, "study.favour"),
        ({"data": "nowhere"}, "study.data=nowhere"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        NormalEquations(**knobs)  # type: ignore[arg-type]


def test_weights_against_polyfit(run: Run) -> None:
    found = run(NormalEquations(data="olympics-100m-men", favoured=4, favour=9.0))
    x, t = load("olympics-100m-men").xt
    plain = np.polyfit(x, t, 1)[::-1]
    alpha = np.where(np.arange(27) < 4, 9.0, 1.0)
    weighted = np.polyfit(x, t, 1, w=np.sqrt(alpha))[::-1]
    assert_allclose(found["w_by_matrices"], plain, rtol=1e-6)
    assert_allclose(found["w"], [plain, weighted], rtol=1e-7)
    errors = t - weighted[0] - weighted[1] * x
    assert_allclose(found["errors"].at(loss="weighted"), errors, atol=1e-9)
    losses = found["average_loss"]
    assert_allclose(losses.at(loss="weighted").item, np.mean(alpha * errors**2), rtol=1e-9)
    assert np.all(found["nearby_loss"].values > losses.values[:, None])


def test_the_matrices_of_three_points(run: Run) -> None:
    found = run(NormalEquations())
    X = np.column_stack([np.ones(3), [1, 3, 5]])
    assert_allclose(found["gram"], X.T @ X, rtol=1e-12)
    assert_allclose(found["determinant"].item, 24, rtol=1e-12)
    assert_allclose(found["inverse"], np.linalg.inv(X.T @ X), rtol=1e-12)
    assert_allclose(found["pseudo_inverse"], np.linalg.pinv(X), atol=1e-12)


def test_identities_hold_and_one_rule_does_not(run: Run) -> None:
    found = run(NormalEquations(data="olympics-100m-men"))
    assert found["identity_gap"].values.max() < 1e-12
    wrong = found["gradient_gap"].values > 1e-7
    assert found["gradient_gap"].along("rule")[wrong] == ["any form"]


def test_a_wrong_solution_is_seen(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    true = normal_equations.least_squares

    def wrong(*arrays: object) -> object:
        fit = true(*arrays)  # type: ignore[arg-type]
        return fit._replace(w=fit.w * 1.01)

    right = np.abs(run(NormalEquations())["gradient"].at(loss="plain")).max()
    monkeypatch.setattr(normal_equations, "least_squares", wrong)
    assert right < 1e-9 < np.abs(run(NormalEquations())["gradient"].at(loss="plain")).max()


def test_without_favour_one_line_is_drawn(run: Run) -> None:
    for favour, lines in ((1.0, 2), (50.0, 4)):
        study = NormalEquations(favour=favour)
        (ax,) = figures(study, run(study))["lines"].axes
        assert len(ax.lines) == lines
