"""A small site for all tests of the report, with every verdict, failures and HTML in names."""

import dataclasses
import math
import sqlite3
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from bythebook.experiments.config.job import Job, PublishedResult, Source
from bythebook.experiments.config.validation import load_job
from bythebook.experiments.core.claims import Claim
from bythebook.experiments.core.outcome import Outcome, axis
from bythebook.experiments.execution.provenance import collect_environment
from bythebook.experiments.execution.worker import compute
from bythebook.experiments.report import site
from bythebook.experiments.store.record import Record
from bythebook.experiments.store.run_store import RunStore
from bythebook.experiments.store.run_summary import RunSummary
from bythebook.experiments.sweeps import run
from bythebook.experiments.sweeps.plan import SweepCell, SweepPlan, SweepTable

EVIL = "<script>alert('x')</script>"
QUOTED = '" onmouseover="alert(1)'
MLFLOW = "http://127.0.0.1:5000/#/experiments/7/runs/abc123?workflowType=machine_learning"

CLAIMS = {
    "fcml/fig-8.7": [
        Claim(says="third order is best", value="argmin(loo_loss)", printed="3"),
        Claim(says="an order in the range", holds="1 <= argmin(loo_loss) <= 8", origin="derived"),
    ],
    "fcml/fig-8.8": [
        Claim(
            says="fourth order is best",
            value="argmin(loo_loss)",
            printed="4",
            corrected="3",
            why="exact arithmetic gives 3",
            expect="erratum",
        ),
        Claim(says="not finite", value="not_a_number", printed="1.5", expect="differs", why="lost"),
        Claim(says="a draw", draws="repetitions", printed="2"),
        Claim(says="an unexpected verdict", value="argmin(loo_loss)", printed="7"),
    ],
    "prml/evil": [
        Claim(
            says=EVIL,
            value="argmin(loo_loss)",
            printed="9",
            corrected="3",
            why=EVIL,
            expect="erratum",
        )
    ],
}
SOURCES = {
    "fcml/fig-8.7": Source("fcml", "1.5.2", "Figure 8.7", "the real one"),
    "fcml/fig-8.8": Source(
        "fcml", "8.1", "Figure 8.8", "invented", "stand-in", "points of our own"
    ),
    "prml/evil": Source("prml", "9", EVIL, QUOTED, note=EVIL),
}
NAMES = ["fcml/fig-8.7", "fcml/fig-8.8", "prml/evil", "prml/failed", "mlapp/never"]


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
        links = [attributes.get(name) for _, attributes in self.tags for name in ("href", "src")]
        return [link for link in links if link]


@dataclasses.dataclass
class Made:
    """A written site, with the records and the lines that were reported."""

    outputs: Path
    records: dict[str, Record]
    lines: list[str]

    names = NAMES
    claims = CLAIMS
    evil = EVIL
    mlflow = MLFLOW

    @property
    def root(self) -> Path:
        return self.outputs / "report"

    def write(self) -> Path:
        return site.write_site(
            self.records, NAMES, self.outputs, outdated=["prml/evil"], tell=self.lines.append
        )

    def parse(self, text: str) -> Page:
        return Page(text)

    def text(self, url: str) -> str:
        return (self.root / url).read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A site with every verdict, stand-in data, failed and missing runs, and a sweep."""
    outputs = tmp_path_factory.mktemp("outputs")
    store = RunStore(outputs)
    job = load_job("fcml/fig-1.15")
    evil = axis("evil", [EVIL, "b"])
    outcome = Outcome(
        **compute(job).outcome,
        not_a_number=math.nan,
        repetitions=axis("draw", 3).of([1.0, 2.0, 3.0]),
        word=evil.of([EVIL, "b"]),
        long=evil.of([1 / 3, 2.0]),
    )
    records = {name: _record(store, job, name, outcome, i) for i, name in enumerate(CLAIMS)}
    failed = dataclasses.replace(
        job, experiment="prml/failed", published=PublishedResult(Source("prml"))
    )
    error = {"type": "ZeroDivisionError", "message": EVIL, "traceback": ""}
    folder = store.save(failed, _facts(9), error=error).folder
    (folder.parent / "truncated-1").mkdir()  # by a power cut
    (folder.parent / "truncated-1" / "run.json").write_text("{")
    _sweep(outputs, job, records)
    _mlflow(outputs, records["fcml/fig-8.7"].id)
    built = Made(outputs, records, [])
    built.write()
    return built


def _record(store: RunStore, job: Job, name: str, outcome: Outcome, number: int) -> Record:
    published = PublishedResult(SOURCES[name], tuple(CLAIMS[name]), {"losses": ["loo_loss"]})
    changed = dataclasses.replace(job, experiment=name, published=published)
    return store.save(changed, _facts(number), outcome=outcome)


def _facts(number: int) -> dict[str, Any]:
    took = {"started": 1.7e9 + 60 * number, "seconds": 0.5 + number, "cpu_seconds": 0.25}
    return {**collect_environment(), **took}


def _sweep(outputs: Path, job: Job, records: dict[str, Record]) -> None:
    cells = [
        SweepCell({"study.folds": value, "seed": seed}, job) for value in "57" for seed in "01"
    ]
    metric = "argmin( loo_loss )"
    plan = SweepPlan.from_cells(cells, ["experiment=fcml/fig-8.7", "study.folds=5,7", EVIL], metric)
    record = records["fcml/fig-8.7"]
    folder = outputs / "sweeps" / plan.id
    folder.mkdir(parents=True)
    state = {"started": 1.7e9, "finished": 1.7e9 + 5, "status": "FINISHED", **collect_environment()}
    rows = SweepTable(len(plan))
    for index in range(len(plan)):
        rows.add(index, RunSummary.from_record(record, metric), metric)
    run.save_sweep(plan, state, rows, folder)


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


@pytest.fixture(scope="session")
def parsed(made: Made) -> dict[Path, Page]:
    return {path: Page(path.read_text(encoding="utf-8")) for path in made.root.rglob("*.html")}
