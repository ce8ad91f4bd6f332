"""What MLflow is told of a sweep: its parent run with counts, curves and files, and its cells."""

import math
import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from experiments.configuration.jobs import Job
from experiments.contract.errors import BadInput
from experiments.contract.places import topic
from experiments.contract.study import studies
from experiments.records.reading import read, verdict
from experiments.records.told import Told
from experiments.sweeping.figure import LINES, headline
from experiments.sweeping.plan import Plan, Rows, short
from experiments.sweeping.tables import long_table, metric_names
from experiments.tracking.runs import (
    FAILED,
    FINISHED,
    IMAGES,
    MLFLOW_ID,
    Payload,
    clipped,
    glance,
    params,
    payload,
)
from experiments.tracking.tracker import Tracker

SWEEP = "sweep"  # the tag of a cell: whose it is
NUMBERS = 12  # metrics of a cell; tables and records have all
CURVE = 500  # points of a metric along a knob
NAMED = 4  # values of a knob that a sweep's name has room for


def child_payloads(
    plan: Plan,
    cells: Iterable[tuple[int, Told, Path]],
    parent: str | None,
    logged: Collection[str],
) -> list[Payload]:
    """What MLflow is to know of a sweep's cells; one that is logged already is told again.

    A run has one parent there. A cell that was found, on its own or in another sweep, therefore has
    a second entry of its own name below this one.
    """
    found = []
    for index, told, folder in cells:
        if told.canonical:  # the book's result: all that is to be known of it
            made = payload(read(folder), parent=parent, cell=plan.label(index))
        else:
            made = _cell(plan, index, told, parent)
            with suppress(BadInput):  # it was damaged a moment ago: whoever reads it is told
                made.tags.update(clipped({"verdict": verdict(told, folder)}))
        made.tags[SWEEP] = plan.id
        again = told.id in logged
        found.append(replace(made, record_id=again_id(told.id, plan)) if again else made)
    return found


def _cell(plan: Plan, index: int, told: Told, parent: str | None) -> Payload:
    """A cell: what tells it from the others; the rest is said once, by their parent."""
    start = int(1000 * told.started)
    varied = _varied(plan)
    knobs = {name: value for name, value in told.knobs.items() if varied is None or name in varied}
    tags = {
        "kind": "cell",
        "mlflow.parentRunId": parent or "",
        "experiment": told.experiment or "",
        "item": told.item,
        "error.type": told.error["type"] if told.error else "",
        "error.message": told.error["message"] if told.error else "",
    }
    return Payload(
        record_id=told.id,
        experiment=told.study,
        name=plan.label(index)[:250],
        status=FINISHED if told.finished else FAILED,
        start=start,
        end=start + max(1, int(1000 * told.seconds)),
        params=params(knobs, told.seed),
        metrics=[(name, value, 0) for name, value in _headline(told, plan.metric)],
        tags=clipped(tags),
    )


def _varied(plan: Plan) -> set[str] | None:
    """The knobs that tell the cells apart; None where the configurations differ otherwise too."""
    if all(knob == "seed" or knob.startswith("study.") for knob in plan.swept):
        return {short(knob).partition(".")[0] for knob in plan.swept}
    return None


def _headline(told: Told, metric: str | None) -> list[tuple[str, float]]:
    """The first numbers of a cell: what the sweep is about, the study's own, then the others."""
    known = {**{k: v for k, v in told.asked.items() if k == metric}, **told.metrics}
    if not known:
        return []
    first = [name for name in (metric or "", *_names(told.study)) if name in known]
    numbers = [(name, known[name]) for name in dict.fromkeys([*first, *known])]
    return [(n, float(v)) for n, v in numbers if isinstance(v, int | float)][:NUMBERS]


@cache
def _names(study: str) -> tuple[str, ...]:
    """What a list of a study's runs shows first."""
    known = studies().get(study)
    return tuple(known.headline) if known is not None else ()


def shared(plan: Plan, job: Job) -> dict[str, dict[str, str]]:
    """What the cells of a sweep have in common: params and tags that only their parent carries."""
    varied, source = _varied(plan), job.source
    if varied is None:
        return {"params": {}, "tags": {}}
    knobs = {name: value for name, value in job.science["knobs"].items() if name not in varied}
    tags = {
        "experiment": job.experiment or "",
        "book": source.book,
        "section": source.section,
        "item": source.item,
        "topic": topic(job.study.name),
        "data_grade": job.grade,
        "code_digest": job.code,
    }
    return {"params": params(knobs), "tags": clipped(tags)}


def again_id(record_id: str, plan: Plan) -> str:
    """The name of a run's second entry, below this sweep."""
    return f"{record_id}@{plan.id}"


