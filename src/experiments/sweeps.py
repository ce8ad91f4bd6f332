"""Sweeps: many runs over knob values, one folder and one MLflow parent for all of them.

A sweep is named by what its cells are, so issuing it again finds it again: cells that are done are
found, those that are missing are run, and the parent is brought up to date.
"""

import hashlib
import math
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from experiments.jobs import Job
from experiments.launchers import Launcher
from experiments.locks import shared
from experiments.outcome import dumps, loads
from experiments.payloads import FAILED, FINISHED, KILLED, RUNNING, Payload, payload
from experiments.provenance import environment, redacted
from experiments.records import Record, RunStore
from experiments.runner import Done, perform_all
from experiments.tracking import Tracker

if TYPE_CHECKING:
    import pandas as pd

FLUSH_SECONDS, FLUSH_CELLS = 2.0, 200
AT_WORK = ".at-work"  # a lock that a sweep's folder has while someone runs it


@dataclass(frozen=True)
class Cell:
    """One point of a sweep's grid."""

    swept: dict[str, str]  # knob -> value, as typed
    job: Job


@dataclass(frozen=True)
class Plan:
    """A sweep as recorded: what its cells are, without what it takes to run them."""

    id: str
    study: str
    title: str
    overrides: list[str]
    metric: str | None  # the quantity of the figure; the study's first by default
    swept: list[dict[str, str]]  # of each cell
    keys: list[str] = field(default_factory=list)  # of each cell's runs

    @classmethod
    def of(cls, cells: Sequence[Cell], overrides: Sequence[str], metric: str | None) -> "Plan":
        keys = dumps([[cell.swept, cell.job.key] for cell in cells])
        studies = list(dict.fromkeys(cell.job.study.name for cell in cells))
        items = list(dict.fromkeys(cell.job.title for cell in cells))
        knobs = [_short(knob) for knob in cells[0].swept]
        return cls(
            id="sweep-" + hashlib.sha256(keys.encode()).hexdigest()[:16],
            study=studies[0] if len(studies) == 1 else "sweeps",
            title=f"{items[0] if len(items) == 1 else 'several'} over {', '.join(knobs)}",
            overrides=[redacted(override) for override in overrides],
            metric=metric,
            swept=[cell.swept for cell in cells],
            keys=[cell.job.key for cell in cells],
        )

    @property
    def knobs(self) -> list[str]:
        """The swept knobs other than the seed, over which results are averaged."""
        return [knob for knob in self.swept[0] if knob != "seed"]

    def label(self, index: int) -> str:
        return ", ".join(f"{_short(knob)}={value}" for knob, value in self.swept[index].items())


class Row(NamedTuple):
    """What the tables need of a cell's record; the records themselves stay on disk."""

    run: str
    error: str | None  # type and message of what went wrong
    metrics: dict[str, Any]

    @classmethod
    def of(cls, record: Record) -> "Row":
        error = record["error"]
        metrics = record["outcome"]["metrics"]
        return cls(
            record.id,
            f"{error['type']}: {error['message']}" if error else None,
            {name: value for name, value in metrics.items() if not isinstance(value, str)},
        )


Rows = dict[int, Row]


def run_sweep(
    cells: Sequence[Cell],
    plan: Plan,
    outputs: Path,
    tracker: Tracker | None,
    launcher: Launcher,
    *,
    on_done: Callable[[Done], None],
    **options: Any,
) -> Rows:
    """Run a sweep's missing cells; tables, figure and the parent's last word whatever happened."""
    folder = outputs / "sweeps" / plan.id
    state: dict[str, Any] = {"started": time.time(), "status": RUNNING, **environment()}
    RunStore(outputs).sweep_leftovers()
    with shared(folder / AT_WORK):
        if not (folder / "sweep.json").exists():
            write(plan, state, {}, folder)  # if we are killed, `sync` knows whose the cells are
        parent = _Parent(plan, state, tracker)
        rows: Rows = {}
        status = KILLED
        try:
            jobs = [cell.job for cell in cells]
            with closing(perform_all(jobs, outputs, launcher, **options)) as performed:
                for done in performed:
                    rows[done.index] = Row.of(done.record)
                    parent.add(done)
                    on_done(done)
            status = FAILED if any(row.error for row in rows.values()) else FINISHED
        finally:
            state |= {"status": status, "finished": time.time()}
            parent.flush()
            if parent.logged_anything or not _is_written(folder, plan, rows):
                parent.close(rows, folder)
    return rows


