"""The study of the normal equations: a broken identity must be seen; weights by np.polyfit."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import generator
from experiments.studies import normal_equations
from experiments.studies.regression.normal_equations import NormalEquations
from models.datasets import load


def run(study: NormalEquations) -> Outcome:
    return study.run(generator(study.name, 0))


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


def test_weights_against_polyfit() -> None:
    found = run(NormalEquations(data="olympics-100m-men", favoured=4, favour=9.0)).metrics
    x, t = load("olympics-100m-men").xt
    plain = np.polyfit(x, t, 1)[::-1]
    alpha = np.where(np.arange(27) < 4, 9.0, 1.0)
    weighted = np.polyfit(x, t, 1, w=np.sqrt(alpha))[::-1]
    assert_allclose([found["w_0"], found["w_1"]], plain, rtol=1e-6)
    assert_allclose([found["weighted_w_0"], found["weighted_w_1"]], weighted, rtol=1e-7)
    assert "scaled_pseudo_inverse_0_0" not in found  # 27 columns are not written out by hand
    false = {name for name, value in found.items() if value is False}
    assert false == {"gradient_of_any_form_is_2cw"}


def test_a_wrong_solution_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    true = normal_equations.least_squares

    def wrong(*arrays: object) -> object:
        fit = true(*arrays)  # type: ignore[arg-type]
        return fit._replace(w=fit.w * 1.01)

    monkeypatch.setattr(normal_equations, "least_squares", wrong)
    found = run(NormalEquations()).metrics
    assert found["gradient_vanishes"] is False
    assert found["same_weights_as_qr"] is False


def test_without_favour_one_line_is_drawn() -> None:
    for favour, lines in ((1.0, 2), (50.0, 4)):
        study = NormalEquations(favour=favour)
        (ax,) = study.draw(run(study))["lines"].axes
        assert len(ax.lines) == lines
