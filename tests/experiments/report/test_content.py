"""What the pages show of a result: its place, its search words, its order in the book."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.contract.verdicts import ORIGINS
from experiments.records.record import Record
from experiments.report import content, drawings
from experiments.report.content import Result, anchored, by_origin


def test_results_stand_in_the_order_of_the_book(made: Any, tmp_path: Path) -> None:
    sections = {"z": "1.2", "y": "1.10", "x": "Appendix A", "w": "2"}
    records = {}
    for name, section in sections.items():
        printed = made.records["fcml/fig-8.8"]["printed"]
        stated = {**printed, "source": {**printed["source"], "section": section}}
        changed = {**made.records["fcml/fig-8.8"].content, "printed": stated}
        records[f"fcml/{name}"] = Record(made.records["fcml/fig-8.8"].folder, changed)
    figures = {made.records["fcml/fig-8.8"].id: drawings.Drawn(tmp_path)}
    found = content.results(records, sorted(records), tmp_path, figures, [])
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
    claims = anchored("fcml/fig-8.8", record)
    anchors = [claim["anchor"] for claim in claims]
    assert len(set(anchors)) == len(anchors)
    assert {claim["entry"] for claim in claims} == {f"fcml-fig-8.8-{name}" for name in anchors}


@given(st.lists(st.tuples(st.sampled_from(ORIGINS), st.sampled_from(["reproduced", "differs"]))))
def test_printed_and_derived_are_never_added_up(pairs: list[tuple[str, str]]) -> None:
    claims = [{"origin": origin, "standing": name, "verdict": name} for origin, name in pairs]
    found = by_origin(claims)
    for origin in ORIGINS:
        for verdict in ("reproduced", "differs"):
            assert found[origin][verdict] == pairs.count((origin, verdict))


@pytest.mark.parametrize(
    ("section", "place"), [("1.5.2", "section 1.5.2"), ("Appendix A", "Appendix A"), ("", "")]
)
def test_a_result_without_a_run_still_has_its_place(section: str, place: str) -> None:
    result = Result("fcml/a b", "u", {"section": section}, None)
    assert (result.place, result.book, result.item) == (place, "fcml", "fcml/a b")
    assert result.verdicts == [content.NOT_RUN]
    assert result.command == "bythebook run 'fcml/a b'"
    assert (result.grade, result.stand_ins) == ("", [])


def test_a_failure_is_the_last_one_and_a_torn_record_says_nothing(made: Any) -> None:
    assert content._failure(made.outputs / "runs/prml/failed").startswith(
        "the run failed: ZeroDivisionError: "
    )
    assert content._failure(made.outputs / "runs/fcml/fig-8.7") == ""
    assert content._failure(made.outputs / "runs/gone") == ""
