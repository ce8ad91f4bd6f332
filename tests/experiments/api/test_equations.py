"""`equations` in Python: rows, a frame, a table, and selections."""

import pytest

import bythebook
from bythebook.experiments.api.equations import Equations, equation_rows
from bythebook.experiments.core.equations import find_equation
from bythebook.experiments.core.errors import InputError


def test_a_frame_has_a_row_for_each_equation() -> None:
    frame = bythebook.equations("prml/10.2.1").frame
    row = frame.set_index("name").loc["prml.expected_mixing"]
    assert row["verdict"] == "erratum"
    assert row["gap"] > 0.1 > row["corrected_gap"]
    assert row["cases"] == 20
    assert row["formula"] == "E[π_k] = (α_k + N_k) / (K α₀ + N)"
    assert set(frame["section"]) == {"10.2.1"}


def test_errata_alone() -> None:
    found = bythebook.equations("prml", errata=True)
    assert found.entries
    assert all(entry.corrected for entry in found.entries)


def test_a_table_in_a_notebook_is_escaped() -> None:
    shown = bythebook.equations("prml.expected_mixing")._repr_html_()
    assert "E[π_k] = (α_k + N_k) / (K α₀ + N)" in shown
    assert "erratum" in shown
    assert "prml.expected_mixing (10.69): erratum" in repr(Equations(("prml.expected_mixing",)))


def test_an_invalid_selection_is_refused() -> None:
    with pytest.raises(InputError, match="3 is not a selection"):
        Equations((3,))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="there is no equation 'prml/99'"):
        len(bythebook.equations("prml/99"))


def test_rows_name_the_results_that_claim_an_equation() -> None:
    (row,) = equation_rows([find_equation("prml.expected_mixing")], cases=2)
    assert all(name.startswith("prml/") for name in row["results"])
    assert row["results"]