def _is_written(folder: Path, plan: Plan, rows: Rows) -> bool:
    """Is this very sweep, finished with these runs, what the folder holds?"""
    try:
        _, state, runs = read_sweep(folder)
    except (OSError, ValueError):
        return False
    same = runs == [rows[i].run if i in rows else None for i in range(len(plan.swept))]
    return same and state["status"] == FINISHED


class _Parent:
    """The sweep's own MLflow run, and the children waiting to be logged under it."""

    def __init__(self, plan: Plan, state: dict[str, Any], tracker: Tracker | None) -> None:
        self.plan, self.state, self.tracker = plan, state, tracker
        self.logged = tracker.logged() if tracker is not None else set()
        self.run_id: str | None = None
        self.waiting: list[Done] = []
        self.flushed = time.monotonic()
        # A sweep whose cells are all found and logged costs the store one look and no write.
        self.logged_anything = tracker is not None and plan.id not in self.logged

    def add(self, done: Done) -> None:
        if self.tracker is None or done.record.id in self.logged:
            return
        self.waiting.append(done)
        if len(self.waiting) >= FLUSH_CELLS or time.monotonic() - self.flushed > FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        if self.tracker is not None and self.waiting:
            if self.run_id is None:
                begun = self.tracker.put([parent_payload(self.plan, self.state, {}, {})])
                self.run_id = begun.get(self.plan.id)
            cells = [(done.index, done.record) for done in self.waiting]
            self.tracker.put(child_payloads(self.plan, cells, self.run_id))
            self.logged_anything = True
        self.waiting, self.flushed = [], time.monotonic()

    def close(self, rows: Rows, folder: Path) -> None:
        """Tables and figure; and how it ended, even where the disk is full."""
        files: dict[str, Path] = {}
        try:
            files = write(self.plan, self.state, rows, folder)
        finally:
            if self.tracker is not None:
                self.tracker.put([parent_payload(self.plan, self.state, rows, files)])


def child_payloads(
    plan: Plan, cells: Iterable[tuple[int, Record]], parent: str | None
) -> list[Payload]:
    """What MLflow is to know of a sweep's cells."""
    return [payload(r, parent=parent, cell=plan.label(i)) for i, r in cells]


def parent_payload(
    plan: Plan, state: dict[str, Any], rows: Rows, files: dict[str, Path]
) -> Payload:
    """What MLflow is to know of the sweep itself: its counts, curves, tables and figure."""
    failed = sum(row.error is not None for row in rows.values())
    metrics: list[tuple[str, float, int]] = []
    if rows:
        metrics = [
            ("cells", float(len(plan.swept)), 0),
            ("cells_finished", float(len(rows) - failed), 0),
            ("cells_failed", float(failed), 0),
            *_curves(plan, rows),
        ]
    tags = {
        "kind": "sweep",
        "study": plan.study,
        "mlflow.user": state["user"],
        "mlflow.source.name": state["command"][:7900],
        "mlflow.source.type": "LOCAL",
        "mlflow.note.content": f"{len(plan.swept)} cells: `{_code(plan.overrides)}`",
        "git_commit": state["git"]["commit"] or "",
        "git_dirty": str(state["git"]["dirty"]).lower(),
    }
    return Payload(
        record_id=plan.id,
        experiment=plan.study,
        name=plan.title[:250],
        status=state["status"],
        start=int(1000 * state["started"]),
        end=int(1000 * state["finished"]) if "finished" in state else None,
        params={"overrides": " ".join(plan.overrides)[:6000]},
        metrics=metrics,
        tags={name: value for name, value in tags.items() if value},
        artifacts=files,
        update=True,
    )


def _code(words: Iterable[str]) -> str:
    """Words that stay code in Markdown: nothing in them ends it."""
    return " ".join(" ".join(words).replace("`", "'").split())[:7000]


def _curves(plan: Plan, rows: Rows) -> list[tuple[str, float, int]]:
    """Mean of every metric along the first swept knob; the step is the place on its grid."""
    table = long_table(plan, rows)
    knobs = plan.knobs
    if len(knobs) != 1:
        return []
    places = {value: i for i, value in enumerate(dict.fromkeys(table[knobs[0]]))}
    means = table.groupby(knobs[0], sort=False)[metric_names(table, plan)].mean()
    return [
        (f"mean {name}", float(value), places[knob])
        for name in means.columns
        for knob, value in means[name].items()
        if not math.isnan(value)
    ]


def long_table(plan: Plan, rows: Rows) -> "pd.DataFrame":
    """One row a cell: the swept knobs, the run, every scalar."""
    import pandas as pd

    lines: list[dict[str, Any]] = []
    for index, row in sorted(rows.items()):
        swept = {name: number_or_text(value) for name, value in plan.swept[index].items()}
        status = "failed" if row.error else "finished"
        error = (row.error or "").partition(":")[0]
        lines.append({**swept, "run": row.run, "status": status, "error": error, **row.metrics})
    return pd.DataFrame(lines)


