"""The study of a family of lines."""

import pytest
from numpy.testing import assert_allclose

from experiments.contract.errors import BadInput
from experiments.contract.study import generator
from experiments.studies.regression.line_family import LineFamily


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [({"low": 5.0}, "low < high"), ({"gradients": [1.0]}, "1 entries; allowed: 3")],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        LineFamily(**knobs)  # type: ignore[arg-type]


def test_lines_by_hand() -> None:
    study = LineFamily(intercepts=[1.0, -2.0], gradients=[0.5, 3.0], low=0.0, high=2.0)
    outcome = study.run(generator(study.name, 0))
    assert_allclose(outcome.arrays["t"], [[1, 2], [-2, 4]])
    assert all(outcome.metrics.values())
    (ax,) = study.draw(outcome)["lines"].axes
    assert len(ax.lines) == 2
