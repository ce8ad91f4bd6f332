"""The texts of the pages, and the format of values and sentences."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from bythebook.experiments.config import catalogue
from bythebook.experiments.core.slugs import unique_slugs
from bythebook.experiments.core.study import studies
from bythebook.experiments.execution.provenance import collect_environment
from bythebook.experiments.report import pages, site
from bythebook.experiments.report.scoreboard import claim_records


def test_front_page(made: Any, parsed: dict[Path, Any]) -> None:
    text = parsed[made.root / "index.html"].text
    for words in (
        "expected reproduced; printed 7",  # the unexpected verdict
        "Not finite. Printed 1.5, computed nan",  # the claim that differs
        "Points of our own.",  # stand-in data
        "the run failed: ZeroDivisionError",
        "mlapp/never",
        "3 runs between 2023-11-14 22:13:20 UTC and 2023-11-14 22:15:22 UTC; 4.5 s of computing",
        f"numpy {collect_environment()['packages']['numpy']}",
        "prml/evil",
    ):
        assert words in text, words
    # Printed claims and derived checks are not added up.
    assert "They make 6 printed claims" in text
    assert "1 derived check, which we added, is counted separately" in text


def test_experiment_page(made: Any, parsed: dict[Path, Any]) -> None:
    page = parsed[made.root / "experiments/fcml/fig-8.7.html"]
    record = made.records["fcml/fig-8.7"]
    assert made.mlflow in page.links
    for command in ("run", "notebook", "explore"):
        assert f"bythebook {command} fcml/fig-8.7" in page.text
    for folder in ("studies", "figures"):
        assert f"src/experiments/{folder}/regression/polynomial_order.py" in page.text
    assert record.id in page.text
    for name in record["science"]["knobs"]:
        assert f"study.{name}" in page.text
    for parameter in dataclasses.fields(studies()[record.study]):
        assert parameter.metadata["doc"] in page.text
    assert "0.333333" in page.text  # six digits on the page
    assert "0.3333333333333333" in (made.root / "tables/fcml/fig-8.7/evil.csv").read_text()
    drawings = [attributes for tag, attributes in page.tags if tag == "img"]
    assert drawings
    for drawing in drawings:
        stem = (made.root / "experiments/fcml" / str(drawing["src"])).resolve().with_suffix("")
        assert stem.with_suffix(".svg").stat().st_size > 500
        assert [path.suffix for path in stem.parent.glob(f"{stem.name}.*")] == [".svg"]
        assert "the real one" in str(drawing["alt"])
        assert "olynomial order" in str(drawing["alt"])  # from the label of an axis


def test_the_configuration_is_on_the_site(tmp_path: Path) -> None:
    name = "fcml/fig-1.15"
    site.write_site({}, [name], tmp_path)
    copy = (tmp_path / "report/configurations/fcml/fig-1.15.yaml").read_bytes()
    assert copy == (catalogue.CONF_DIR / f"experiment/{name}.yaml").read_bytes()
    page = (tmp_path / "report/experiments/fcml/fig-1.15.html").read_text(encoding="utf-8")
    assert 'href="../../configurations/fcml/fig-1.15.yaml"' in page
    assert "conf/experiment/fcml/fig-1.15.yaml" in page


def test_the_gallery_has_every_figure_once(made: Any, parsed: dict[Path, Any]) -> None:
    page = parsed[made.root / "gallery.html"]
    shown = [attributes["src"] for tag, attributes in page.tags if tag == "img"]
    files = {path.relative_to(made.root).as_posix() for path in made.root.glob("figures/**/*.svg")}
    assert len(shown) == len(files)
    assert set(shown) == files
    assert all(a["loading"] == "lazy" for tag, a in page.tags if tag == "img")
    rows = [attributes for _, attributes in page.tags if attributes.get("class") == "picture"]
    assert [row["data-book"] for row in rows] == ["fcml", "fcml", "prml"]
    assert {row["data-topic"] for row in rows} == {"regression"}


def test_the_front_page_folds_long_lists(made: Any, parsed: dict[Path, Any]) -> None:
    page = parsed[made.root / "index.html"]
    tags = [tag for tag, _ in page.tags]
    assert tags.count("details") >= 6
    assert all("open" not in attributes for tag, attributes in page.tags if tag == "details")


def test_the_ledger_can_be_filtered(made: Any, parsed: dict[Path, Any]) -> None:
    page = parsed[made.root / "errata.html"]
    entries = [attributes for tag, attributes in page.tags if tag == "article"]
    assert [entry["data-book"] for entry in entries] == ["fcml", "prml"]
    assert {entry["data-cause"] for entry in entries} == {"known"}
    listed = [attributes["data-with"] for _, attributes in page.tags if "data-with" in attributes]
    assert listed == [entry["id"] for entry in entries]


def test_errata_ledger(made: Any, parsed: dict[Path, Any]) -> None:
    page = parsed[made.root / "errata.html"]
    claims = claim_records(made.records)
    errata = [claim for claim in claims if claim["verdict"] == "erratum"]
    assert len(errata) == 2
    for claim in errata:
        assert (
            f"{claim['experiment'].replace('/', '-')}-{unique_slugs([claim['expression']])[0]}"
            in page.ids
        )
        assert f"run {claim['run_id']}" in page.text
    assert "Cause. Exact arithmetic gives 3." in page.text
    assert "Tested: argmin(loo_loss); stand-in data" in page.text


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, ""),
        (True, "true"),
        (1 / 3, "0.333333"),
        (-2.5e-7, "-2.5e-07"),
        ([1, [2.0, 3]], "1, [2, 3]"),
    ],
)
def test_cells(value: Any, words: str) -> None:
    assert pages.format_cell(value) == words


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("leave-one-out wins", "Leave-one-out wins."), ("k-fold wins!", "k-fold wins!"), ("", "")],
)
def test_sentences(text: str, sentence: str) -> None:
    assert pages.as_sentence(text) == sentence
