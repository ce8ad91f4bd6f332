"""The static site: made from records alone, whole, linked, escaped, the same bytes every time."""

import csv
import dataclasses
import json
import math
import shutil
import sqlite3
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from experiments import sweeps
from experiments.claims import Claim
from experiments.config import experiment_job
from experiments.jobs import Job, Printed, Source
from experiments.outcome import Outcome
from experiments.provenance import environment
from experiments.records import Record, RunStore
from experiments.report import content, drawings, facts, pages, results, sheets, site
from experiments.report.naming import humanised, slugs
from experiments.runner import compute, verdicts
from experiments.scoreboard import claim_records

EVIL = "<script>alert('x')</script>"
QUOTED = '" onmouseover="alert(1)'
MLFLOW = "http://127.0.0.1:5000/#/experiments/7/runs/abc123"

CLAIMS = {
    "fcml/fig-1.15": [
        Claim(says="third order is best", metric="loo_best_order", printed="3"),
        Claim(says="our own", metric="loo_best_order", between=[1, 8], origin="derived"),
    ],
    "fcml/fig-8.8": [
        Claim(
            says="fourth order is best",
            metric="loo_best_order",
            printed="4",
            corrected="3",
            why="exact arithmetic gives 3",
            expect="erratum",
        ),
        Claim(
            says="not finite", metric="not_a_number", printed="1.5", expect="differs", why="lost"
        ),
        Claim(says="a draw", draws="repetitions", printed="2"),
        Claim(says="a surprise", metric="loo_best_order", printed="7"),
    ],
    "prml/evil": [
        Claim(
            says=EVIL,
            metric="loo_best_order",
            printed="9",
            corrected="3",
            why=EVIL,
            expect="erratum",
        )
    ],
}
SOURCES = {
    "fcml/fig-1.15": Source("fcml", "1.5.2", "Figure 1.15", "the real one", "polynomial_order"),
    "fcml/fig-8.8": Source(
        "fcml", "8.1", "Figure 8.8", "invented", "mixtures", "stand-in", "points of our own"
    ),
    "prml/evil": Source("prml", "9", EVIL, QUOTED, f"{EVIL} & co", note=EVIL),
}
NAMES = ["fcml/fig-1.15", "fcml/fig-8.8", "prml/evil", "prml/failed", "mlapp/never"]


