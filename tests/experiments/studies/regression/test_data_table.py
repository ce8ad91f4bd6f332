"""The study of a printed table: it must see a wrong cell, and a missing row."""

import dataclasses

import numpy as np
import pytest

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import generator
from experiments.studies.regression.data_table import DataTable

TABLE = DataTable(  # x = 1, 3, 5 and t = 4.8, 11.3, 17.2: FCML Table 1.1
    data="fcml-toy-regression", products=["4.8", "33.9", "86.0"], squares=["1", "9", "25"]
)


def run(study: DataTable) -> Outcome:
    return study.run(generator(study.name, 0))


def test_averages_and_right_cells() -> None:
    found = run(TABLE).metrics
    assert found["mean_x"] == pytest.approx(3)
    assert found["mean_t"] == pytest.approx((4.8 + 11.3 + 17.2) / 3)
    assert found["mean_xt"] == pytest.approx((4.8 + 33.9 + 86.0) / 3)
    assert found["mean_xx"] == pytest.approx(35 / 3)
    assert found["printed_xt_agree"] is True
    assert found["printed_xx_agree"] is True


def test_a_wrong_cell_is_seen_and_named() -> None:
    outcome = run(dataclasses.replace(TABLE, products=["4.8", "33.8", "86.0"]))
    assert outcome.metrics["printed_xt_agree"] is False
    assert outcome.tables["rows"]["xt_agrees"] == [True, False, True]
    assert outcome.metrics["printed_xx_agree"] is True


def test_no_printed_cells_no_verdict_on_them() -> None:
    assert "printed_xt_agree" not in run(DataTable()).metrics


def test_gaps_are_found() -> None:
    found = run(DataTable(data="olympics-100m-women", due_every=4)).metrics
    assert [found["gap_1"], found["gap_2"]] == [1940, 1944]
    assert "gap_3" not in found


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"products": ["1"]}, "1 cells; .* has 3 rows"),
        ({"squares": ["1", "9", "five"]}, "'five' is not a number"),
        ({"due_every": 0}, "study.due_every"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        dataclasses.replace(TABLE, **knobs)  # type: ignore[arg-type]


def test_the_correlation_and_the_extremes() -> None:
    found = run(TABLE).metrics
    assert found["correlation_x_t"] == pytest.approx(
        np.corrcoef([1, 3, 5], [4.8, 11.3, 17.2])[0, 1]
    )
    assert (found["smallest_x"], found["largest_t"]) == (1.0, 17.2)
