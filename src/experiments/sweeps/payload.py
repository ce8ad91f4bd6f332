"""The MLflow runs of a sweep: the parent with counts, curves and files, and one per cell."""

import math
import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from bythebook.experiments.config.job import Job
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.registry import topic_of
from bythebook.experiments.core.study import studies
from bythebook.experiments.store.run_reader import read_run, verdict_summary
from bythebook.experiments.store.run_summary import RunSummary
from bythebook.experiments.sweeps.figures import MAX_LINES, main_metric
from bythebook.experiments.sweeps.plan import SweepPlan, SweepTable, short_name
from bythebook.experiments.sweeps.tables import cells_frame, metric_names
from bythebook.experiments.tracking.payload import (
    FAILED,
    FINISHED,
    LOGGED_IMAGES_TAG,
    RUN_ID_PLACEHOLDER,
    Payload,
    chart_images,
    params,
    run_payload,
    truncate_tags,
)
from bythebook.experiments.tracking.tracker import Tracker

SWEEP_TAG = "sweep"  # the tag of a cell with the id of its sweep
MAX_CELL_METRICS = 12  # metrics of a cell in MLflow; tables and records have all
MAX_CURVE_POINTS = 500  # points of a metric along a knob
MAX_NAMED_VALUES = 4  # values of a knob that the name of a sweep lists


def cell_payloads(
    plan: SweepPlan,
    cells: Iterable[tuple[int, RunSummary, Path]],
    parent: str | None,
    logged: Collection[str],
) -> list[Payload]:
    """The payloads of a sweep's cells.

    A run in MLflow has one parent. A run that is logged already, alone or below another sweep (its
    id is in `logged`), therefore gets a second entry below this sweep, with an id of its own.
    """
    payloads = []
    for index, summary, folder in cells:
        if summary.canonical:  # a published result: the complete payload
            payload = run_payload(read_run(folder), parent=parent, cell=plan.label(index))
        else:
            payload = _cell_payload(plan, index, summary, parent)
            with suppress(InputError):  # a corrupt record is reported by the command that reads it
                verdict = verdict_summary(summary, folder)
                payload.tags.update(truncate_tags({"verdict": verdict}))
        payload.tags[SWEEP_TAG] = plan.id
        if summary.id in logged:
            payload = replace(payload, record_id=duplicate_id(summary.id, plan))
        payloads.append(payload)
    return payloads


def _cell_payload(plan: SweepPlan, index: int, summary: RunSummary, parent: str | None) -> Payload:
    """The payload of a cell without the params and tags that the parent run carries."""
    start = int(1000 * summary.started)
    varied = _varied_parameters(plan)
    knobs = {
        name: value for name, value in summary.knobs.items() if varied is None or name in varied
    }
    tags = {
        "kind": "cell",
        "mlflow.parentRunId": parent or "",
        "experiment": summary.experiment or "",
        "item": summary.item,
        "error.type": summary.error["type"] if summary.error else "",
        "error.message": summary.error["message"] if summary.error else "",
    }
    return Payload(
        record_id=summary.id,
        experiment=summary.study,
        name=plan.label(index)[:250],
        status=FINISHED if summary.finished else FAILED,
        start=start,
        end=start + max(1, int(1000 * summary.seconds)),
        params=params(knobs, summary.seed),
        metrics=[(name, value, 0) for name, value in _main_metrics(summary, plan.metric)],
        tags=truncate_tags(tags),
    )


def _varied_parameters(plan: SweepPlan) -> set[str] | None:
    """The knobs that differ between the cells; None if the cells differ in other settings too."""
    if all(knob == "seed" or knob.startswith("study.") for knob in plan.swept):
        return {short_name(knob).partition(".")[0] for knob in plan.swept}
    return None


def _main_metrics(summary: RunSummary, metric: str | None) -> list[tuple[str, float]]:
    """Up to `MAX_CELL_METRICS` numbers: the sweep's metric, the study's main ones, the others."""
    extra = {name: value for name, value in summary.extra_metrics.items() if name == metric}
    known = {**extra, **summary.metrics}
    if not known:
        return []
    first = [name for name in (metric or "", *_headline_names(summary.study)) if name in known]
    numbers = [(name, known[name]) for name in dict.fromkeys([*first, *known])]
    return [(n, float(v)) for n, v in numbers if isinstance(v, int | float)][:MAX_CELL_METRICS]


@cache
def _headline_names(study: str) -> tuple[str, ...]:
    """The main metrics of a study, which lists of its runs show first."""
    known = studies().get(study)
    return tuple(known.headline) if known is not None else ()


def common_params(plan: SweepPlan, job: Job) -> dict[str, dict[str, str]]:
    """The params and tags that all cells of a sweep share; only the parent run carries them."""
    varied, source = _varied_parameters(plan), job.source
    if varied is None:
        return {"params": {}, "tags": {}}
    knobs = {name: value for name, value in job.config["knobs"].items() if name not in varied}
    tags = {
        "experiment": job.experiment or "",
        "book": source.book,
        "section": source.section,
        "item": source.item,
        "topic": topic_of(job.study.name),
        "data_grade": job.data_grade,
        "code_digest": job.code_hash,
    }
    return {"params": params(knobs), "tags": truncate_tags(tags)}