@dataclasses.dataclass
class Made:
    outputs: Path
    records: dict[str, Record]
    told: list[str]

    @property
    def root(self) -> Path:
        return self.outputs / "report"

    def write(self) -> Path:
        return site.write(
            self.records, NAMES, self.outputs, outdated=["prml/evil"], tell=self.told.append
        )

    def text(self, url: str) -> str:
        return (self.root / url).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Every verdict, a stand-in, a failed run, one never run, hostile names and a sweep."""
    outputs = tmp_path_factory.mktemp("outputs")
    store = RunStore(outputs)
    stated = experiment_job("fcml/fig-1.15")
    one_figure: dict[str, Any] = {"methods": ["loo"]}
    study = dataclasses.replace(stated.study, **one_figure)
    job = dataclasses.replace(stated, study=study)
    outcome = compute(job)
    outcome = dataclasses.replace(
        outcome,
        metrics={**outcome.metrics, "not_a_number": math.nan},
        arrays={**outcome.arrays, "repetitions": [1.0, 2.0, 3.0]},
        tables={**outcome.tables, EVIL: {EVIL: [EVIL, "b"], "long": [1 / 3, 2.0]}},
    )
    records = {name: _record(store, job, name, outcome, i) for i, name in enumerate(CLAIMS)}
    failed = dataclasses.replace(job, experiment="prml/failed", printed=Printed(Source("prml")))
    error = {"type": "ZeroDivisionError", "message": EVIL, "traceback": ""}
    folder = store.write(failed, _facts(9), error=error).folder
    (folder.parent / "torn-1").mkdir()  # by a power cut
    (folder.parent / "torn-1" / "run.json").write_text("{")
    _sweep(outputs, job, records)
    _mlflow(outputs, records["fcml/fig-1.15"].id)
    built = Made(outputs, records, [])
    built.write()
    return built


def _record(store: RunStore, job: Job, name: str, outcome: Outcome, number: int) -> Record:
    changed = dataclasses.replace(
        job, experiment=name, printed=Printed(SOURCES[name], tuple(CLAIMS[name]))
    )
    return store.write(
        changed, _facts(number), outcome=outcome, verdicts=verdicts(changed, outcome)
    )


def _facts(number: int) -> dict[str, Any]:
    took = {"started": 1.7e9 + 60 * number, "seconds": 0.5 + number, "cpu_seconds": 0.25}
    return {**environment(), **took}


def _sweep(outputs: Path, job: Job, records: dict[str, Record]) -> None:
    cells = [
        sweeps.Cell({"study.folds": value, "seed": seed}, job) for value in "57" for seed in "01"
    ]
    plan = sweeps.Plan.of(cells, ["experiment=fcml/fig-1.15", "study.folds=5,7", EVIL], None)
    record = records["fcml/fig-1.15"]
    folder = outputs / "sweeps" / plan.id
    folder.mkdir(parents=True)
    state = {"started": 1.7e9, "finished": 1.7e9 + 5, "status": "FINISHED", **environment()}
    sweeps.write(plan, state, dict.fromkeys(range(4), sweeps.Row.of(record)), folder)


def _mlflow(outputs: Path, run_id: str) -> None:
    connection = sqlite3.connect(outputs / "mlflow.db")
    connection.executescript(
        "CREATE TABLE runs (run_uuid, experiment_id, lifecycle_stage, start_time);"
        "CREATE TABLE tags (key, value, run_uuid);"
        "INSERT INTO runs VALUES ('abc123', 7, 'active', 1), ('gone', 7, 'deleted', 2);"
    )
    connection.executemany(
        "INSERT INTO tags VALUES ('bythebook.run_id', ?, ?)", [(run_id, "abc123"), (run_id, "gone")]
    )
    connection.commit()
    connection.close()


class Page(HTMLParser):
    """Every tag with its attributes, and the text outside scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())

    @property
    def ids(self) -> list[str | None]:
        return [attributes["id"] for _, attributes in self.tags if "id" in attributes]

    @property
    def links(self) -> list[str]:
        found = [attributes.get(name) for _, attributes in self.tags for name in ("href", "src")]
        return [link for link in found if link]


@pytest.fixture(scope="module")
def parsed(made: Made) -> dict[Path, Page]:
    return {path: Page(path.read_text(encoding="utf-8")) for path in made.root.rglob("*.html")}


def test_pages(made: Made, parsed: dict[Path, Page]) -> None:
    found = {path.relative_to(made.root).as_posix() for path in parsed}
    (sweep,) = (path.name for path in (made.outputs / "sweeps").iterdir())
    wanted = {"index", "experiments", "errata", "fields", "sweeps", f"sweeps/{sweep}"}
    wanted |= {"books/fcml", "books/prml", "books/mlapp"}
    wanted |= {"families/polynomial_order", "families/mixtures", "families/none"}
    wanted |= {f"experiments/{name}" for name in NAMES}
    evil = {name for name in found if "script" in name}
    assert len(evil) == 1
    assert found - evil == {f"{name}.html" for name in wanted}


def test_every_link_leads_somewhere(made: Made, parsed: dict[Path, Page]) -> None:
    broken = []
    for path, page in parsed.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme:
                assert link == "data:," or link == MLFLOW, link
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            there = target.is_file() and target.is_relative_to(made.root.resolve())
            if not there or (parts.fragment and parts.fragment not in parsed[target].ids):
                broken.append(f"{path.name}: {link}")
    assert broken == []


def test_html_is_sound(parsed: dict[Path, Page]) -> None:
    for path, page in parsed.items():
        assert len(page.ids) == len(set(page.ids)), path
        names = [tag for tag, _ in page.tags]
        assert names.count("h1") == 1, path
        assert names.count("main") == 1, path
        for tag, attributes in page.tags:
            assert not [name for name in attributes if name.startswith("on")], (path, attributes)
            if tag == "script":
                assert str(attributes.get("src")).endswith("static/site.js"), path
            if tag == "img":
                assert "alt" in attributes, path
            if tag == "th":
                assert attributes.get("scope") in ("row", "col"), path


