"""The bound by iterating the book's equations with plain matrices, one data set at a time."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import gammaln, psi

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import generator
from experiments.drawing.canvas import style
from experiments.studies.regression.variational_order import VariationalOrder
from models.types import Floats

BETA = 1 / 0.09
STUDY = VariationalOrder(n=8, low=-2, high=2, orders=[1, 3, 5], repetitions=4)


def run(study: VariationalOrder) -> Outcome:
    return study.run(generator(study.name, 0))


def plain_bound(Phi: Floats, t: Floats) -> float:
    """(10.94)-(10.112) for a_0 = b_0 = 0, the prior's missing constant left out."""
    N, D = Phi.shape
    a = b = D / 2
    for _ in range(400):
        S = np.linalg.inv(a / b * np.eye(D) + BETA * Phi.T @ Phi)
        m = BETA * S @ Phi.T @ t
        b = (m @ m + np.trace(S)) / 2
    S = np.linalg.inv(a / b * np.eye(D) + BETA * Phi.T @ Phi)
    m = BETA * S @ Phi.T @ t
    ww = np.outer(m, m) + S
    log_alpha = psi(a) - np.log(b)
    return float(
        N / 2 * np.log(BETA / (2 * np.pi))
        - BETA / 2 * (t @ t - 2 * m @ Phi.T @ t + np.trace(Phi.T @ Phi @ ww))
        + D / 2 * (log_alpha - np.log(2 * np.pi))
        - a / (2 * b) * np.trace(ww)
        - log_alpha
        + np.linalg.slogdet(S)[1] / 2
        + D / 2 * (1 + np.log(2 * np.pi))
        + gammaln(a)
        - (a - 1) * psi(a)
        - np.log(b)
        + a
    )


def test_bounds_and_choices_are_those_of_a_plain_loop() -> None:
    outcome = run(STUDY)
    x, t = STUDY.sample(generator(STUDY.name, 0), 4)
    bounds = np.array(
        [
            [plain_bound(x[r][:, None] ** np.arange(k + 1), t[r]) for k in (1, 3, 5)]
            for r in range(4)
        ]
    )
    assert_allclose(outcome.tables["orders"]["bound"], np.median(bounds, axis=0), rtol=1e-6)
    chosen = np.array([1, 3, 5])[bounds.argmax(axis=-1)]
    assert outcome.arrays["chosen_order"].tolist() == chosen.tolist()


def test_statements_about_the_bound() -> None:
    found = run(STUDY).metrics
    assert found["bound_never_falls"] is True
    assert found["bound_below_evidence"] is True
    assert found["printed_bound_below_evidence"] is False
    assert 0 < found["largest_gap"] < 2


def test_as_many_weights_as_points_leave_no_residual() -> None:
    found = run(VariationalOrder(repetitions=5)).metrics
    assert found["residual_highest_order"] < 1e-9
    assert found["residual_never_rises"] is True


def test_the_figure_is_drawn() -> None:
    with style("screen"):
        assert list(STUDY.draw(run(STUDY))) == ["bound"]


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"a0": 1.0}, "both zero, or neither"),
        ({"orders": [10]}, "10 points; allowed: orders < 10"),
        ({"noise": 0.0}, "study.noise"),
        ({"proper": 0.0}, "study.proper"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        VariationalOrder(**knobs)  # type: ignore[arg-type]
