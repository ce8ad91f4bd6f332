"""The content of result pages: location, search words, order in the book."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bythebook.experiments.core.verdicts import ORIGINS
from bythebook.experiments.report import figure_cache, result_pages
from bythebook.experiments.report.result_pages import (
    ResultPage,
    claims_with_anchors,
    count_by_origin,
)
from bythebook.experiments.store.record import Record


def test_results_are_in_the_order_of_the_book(made: Any, tmp_path: Path) -> None:
    sections = {"z": "1.2", "y": "1.10", "x": "Appendix A", "w": "2"}
    records = {}
    for name, section in sections.items():
        printed = made.records["fcml/fig-8.8"]["printed"]
        changed_source = {**printed, "source": {**printed["source"], "section": section}}
        changed = {**made.records["fcml/fig-8.8"].content, "printed": changed_source}
        records[f"fcml/{name}"] = Record(made.records["fcml/fig-8.8"].folder, changed)
    figures = {made.records["fcml/fig-8.8"].id: figure_cache.CachedFigures(tmp_path)}
    found = result_pages.result_pages(records, sorted(records), tmp_path, figures, [])
    assert [result.name[-1] for result in found] == ["z", "y", "w", "x"]


def test_filter_data(made: Any, parsed: dict[Path, Any]) -> None:
    page = parsed[made.root / "experiments.html"]
    rows = [attributes for _, attributes in page.tags if "data-grade" in attributes]
    assert [row["data-book"] for row in rows] == ["fcml", "fcml", "prml", "prml", "mlapp"]
    assert [row["data-verdict"] for row in rows] == [
        "reproduced", "consistent|erratum|differs", "erratum", "not run", "not run",
    ]  # fmt: skip
    assert [row["data-grade"] for row in rows] == ["book", "stand-in", "book", "", ""]
    assert rows[1]["data-topic"] == "regression"
    assert rows[1]["data-url"] == "experiments/fcml/fig-8.8.html"  # the words are in the index
    offered = [attributes.get("value") for tag, attributes in page.tags if tag == "option"]
    for row in rows:
        assert row["data-book"] in offered
        assert row["data-topic"] in offered
        assert set(str(row["data-verdict"]).split("|")) <= set(offered)


def test_anchors_stay_while_expressions_do(made: Any) -> None:
    record = made.records["fcml/fig-8.8"]
    claims = claims_with_anchors("fcml/fig-8.8", record)
    anchors = [claim["anchor"] for claim in claims]
    assert len(set(anchors)) == len(anchors)
    assert {claim["entry"] for claim in claims} == {f"fcml-fig-8.8-{name}" for name in anchors}


@given(st.lists(st.tuples(st.sampled_from(ORIGINS), st.sampled_from(["reproduced", "differs"]))))
def test_printed_and_derived_are_never_added_up(pairs: list[tuple[str, str]]) -> None:
    claims = [{"origin": origin, "standing": name, "verdict": name} for origin, name in pairs]
    found = count_by_origin(claims)
    for origin in ORIGINS:
        for verdict in ("reproduced", "differs"):
            assert found[origin][verdict] == pairs.count((origin, verdict))


@pytest.mark.parametrize(
    ("section", "place"), [("1.5.2", "section 1.5.2"), ("Appendix A", "Appendix A"), ("", "")]
)
def test_a_result_without_a_run_has_its_location(section: str, place: str) -> None:
    result = ResultPage("fcml/a b", "u", {"section": section}, None)
    assert (result.location, result.book, result.item) == (place, "fcml", "fcml/a b")
    assert result.verdicts == [result_pages.NOT_RUN]
    assert result.command == "bythebook run 'fcml/a b'"
    assert (result.grade, result.synthetic_data) == ("", [])


def test_the_last_error_is_shown_and_a_truncated_record_is_skipped(made: Any) -> None:
    assert result_pages._last_error(made.outputs / "runs/prml/failed").startswith(
        "the run failed: ZeroDivisionError: "
    )
    assert result_pages._last_error(made.outputs / "runs/fcml/fig-8.7") == ""
    assert result_pages._last_error(made.outputs / "runs/gone") == ""