def test_what_a_run_says_is_text(made: Made, parsed: dict[Path, Page]) -> None:
    pages_with = [path for path, page in parsed.items() if EVIL in page.text]
    names = {path.relative_to(made.root).as_posix() for path in pages_with}
    assert {"index.html", "errata.html", "experiments.html", "books/prml.html"} <= names
    assert {"experiments/prml/evil.html", "experiments/prml/failed.html"} <= names
    assert not [path for path in parsed if EVIL in path.read_text(encoding="utf-8")]


def test_front_page(made: Made, parsed: dict[Path, Page]) -> None:
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


def test_slowest_first(made: Made) -> None:
    text = made.text("index.html").partition("The slowest results")[2]
    places = [text.index(f"experiments/{name}.html") for name in reversed(CLAIMS)]
    assert places == sorted(places)


def test_experiment_page(made: Made, parsed: dict[Path, Page]) -> None:
    page = parsed[made.root / "experiments/fcml/fig-1.15.html"]
    record = made.records["fcml/fig-1.15"]
    assert MLFLOW in page.links
    assert "bythebook run experiment=fcml/fig-1.15" in page.text
    assert record.id in page.text
    for name in record["science"]["knobs"]:
        assert f"study.{name}" in page.text
    assert "orders to compare" in page.text  # a knob's documentation
    assert "0.333333" in page.text  # six digits on the page
    assert (
        "0.3333333333333333"
        in (made.root / f"tables/fcml/fig-1.15/{slugs([EVIL])[0]}.csv").read_text()
    )
    drawings = [attributes for tag, attributes in page.tags if tag == "img"]
    assert drawings
    for drawing in drawings:
        stem = (made.root / "experiments/fcml" / str(drawing["src"])).resolve().with_suffix("")
        assert all(
            stem.with_suffix(f".{suffix}").stat().st_size > 500 for suffix in ("svg", "pdf", "png")
        )
        assert "the real one" in str(drawing["alt"])
        assert "olynomial order" in str(drawing["alt"])  # read off the figure's axis


def test_no_link_to_runs_that_the_store_does_not_know(made: Made) -> None:
    assert "127.0.0.1" not in made.text("experiments/fcml/fig-8.8.html")


def test_errata_ledger(made: Made, parsed: dict[Path, Page]) -> None:
    page = parsed[made.root / "errata.html"]
    claims = claim_records(made.records)
    errata = [claim for claim in claims if claim["verdict"] == "erratum"]
    assert len(errata) == 2
    for claim in errata:
        assert f"{claim['experiment'].replace('/', '-')}-{claim['quantity']}" in page.ids
        assert f"run {claim['run_id']}" in page.text
    assert "Evidence. Exact arithmetic gives 3. Judged: rounds to 3, not to 4." in page.text
    assert "stand-in: generated in place of" in page.text


def test_filter_data(made: Made, parsed: dict[Path, Page]) -> None:
    page = parsed[made.root / "experiments.html"]
    rows = [attributes for _, attributes in page.tags if "data-text" in attributes]
    assert [row["data-book"] for row in rows] == ["fcml", "fcml", "prml", "prml", "mlapp"]
    assert [row["data-verdict"] for row in rows] == [
        "reproduced", "consistent|erratum|differs", "erratum", "not run", "not run",
    ]  # fmt: skip
    assert [row["data-grade"] for row in rows] == ["book", "stand-in", "book", "", ""]
    assert rows[1]["data-family"] == "mixtures"
    assert "fourth order is best" in str(rows[1]["data-text"])
    offered = [attributes.get("value") for tag, attributes in page.tags if tag == "option"]
    for row in rows:
        assert row["data-book"] in offered
        assert row["data-family"] in offered
        assert set(str(row["data-verdict"]).split("|")) <= set(offered)


def test_results_files(made: Made) -> None:
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


def test_sweep_page(made: Made, parsed: dict[Path, Page]) -> None:
    (folder,) = (made.outputs / "sweeps").iterdir()
    page = parsed[made.root / f"sweeps/{folder.name}.html"]
    assert "4 of 4 cells finished" in page.text
    assert "folds = 5" in page.text
    assert made.records["fcml/fig-1.15"].id in page.text
    assert f"../sweeps/{folder.name}/cells.csv" in page.links
    assert f"sweeps/{folder.name}.html" in made.text("experiments/fcml/fig-1.15.html")


