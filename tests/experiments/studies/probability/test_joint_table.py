"""The study of two discrete variables against a simulation, and its rules."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import generator
from experiments.studies.probability.joint_table import JointTable


def run(study: JointTable) -> Outcome:
    return study.run(generator(study.name, 0))


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"prior": [0.5, 0.6]}, "2 probabilities that sum to one"),
        ({"prior": [1.0]}, "2 probabilities"),
        ({"conditional": [[1.0, 0.0]]}, "1 rows; allowed: 2"),
        ({"conditional": [[1.0, 0.0], [0.3, 0.3]]}, "not a row of 2 probabilities"),
        ({"conditional": [[1.0, 0.0], [1.3, -0.3]]}, "not a row of 2 probabilities"),
        ({"x": ["a", "a"]}, "repeats an entry"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        JointTable(**knobs)  # type: ignore[arg-type]


def test_shares_of_many_simulated_pairs() -> None:
    study = JointTable(
        x=["a", "b"],
        y=["1", "2", "3"],
        prior=[0.3, 0.7],
        conditional=[[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]],
        unit=10,
    )
    found = run(study).metrics
    rng = np.random.default_rng(1)
    x = (rng.uniform(size=200_000) > 0.3).astype(int)
    y = (rng.uniform(size=x.size)[:, None] > np.cumsum(study.conditional, axis=1)[x]).sum(1)
    share = np.mean((x == 0) & (y == 1))
    assert_allclose(found["joint_a_2"], share, atol=0.005)
    assert_allclose(found["joint_a_2_one_in"], 1 / share, rtol=0.03)
    assert_allclose(found["marginal_1_in_units"], 10 * np.mean(y == 0), atol=0.05)
    assert_allclose(found["x_b_given_y_1"], np.mean(x[y == 0]), atol=0.01)
    assert found["independent"] is False
    assert "rows_are_complements" not in found  # a question about two by two


def test_independence_and_complements() -> None:
    found = run(JointTable(conditional=[[0.4, 0.6], [0.4, 0.6]])).metrics
    assert found["independent"] is True
    assert found["rows_are_complements"] is False
    assert run(JointTable(conditional=[[1.0, 0.0], [0.0, 1.0]])).metrics["rows_are_complements"]


def test_bars_are_stacked_to_the_marginals() -> None:
    study = JointTable()
    joint, reverse = study.draw(run(study))["tables"].axes[:2]
    tops = [bar.get_y() + bar.get_height() for bar in joint.patches[2:]]
    assert_allclose(tops, [0.6, 0.4])
    assert_allclose([bar.get_y() + bar.get_height() for bar in reverse.patches[2:]], [1, 1])