class Logged:
    """Which cells the store knows, and which of them hang below this sweep."""

    def __init__(self, plan: Plan, tracker: Tracker | None) -> None:
        self.plan, self.tracker = plan, tracker
        self.here = tracker.below(SWEEP, plan.id) if tracker is not None else set()

    def __contains__(self, record_id: str) -> bool:
        return record_id in self.here or again_id(record_id, self.plan) in self.here

    def elsewhere(self, record_ids: Sequence[str]) -> set[str]:
        """Those of these that the store knows by now, but not below this sweep."""
        found = self.tracker.among(record_ids, SWEEP) if self.tracker is not None else {}
        return {record_id for record_id, sweep in found.items() if sweep != self.plan.id}


def parent_payload(
    plan: Plan, state: dict[str, Any], rows: Rows, files: dict[str, Path]
) -> Payload:
    """What MLflow is to know of the sweep itself: its counts, curves, tables and figure."""
    finished, failed = len(rows) - len(rows.errors), len(rows.errors)
    metrics: list[tuple[str, float, int]] = []
    if rows:
        metrics = [
            ("cells", float(len(plan)), 0),
            ("cells_finished", float(finished), 0),
            ("cells_failed", float(failed), 0),
            *_curves(plan, rows),
        ]
    note = f"{len(plan)} cells: `{_code(plan.overrides)}`"
    artifacts = {name: path for name, path in files.items() if path.suffix != ".webp"}
    small = files.get("sweep.webp")
    if small is not None:
        note += f"\n\n![sweep](get-artifact?path=sweep.png&run_uuid={MLFLOW_ID})"
        artifacts |= glance(small, plan.id, 0)  # the same name when it is brought up to date
    common = state.get("shared", {"params": {}, "tags": {}})
    tags = {
        **common["tags"],
        "kind": "sweep",
        "study": plan.study,
        "mlflow.user": state["user"],
        "mlflow.source.name": state["command"][:7900],
        "mlflow.source.type": "LOCAL",
        "mlflow.note.content": note,
        IMAGES: "True" if small is not None else "",
        "git_commit": state["git"]["commit"] or "",
        "git_dirty": str(state["git"]["dirty"]).lower(),
        "platform": state["platform"],
        "python": state["python"],
        **{f"version.{name}": value for name, value in state["packages"].items()},
        **state.get("tags", {}),
    }
    return Payload(
        record_id=plan.id,
        experiment=plan.study,
        name=name(plan)[:250],
        status=state["status"],
        start=int(1000 * state["started"]),
        end=int(1000 * state["finished"]) if "finished" in state else None,
        params={"overrides": " ".join(plan.overrides)[:6000], **common["params"]},
        metrics=metrics,
        tags={name: value for name, value in tags.items() if value},
        artifacts=artifacts,
        update=True,
    )


def name(plan: Plan) -> str:
    """What was swept first: lists cut names at their end, and sweeps of one study differ here."""
    item = plan.title.rpartition(" over ")[0]
    parts = [f"{short(knob)} {_values(plan.swept[knob])}" for knob in plan.knobs]
    seeds = len(set(plan.swept.get("seed", ())))
    if seeds:
        parts.append(f"{seeds} seed{'s' if seeds > 1 else ''}")
    return f"{', '.join(parts) or 'one cell'} ({item or plan.study})"


def _values(values: list[str]) -> str:
    """The values of a knob: all of a few, the ends of many."""
    different = list(dict.fromkeys(values))
    if len(different) <= NAMED:
        return ", ".join(different)
    return f"{different[0]} to {different[-1]} ({len(different)})"


def _code(words: Iterable[str]) -> str:
    """Words that stay code in Markdown: nothing in them ends it."""
    return " ".join(" ".join(words).replace("`", "'").split())[:7000]


def _curves(plan: Plan, rows: Rows) -> list[tuple[str, float, int]]:
    """Means along the first swept knob: of every metric, or of the first for all other values.

    The step is the knob's value, or its place on the grid. Of more points or lines than a chart can
    show the tables have all, and MLflow some.
    """
    if not plan.knobs:
        return []
    first, *others = plan.knobs
    table = long_table(plan, rows)
    names = metric_names(table, plan)
    if not names:
        return []
    values = list(dict.fromkeys(table[first]))
    whole = all(isinstance(value, int) and 0 <= value < 2**31 for value in values)
    places = {value: value if whole else i for i, value in enumerate(values)}
    groups = list(table.groupby(others, sort=False))[:LINES] if others else [((), table)]
    if others:
        names = [headline(plan, table)]
    found = []
    for label, part in groups:
        at = ", ".join(f"{short(k)}={v}" for k, v in zip(others, label, strict=True))
        means = part.groupby(first, sort=False)[names].mean()
        means = means.iloc[:: math.ceil(len(means) / CURVE)]
        found += [
            (f"curves/mean {metric}{f' at {_plain(at)}' if at else ''}", float(value), places[knob])
            for metric in means.columns
            for knob, value in means[metric].items()
            if not math.isnan(value)
        ]
    return found


def _plain(text: str) -> str:
    """A part of a metric's name, of the characters that MLflow allows there."""
    return re.sub(r"[^\w .,=:/()-]", "_", text)[:200]
