"""Study `proportional_fitting`: invalid settings, a table by hand, graphs that take one sweep."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.proportional_fitting import ProportionalFitting

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("knobs", "words"),
    [
        ({"draws": 0}, "nothing to fit"),
        ({"table": [[1.0, 2.0], [3.0]]}, "rows differ"),
        ({"graphs": ["ABCDEFGH"]}, "7 variables"),
    ],
)
def test_what_is_refused(knobs: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        ProportionalFitting(**knobs)  # type: ignore[arg-type]


def test_a_table_of_three_columns(run: Run) -> None:
    found = run(ProportionalFitting(table=[[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]], draws=0))
    assert_allclose(found["fitted"].values, np.full((2, 3), 2.0))
    assert_allclose(found["row_factor"].values, [0.5, 0.5])
    assert_allclose(found["column_factor"].values, [4.0, 4.0, 4.0])
    assert "margin_gap" not in found


def test_one_sweep_or_more(run: Run) -> None:
    found = run(ProportionalFitting(graphs=["AB BC", "AB BC CA"], draws=2, sweeps=80))
    assert found["decomposable"].values.tolist() == [True, False]
    assert found["sweeps_needed"].sel(graph="AB BC").values.tolist() == [1, 1]
    assert found["sweeps_needed"].sel(graph="AB BC CA").values.min() > 1
    assert (found["scaling_passes"].values > found["gradient_passes"].values).all()
