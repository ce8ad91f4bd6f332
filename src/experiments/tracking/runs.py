"""What MLflow is told of a recorded run: names, params, metrics, tags, description and files."""

import dataclasses
import hashlib
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from experiments.contract import views
from experiments.contract.exact_json import dumps
from experiments.contract.markdown import code, words
from experiments.contract.places import topic
from experiments.contract.slugs import slug
from experiments.contract.verdicts import in_words
from experiments.records import tags as own_tags
from experiments.records.record import Record

RUN_ID = "bythebook.run_id"
JUDGED = "bythebook.judged"  # a digest of the verdicts that MLflow shows
MLFLOW_ID = "{mlflow-run-id}"  # in a tag: filled in when MLflow's id is known
IMAGES = "mlflow.loggedImages"  # says MLflow that a run has images to show among its charts
RUNNING, FINISHED, FAILED, KILLED = "RUNNING", "FINISHED", "FAILED", "KILLED"


@dataclass(frozen=True)
class Payload:
    """What MLflow is to know of one run."""

    record_id: str
    experiment: str
    name: str
    status: str
    start: int  # milliseconds, as MLflow counts
    end: int | None
    params: dict[str, str] = field(default_factory=dict)
    metrics: list[tuple[str, float, int]] = field(default_factory=list)  # name, value, step
    tags: dict[str, str] = field(default_factory=dict)
    artifacts: dict[str, Path] = field(default_factory=dict)  # name in MLflow -> file
    update: bool = False  # bring a run that is already there up to date (a sweep's parent)


def payload(record: Record, *, parent: str | None = None, cell: str | None = None) -> Payload:
    """What MLflow is to know of a record. A sweep's cell is named after what was swept."""
    science, facts = record["science"], record["provenance"]
    start = int(1000 * facts["started"])
    return Payload(
        record_id=record.id,
        experiment=science["study"],
        name=(cell or record.title)[:250],
        status=FINISHED if record.finished else FAILED,
        start=start,
        end=start + max(1, int(1000 * facts["seconds"])),
        params=params(science["knobs"], science["seed"]),
        metrics=_metrics(record),
        tags=clipped(_tags(record, facts, parent, "cell" if cell else "run")),
        artifacts={} if cell else _artifacts(record),
    )


def params(knobs: Mapping[str, Any], seed: int | None = None) -> dict[str, str]:
    """Knobs and seed as MLflow keeps them."""
    found = {name: str(value)[:6000] for name, value in knobs.items()}
    return found if seed is None else {**found, "seed": str(seed)}


def _metrics(record: Record) -> list[tuple[str, float, int]]:
    found = [
        (name, float(value), 0)
        for name, value in record.metrics.items()
        if isinstance(value, int | float)
    ]
    for name, (steps, values) in views.curves(record.outcome).items():
        points = zip(steps, values, strict=True)
        # The UI draws what stands before a slash as a section of its own: curves before numbers.
        found += [(f"curves/{name}", float(value), int(step)) for step, value in points]
    return found


def _tags(record: Record, facts: dict[str, Any], parent: str | None, kind: str) -> dict[str, str]:
    source = record.source
    tags = {
        "kind": kind,
        "bythebook.key": record["key"],
        "study": record.study,
        "experiment": record["experiment"] or "",
        "book": source.book,
        "section": source.section,
        "item": source.item,
        "topic": topic(record.study),
        "verdict": in_words(record.verdicts),
        JUDGED: judged(record),
        "data_grade": record["grade"],
        "seed": str(record["science"]["seed"]),
        "code_digest": facts["code"],
        "data_digest": " ".join(f"{k}:{v['sha256'][:12]}" for k, v in facts["data"].items()),
        "git_commit": facts["git"]["commit"] or "",
        "git_dirty": str(facts["git"]["dirty"]).lower(),
        "platform": facts["platform"],
        "python": facts["python"],
        **{f"version.{name}": value for name, value in facts["packages"].items()},
        "mlflow.user": facts["user"],
        "mlflow.source.name": facts["command"],
        "mlflow.source.type": "LOCAL",
        "mlflow.note.content": description(record),
    }
    if facts["git"]["commit"]:
        tags["mlflow.source.git.commit"] = facts["git"]["commit"]
    if record["error"]:
        tags["error.type"] = record["error"]["type"]
        tags["error.message"] = record["error"]["message"]
    if parent:
        tags["mlflow.parentRunId"] = parent
    tags |= own_tags.read(record.folder)
    if headline(record) is not None:
        tags[IMAGES] = "True"
    return tags