def pivot_table(plan: Plan, table: "pd.DataFrame") -> "pd.DataFrame":
    """Mean and standard error over seeds for every combination of the other swept knobs."""
    import pandas as pd

    knobs = plan.knobs
    names = metric_names(table, plan)
    values = table[table["status"] == "finished"].astype(dict.fromkeys(names, float))
    if not knobs:
        values, knobs = values.assign(all="all"), ["all"]
    grouped = values.groupby(knobs, sort=False)[names]
    wide = grouped.agg(["mean", "sem"])
    words = {"mean": "mean", "sem": "s.e."}
    wide.columns = pd.Index([f"{column[0]} {words[column[1]]}" for column in wide.columns])
    wide.insert(0, "runs", grouped.size())
    return wide.reset_index()


def metric_names(table: "pd.DataFrame", plan: Plan) -> list[str]:
    fixed = {*plan.swept[0], "run", "status", "error"}
    return [str(name) for name in table.columns if name not in fixed]


def write(plan: Plan, state: dict[str, Any], rows: Rows, folder: Path) -> dict[str, Path]:
    """The plan with its runs, the long table, the pivot and the figure; each replaced whole."""
    runs = [rows[i].run if i in rows else None for i in range(len(plan.swept))]
    files = {"sweep.json": dumps({**asdict(plan), "runs": runs, "state": state}, indent=1)}
    found: dict[str, Path] = {}
    if rows:
        table = long_table(plan, rows)
        files["cells.csv"] = table.to_csv(index=False)
        if metric_names(table, plan):
            files["pivot.csv"] = pivot_table(plan, table).to_csv(index=False)
            found |= draw_sweep(plan, table, folder)
    for name, text in files.items():
        _replace(folder / name, text.encode())
        found[name] = folder / name
    return found


def read_sweep(folder: Path) -> tuple[Plan, dict[str, Any], list[str | None]]:
    """A recorded sweep: its plan, its state, and the run of each cell."""
    content = loads((folder / "sweep.json").read_text(encoding="utf-8"))
    runs, state = content.pop("runs"), content.pop("state")
    return Plan(**content), state, runs


def draw_sweep(plan: Plan, table: "pd.DataFrame", folder: Path) -> dict[str, Path]:
    """The swept metric against the first knob, a line for each value of the others."""
    names = metric_names(table, plan)
    varying = [name for name in names if table[name].nunique() > 1]
    metric = plan.metric if plan.metric in names else (varying or names)[0]
    from experiments import plotting

    knobs = plan.knobs
    pivot = pivot_table(plan, table)
    with plotting.style("screen"):
        figure, axes = plotting.panels()
        if not knobs:
            values = table.loc[table["status"] == "finished", metric].astype(float)
            axes.hist([value for value in values if math.isfinite(value)], bins="auto")
            axes.set(xlabel=metric, ylabel="runs")
        else:
            first, others = knobs[0], knobs[1:]
            groups = pivot.groupby(others, sort=False) if others else [((), pivot)]
            for label, part in groups:
                axes.errorbar(
                    part[first]
                    if part[first].dtype.kind in "if"
                    else [_plain(str(value)) for value in part[first]],
                    part[f"{metric} mean"],
                    yerr=part[f"{metric} s.e."].fillna(0.0),
                    marker="o",
                    capsize=2,
                    label=_line_label(others, label),
                )
            axes.set(xlabel=_short(first), ylabel=f"{metric}, mean and s.e. over seeds")
            if others:
                axes.legend()
        axes.set_title(_plain(plan.title))
        return {path.name: path for path in plotting.save(figure, folder, "sweep", ["png"])}


def _line_label(knobs: Sequence[str], values: Any) -> str:
    values = values if isinstance(values, tuple) else (values,)
    names = [_short(knob) for knob in knobs]
    pairs = zip(names, values, strict=False)
    return ", ".join(f"{name}={_plain(str(value))}" for name, value in pairs)


def _plain(text: str) -> str:
    """Text in a figure that is not to be read as mathematics."""
    return text.replace("$", r"\$")


def number_or_text(text: str) -> int | float | str:
    """A swept value as what it is, so that tables sort and figures scale."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _short(knob: str) -> str:
    return knob.removeprefix("study.")


def _replace(path: Path, content: bytes) -> None:
    aside = path.with_name(f".{uuid.uuid4().hex}")
    try:
        aside.write_bytes(content)
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
