"""What each kind of page says."""

import csv
import dataclasses
import json
from pathlib import Path
from typing import Any

from experiments.contract.study import studies
from experiments.report import results
from experiments.report.scoreboard import claim_records
from experiments.report.slugs import slugs
from experiments.running.provenance import environment


def test_front_page(made: Any, parsed: dict[Path, Any]) -> None:
    text = parsed[made.root / "index.html"].text
    for words in (
        "expected reproduced; printed 7",  # the surprise
        "Not finite. Printed 1.5, computed nan",  # what differs, and why
        "Points of our own.",  # the stand-in
        "the run failed: ZeroDivisionError",
        "mlapp/never",
        "3 runs between 2023-11-14 22:13:20 UTC and 2023-11-14 22:15:22 UTC; 4.5 s of computing",
        f"numpy {environment()['packages']['numpy']}",
        "prml/evil",
    ):
        assert words in text, words
    # Printed and derived claims are not added up.
    assert "They make 6 claims that a computer can check; 1 further check is our own" in text


def test_slowest_first(made: Any) -> None:
    text = made.text("index.html").partition("The slowest results")[2]
    places = [text.index(f"experiments/{name}.html") for name in reversed(made.claims)]
    assert places == sorted(places)


def test_experiment_page(made: Any, parsed: dict[Path, Any]) -> None:
    page = parsed[made.root / "experiments/fcml/fig-8.7.html"]
    record = made.records["fcml/fig-8.7"]
    assert made.mlflow in page.links
    assert "bythebook run experiment=fcml/fig-8.7" in page.text
    assert record.id in page.text
    for name in record["science"]["knobs"]:
        assert f"study.{name}" in page.text
    for knob in dataclasses.fields(studies()[record.study]):
        assert knob.metadata["doc"] in page.text
    assert "0.333333" in page.text  # six digits on the page
    assert "0.3333333333333333" in (made.root / "tables/fcml/fig-8.7/evil.csv").read_text()
    drawings = [attributes for tag, attributes in page.tags if tag == "img"]
    assert drawings
    for drawing in drawings:
        stem = (made.root / "experiments/fcml" / str(drawing["src"])).resolve().with_suffix("")
        assert all(
            stem.with_suffix(f".{suffix}").stat().st_size > 500 for suffix in ("svg", "pdf", "png")
        )
        assert "the real one" in str(drawing["alt"])
        assert "olynomial order" in str(drawing["alt"])  # read off the figure's axis


def test_no_link_to_runs_that_the_store_does_not_know(made: Any) -> None:
    assert "127.0.0.1" not in made.text("experiments/fcml/fig-8.8.html")


def test_errata_ledger(made: Any, parsed: dict[Path, Any]) -> None:
    page = parsed[made.root / "errata.html"]
    claims = claim_records(made.records)
    errata = [claim for claim in claims if claim["verdict"] == "erratum"]
    assert len(errata) == 2
    for claim in errata:
        assert (
            f"{claim['experiment'].replace('/', '-')}-{slugs([claim['expression']])[0]}" in page.ids
        )
        assert f"run {claim['run_id']}" in page.text
    assert "Evidence. Exact arithmetic gives 3. Judged: rounds to 3, not to 4." in page.text
    assert "stand-in: generated in place of" in page.text


def test_filter_data(made: Any, parsed: dict[Path, Any]) -> None:
    page = parsed[made.root / "experiments.html"]
    rows = [attributes for _, attributes in page.tags if "data-text" in attributes]
    assert [row["data-book"] for row in rows] == ["fcml", "fcml", "prml", "prml", "mlapp"]
    assert [row["data-verdict"] for row in rows] == [
        "reproduced", "consistent|erratum|differs", "erratum", "not run", "not run",
    ]  # fmt: skip
    assert [row["data-grade"] for row in rows] == ["book", "stand-in", "book", "", ""]
    assert rows[1]["data-topic"] == "regression"
    assert "fourth order is best" in str(rows[1]["data-text"])
    offered = [attributes.get("value") for tag, attributes in page.tags if tag == "option"]
    for row in rows:
        assert row["data-book"] in offered
        assert row["data-topic"] in offered
        assert set(str(row["data-verdict"]).split("|")) <= set(offered)


def test_results_files(made: Any) -> None:
    def refuse(constant: str) -> float:
        raise AssertionError(constant)

    claims = json.loads(made.text("results.json"), parse_constant=refuse)
    expected = claim_records(made.records)
    assert [list(claim) for claim in claims] == [list(results.FIELDS)] * len(expected)
    assert len(claims) == 7
    by_text = {claim["claim"]: claim for claim in claims}
    assert by_text["not finite"]["value"] is None
    assert by_text["third order is best"]["value"] == 3
    with (made.root / "results.csv").open(encoding="utf-8", newline="") as stream:
        lines = list(csv.DictReader(stream))
    assert [line["claim"] for line in lines] == [claim["claim"] for claim in claims]
    assert [line["as_expected"] for line in lines] == [
        str(c["as_expected"]).lower() for c in claims
    ]
    for name in results.FIELDS:
        assert f"<code>{name}</code>" in made.text("fields.html")


def test_sweep_page(made: Any, parsed: dict[Path, Any]) -> None:
    (folder,) = (made.outputs / "sweeps").iterdir()
    page = parsed[made.root / f"sweeps/{folder.name}.html"]
    assert "4 of 4 cells finished" in page.text
    assert "folds = 5" in page.text
    assert made.records["fcml/fig-8.7"].id in page.text
    assert f"../sweeps/{folder.name}/cells.csv" in page.links
    for suffix in ("svg", "pdf", "png"):
        assert f"../sweeps/{folder.name}/sweep.{suffix}" in page.links
    assert f"sweeps/{folder.name}.html" in made.text("experiments/fcml/fig-8.7.html")