def clipped(tags: Mapping[str, str]) -> dict[str, str]:
    """Tags of a length that MLflow takes; empty ones say nothing."""
    return {name: value[:7900] for name, value in tags.items() if value}


def judged(record: Record) -> str:
    """A digest of what MLflow shows of the verdicts: claims may be worded or judged anew."""
    shown = [record.verdicts, dataclasses.asdict(record.source), own_tags.read(record.folder)]
    text = dumps([part for part in shown if part])
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def refreshed(record: Record) -> Payload:
    """The verdicts and words of a run that is logged already."""
    return replace(payload(record), metrics=[], params={}, artifacts={}, update=True)


def description(record: Record) -> str:
    """The claims table in Markdown, as MLflow shows it on the run's page."""
    source = record.source
    item, title = words(source.item), words(source.title)
    lines = [f"**{item}** {title}" if item else words(record.title), ""]
    if record.verdicts:
        columns = ("claim", "tested", "printed", "computed", "verdict")
        lines += ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    for v in record.verdicts:
        computed = v["evidence"] or v["computed"]
        says = v["says"] + (" (derived)" if v["origin"] == "derived" else "")
        said = [words(cell) for cell in (v["printed"] or "", computed, v["standing"])]
        tested = code(v["expression"]).replace("|", "\\|")
        lines.append(f"| {' | '.join([words(says), tested, *said])} |")
    if source.note:
        lines += ["", words(source.note)]
    small = headline(record)
    if small is not None:
        address = f"get-artifact?path=figures/{small.stem}.png&run_uuid={MLFLOW_ID}"
        lines += ["", f"![{small.stem}]({address})"]
    if record["error"]:
        lines += ["", words(f"Failed: {record['error']['type']}: {record['error']['message']}")]
    return "\n".join(lines)


def _artifacts(record: Record) -> dict[str, Path]:
    found = {path.name: path for path in record.folder.glob("*.*") if _is_ours(path)}
    for pattern in ("figures/*.png", "tables/*.csv"):
        for path in filter(_is_ours, sorted(record.folder.glob(pattern))):
            found[path.relative_to(record.folder).as_posix()] = path
    small = headline(record)
    if small is not None:
        end = int(1000 * (record["provenance"]["started"] + record["provenance"]["seconds"]))
        found |= glance(small, record.id, end)
    return found


def glance(small: Path, record_id: str, stamp: int) -> dict[str, Path]:
    """A figure named as MLflow names the images that it shows among the charts.

    One key for every run, so that they stand side by side when runs are compared; what is before
    the tilde is a section of its own, and the alphabet puts this one before the curves.
    """
    unique = uuid.uuid5(uuid.NAMESPACE_OID, record_id)
    name = f"images/at a glance~figure+step+0+timestamp+{stamp}+{unique}"
    return {f"{name}.png": small.with_suffix(".png"), f"{name}+compressed.webp": small}


def headline(record: Record) -> Path | None:
    """The small copy of a run's first figure."""
    found = (path for path in sorted(record.folder.glob("figures/*.webp")) if _is_ours(path))
    return next(found, None)


def _is_ours(path: Path) -> bool:
    """A file of a name that we give: no link to one elsewhere, and nothing that is Markdown."""
    return path.is_file() and not path.is_symlink() and slug(path.stem) == path.stem
