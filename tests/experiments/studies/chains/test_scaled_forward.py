"""Where messages vanish against the log evidence; the printed formula by hand."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from experiments.contract.errors import BadInput
from experiments.contract.outcome import differences
from experiments.studies.chains.scaled_forward import ScaledForward, _prefixes
from models.chains.casino import casino

Run = Callable[..., Any]


def test_scaling_saves_what_underflows(run: Run) -> None:
    outcome = run(ScaledForward(dimensions=[5], length=500, sequences=30, enumerated=6))
    for name in ("evidence", "filtered", "pair", "printed_sum", "log_evidence"):
        assert np.all(outcome[f"{name}_gap"].values < 1e-12)
    assert np.isfinite(outcome["underflow"].values).all()
    assert not outcome["not_finite"].values.any()
    for name in ("dice", "gaussian_5"):
        # The step at which the log evidence passes the smallest double, to a step or two.
        nats = outcome["first_log_evidence"].at(emission=name).values
        passed = int(np.argmax(nats < math.log(5e-324)))
        assert abs(outcome["underflow"].at(emission=name, sequence=0).item - passed) <= 3
    short = run(ScaledForward(dimensions=[], length=100, sequences=5))
    assert np.all(short["underflow"].values == math.inf)


def test_the_printed_pairwise_formula_is_off_by_the_square_of_the_scale() -> None:
    """Two rolls of the casino, both six: c_2 = p(six, six) / p(six)."""
    six = np.array([1 / 6, 0.5])
    first = 0.5 * six.sum()
    both = 0.5 * (six * (np.array([[0.95, 0.05], [0.10, 0.90]]) @ six)).sum()
    model = casino()
    found = _prefixes(model.pi, model.A, np.log(np.tile(six, (1, 2, 1))))
    assert found["printed_sum"] == pytest.approx((both / first) ** 2, rel=1e-12)
    assert found["pair_gap"] < 1e-15


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [({"enumerated": 12}, "study.enumerated=12"), ({"dimensions": [0]}, "study.dimensions")],
)
def test_knobs_have_rules(knobs: dict[str, Any], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        ScaledForward(**knobs)


def test_dice_alone_may_be_enumerated_further() -> None:
    ScaledForward(dimensions=[], enumerated=16)


def test_runs_repeat(run: Run) -> None:
    study = ScaledForward(dimensions=[2], length=60, sequences=3)
    assert not differences(run(study), run(study))