def test_long_tables_are_cut_and_say_so() -> None:
    sheet = sheets.sheet("long", "long.csv", {"n": list(range(sheets.ROWS + 7))})
    macros = pages.environment().get_template("macros.html").make_module({"root": "", "links": {}})
    shown = " ".join(Page(str(macros.sheet(sheet, "long"))).text.split())  # type: ignore[attr-defined]
    assert f"the first {sheets.ROWS} of {sheets.ROWS + 7} rows" in shown


def test_same_records_same_bytes(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    def everything() -> dict[str, bytes]:
        files = [path for path in made.root.rglob("*") if path.is_file()]
        return {path.relative_to(made.root).as_posix(): path.read_bytes() for path in files}

    before = everything()
    # Drawn by this process before, by a worker now: another hash seed, the same bytes.
    monkeypatch.setattr(drawings, "ALONE", 0)
    for folder in (made.outputs / "report-cache").glob(f"{made.records['prml/evil'].id}-*"):
        shutil.rmtree(folder)
    made.write()
    after = everything()
    assert before.keys() == after.keys()
    assert [name for name in before if before[name] != after[name]] == []
    assert [path.name for path in made.outputs.glob(".report-*")] == []


def test_figures_are_drawn_once(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*task: Path) -> str:
        raise AssertionError("drawn again")

    monkeypatch.setattr("experiments.report.drawings._draw", refuse)
    made.write()


@pytest.fixture
def undrawable(made: Made) -> Record:
    """A record whose study is gone."""
    science = {**made.records["prml/evil"]["science"], "study": "gone"}
    return Record(
        made.outputs / "nowhere",
        {**made.records["prml/evil"].content, "id": "feed-1", "science": science},
    )


def test_a_figure_that_fails_is_told_and_shown(
    made: Made, undrawable: Record, tmp_path: Path
) -> None:
    told: list[str] = []
    index = site.write({"prml/evil": undrawable}, ["prml/evil"], tmp_path, tell=told.append)
    assert len(told) == 1
    assert told[0].startswith("prml/evil: no figure: BadInput")
    page = Page((index.parent / "experiments/prml/evil.html").read_text(encoding="utf-8"))
    assert "No figure could be drawn: BadInput" in page.text


def test_nothing_recorded(tmp_path: Path) -> None:
    index = site.write({}, ["fcml/fig-1.15"], tmp_path)
    assert "What was not run" in Page(index.read_text(encoding="utf-8")).text
    assert json.loads((tmp_path / "report/results.json").read_text()) == []


def test_results_stand_in_the_order_of_the_book(made: Made, tmp_path: Path) -> None:
    sections = {"z": "1.2", "y": "1.10", "x": "Appendix A", "w": "2"}
    records = {}
    for name, section in sections.items():
        source = {**made.records["fcml/fig-8.8"]["science"]["source"], "section": section}
        science = {**made.records["fcml/fig-8.8"]["science"], "source": source}
        changed = {**made.records["fcml/fig-8.8"].content, "science": science}
        records[f"fcml/{name}"] = Record(made.records["fcml/fig-8.8"].folder, changed)
    figures = {made.records["fcml/fig-8.8"].id: drawings.Drawn(tmp_path)}
    found = content.results(records, sorted(records), tmp_path, figures, [])
    assert [result.name[-1] for result in found] == ["z", "y", "w", "x"]


def test_slugs_are_safe_and_differ() -> None:
    assert slugs(["a b", "a-b", "A B", "..", "x/../y"]) == [
        "a-b", "a-b-2", "A-B-3", "unnamed", "x/unnamed/y",
    ]  # fmt: skip


def test_acronyms_are_written_large() -> None:
    assert humanised("hmm_em_starts") == "HMM EM starts"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0004, "under 1 ms"),
        (0.25, "250 ms"),
        (59.94, "59.9 s"),
        (61, "1 min 01 s"),
        (7260, "2 h 01 min"),
    ],
)
def test_durations(seconds: float, words: str) -> None:
    assert facts.duration(seconds) == words


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
    assert pages.cell(value) == words


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("leave-one-out wins", "Leave-one-out wins."), ("k-fold wins!", "k-fold wins!"), ("", "")],
)
def test_sentences(text: str, sentence: str) -> None:
    assert pages.sentence(text) == sentence