def duplicate_id(record_id: str, plan: SweepPlan) -> str:
    """The id of a run's second entry, below this sweep."""
    return f"{record_id}@{plan.id}"


class LoggedCells:
    """The runs that the store has below a sweep."""

    def __init__(self, plan: SweepPlan, tracker: Tracker | None) -> None:
        self.plan, self.tracker = plan, tracker
        self.children = tracker.child_runs(SWEEP_TAG, plan.id) if tracker is not None else set()

    def __contains__(self, record_id: str) -> bool:
        return record_id in self.children or duplicate_id(record_id, self.plan) in self.children

    def logged_under_other_parent(self, record_ids: Sequence[str]) -> set[str]:
        """Those of these runs that the store has by now, but not below this sweep."""
        if self.tracker is None:
            return set()
        sweeps = self.tracker.find_logged(record_ids, SWEEP_TAG)
        return {record_id for record_id, sweep in sweeps.items() if sweep != self.plan.id}


def parent_payload(
    plan: SweepPlan, state: dict[str, Any], rows: SweepTable, files: dict[str, Path]
) -> Payload:
    """The payload of the parent run: counts, curves, tables and figure."""
    finished, failed = len(rows) - len(rows.errors), len(rows.errors)
    metrics: list[tuple[str, float, int]] = []
    if rows:
        metrics = [
            ("cells", float(len(plan)), 0),
            ("cells_finished", float(finished), 0),
            ("cells_failed", float(failed), 0),
            *_curves(plan, rows),
        ]
    note = f"{len(plan)} runs: `{_inline_code(plan.overrides)}`"
    artifacts = {name: path for name, path in files.items() if path.suffix != ".webp"}
    small = files.get("sweep.webp")
    if small is not None:
        note += f"\n\n![sweep](get-artifact?path=sweep.png&run_uuid={RUN_ID_PLACEHOLDER})"
        artifacts |= chart_images(small, plan.id, 0)  # a fixed time: an update keeps the name
    common = state.get("shared", {"params": {}, "tags": {}})
    tags = {
        **common["tags"],
        "kind": "sweep",
        "study": plan.study,
        "mlflow.user": state["user"],
        "mlflow.source.name": state["command"][:7900],
        "mlflow.source.type": "LOCAL",
        "mlflow.note.content": note,
        LOGGED_IMAGES_TAG: "True" if small is not None else "",
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
        name=run_name(plan)[:250],
        status=state["status"],
        start=int(1000 * state["started"]),
        end=int(1000 * state["finished"]) if "finished" in state else None,
        params={"overrides": " ".join(plan.overrides)[:6000], **common["params"]},
        metrics=metrics,
        tags={name: value for name, value in tags.items() if value},
        artifacts=artifacts,
        update=True,
    )


def run_name(plan: SweepPlan) -> str:
    """The name of the parent run; the swept values come first because lists cut long names."""
    item = plan.title.rpartition(" over ")[0]
    parts = [f"{short_name(knob)} {_values(plan.swept[knob])}" for knob in plan.varied_parameters]
    seeds = len(set(plan.swept.get("seed", ())))
    if seeds:
        parts.append(f"{seeds} seed{'s' if seeds > 1 else ''}")
    return f"{', '.join(parts) or 'one run'} ({item or plan.study})"


def _values(values: list[str]) -> str:
    """The values of a knob: all if they are few, else the first and the last."""
    different = list(dict.fromkeys(values))
    if len(different) <= MAX_NAMED_VALUES:
        return ", ".join(different)
    return f"{different[0]} to {different[-1]} ({len(different)})"


def _inline_code(words: Iterable[str]) -> str:
    """The content of inline code in Markdown, without the back-ticks that would end it."""
    return " ".join(" ".join(words).replace("`", "'").split())[:7000]


def _curves(plan: SweepPlan, rows: SweepTable) -> list[tuple[str, float, int]]:
    """Means along the first swept knob: of every metric, or with other knobs of the main one.

    The step is the value of the knob if it is an integer, else its index. MLflow gets at most
    `MAX_LINES` curves of `MAX_CURVE_POINTS` points; the tables have all.
    """
    if not plan.varied_parameters:
        return []
    first, *others = plan.varied_parameters
    table = cells_frame(plan, rows)
    names = metric_names(table, plan)
    if not names:
        return []
    values = list(dict.fromkeys(table[first]))
    integers = all(isinstance(value, int) and 0 <= value < 2**31 for value in values)
    steps = {value: value if integers else i for i, value in enumerate(values)}
    groups = list(table.groupby(others, sort=False))[:MAX_LINES] if others else [((), table)]
    if others:
        names = [main_metric(plan, table)]
    curves = []
    for label, part in groups:
        at = ", ".join(f"{short_name(k)}={v}" for k, v in zip(others, label, strict=True))
        means = part.groupby(first, sort=False)[names].mean()
        means = means.iloc[:: math.ceil(len(means) / MAX_CURVE_POINTS)]
        suffix = f" at {_metric_name(at)}" if at else ""
        curves += [
            (f"curves/mean {metric}{suffix}", float(value), steps[knob])
            for metric in means.columns
            for knob, value in means[metric].items()
            if not math.isnan(value)
        ]
    return curves


def _metric_name(text: str) -> str:
    """Replace the characters that MLflow does not allow in the name of a metric."""
    return re.sub(r"[^\w .,=:/()-]", "_", text)[:200]
