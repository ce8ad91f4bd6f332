"""One small site for all tests of it: every verdict, a stand-in, failures, hostile names."""

import dataclasses
import math
import sqlite3
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from experiments.configuration.build import experiment_job
from experiments.configuration.jobs import Job, Printed, Source
from experiments.contract.claims import Claim
from experiments.contract.outcome import Outcome, axis
from experiments.records.record import Record
from experiments.records.store import RunStore
from experiments.records.told import Told
from experiments.report import site
from experiments.running.provenance import environment
from experiments.running.work import compute
from experiments.sweeping import run
from experiments.sweeping.plan import Cell, Plan, Rows

EVIL = "<script>alert('x')</script>"
QUOTED = '" onmouseover="alert(1)'
MLFLOW = "http://127.0.0.1:5000/#/experiments/7/runs/abc123?workflowType=machine_learning"

CLAIMS = {
    "fcml/fig-8.7": [
        Claim(says="third order is best", value="argmin(loo_loss)", printed="3"),
        Claim(says="our own", holds="1 <= argmin(loo_loss) <= 8", origin="derived"),
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
        Claim(says="a surprise", value="argmin(loo_loss)", printed="7"),
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
        found = [attributes.get(name) for _, attributes in self.tags for name in ("href", "src")]
        return [link for link in found if link]


@dataclasses.dataclass
class Made:
    """A written site, and what it was made of."""

    outputs: Path
    records: dict[str, Record]
    told: list[str]

    names = NAMES
    claims = CLAIMS
    evil = EVIL
    mlflow = MLFLOW

    @property
    def root(self) -> Path:
        return self.outputs / "report"

    def write(self) -> Path:
        return site.write(
            self.records, NAMES, self.outputs, outdated=["prml/evil"], tell=self.told.append
        )

    def parse(self, text: str) -> Page:
        return Page(text)

    def text(self, url: str) -> str:
        return (self.root / url).read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Every verdict, a stand-in, a failed run, one never run, hostile names and a sweep."""
    outputs = tmp_path_factory.mktemp("outputs")
    store = RunStore(outputs)
    stated = experiment_job("fcml/fig-1.15")
    one_figure: dict[str, Any] = {"methods": ["loo"]}
    study = dataclasses.replace(stated.study, **one_figure)
    job = dataclasses.replace(stated, study=study)
    evil = axis("evil", [EVIL, "b"])
    outcome = Outcome(
        **compute(job).outcome,
        not_a_number=math.nan,
        repetitions=axis("draw", 3).of([1.0, 2.0, 3.0]),
        word=evil.of([EVIL, "b"]),
        long=evil.of([1 / 3, 2.0]),
    )
    records = {name: _record(store, job, name, outcome, i) for i, name in enumerate(CLAIMS)}
    failed = dataclasses.replace(job, experiment="prml/failed", printed=Printed(Source("prml")))
    error = {"type": "ZeroDivisionError", "message": EVIL, "traceback": ""}
    folder = store.write(failed, _facts(9), error=error).folder
    (folder.parent / "torn-1").mkdir()  # by a power cut
    (folder.parent / "torn-1" / "run.json").write_text("{")
    _sweep(outputs, job, records)
    _mlflow(outputs, records["fcml/fig-8.7"].id)
    built = Made(outputs, records, [])
    built.write()
    return built


def _record(store: RunStore, job: Job, name: str, outcome: Outcome, number: int) -> Record:
    changed = dataclasses.replace(
        job, experiment=name, printed=Printed(SOURCES[name], tuple(CLAIMS[name]))
    )
    return store.write(changed, _facts(number), outcome=outcome)


def _facts(number: int) -> dict[str, Any]:
    took = {"started": 1.7e9 + 60 * number, "seconds": 0.5 + number, "cpu_seconds": 0.25}
    return {**environment(), **took}


def _sweep(outputs: Path, job: Job, records: dict[str, Record]) -> None:
    cells = [Cell({"study.folds": value, "seed": seed}, job) for value in "57" for seed in "01"]
    metric = "argmin( loo_loss )"
    plan = Plan.of(cells, ["experiment=fcml/fig-8.7", "study.folds=5,7", EVIL], metric)
    record = records["fcml/fig-8.7"]
    folder = outputs / "sweeps" / plan.id
    folder.mkdir(parents=True)
    state = {"started": 1.7e9, "finished": 1.7e9 + 5, "status": "FINISHED", **environment()}
    rows = Rows(len(plan))
    for index in range(len(plan)):
        rows.add(index, Told.of(record, metric), metric)
    run.write(plan, state, rows, folder)


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
