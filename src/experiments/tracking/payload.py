"""The MLflow run of a record: names, params, metrics, tags, description and files."""

import dataclasses
import hashlib
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bythebook.experiments.core import summaries
from bythebook.experiments.core.exact_json import dumps
from bythebook.experiments.core.markdown import escape_markdown, inline_code
from bythebook.experiments.core.registry import topic_of
from bythebook.experiments.core.slugs import slugify
from bythebook.experiments.core.verdicts import summarise_verdicts
from bythebook.experiments.store import tags as own_tags
from bythebook.experiments.store.record import Record

RUN_ID_TAG = "bythebook.run_id"
VERDICT_DIGEST_TAG = "bythebook.judged"  # a digest of the verdicts that MLflow shows
RUN_ID_PLACEHOLDER = "{mlflow-run-id}"  # in a tag: replaced when MLflow's id is known
LOGGED_IMAGES_TAG = "mlflow.loggedImages"  # MLflow's mark of a run with images for its charts
RUNNING, FINISHED, FAILED, KILLED = "RUNNING", "FINISHED", "FAILED", "KILLED"


@dataclass(frozen=True)
class Payload:
    """The content of one MLflow run."""

    record_id: str
    experiment: str
    name: str
    status: str
    start: int  # in milliseconds
    end: int | None
    params: dict[str, str] = field(default_factory=dict)
    metrics: list[tuple[str, float, int]] = field(default_factory=list)  # name, value, step
    tags: dict[str, str] = field(default_factory=dict)
    artifacts: dict[str, Path] = field(default_factory=dict)  # from name in MLflow to file
    update: bool = False  # update a run that is logged already, for example a sweep's parent


def run_payload(record: Record, *, parent: str | None = None, cell: str | None = None) -> Payload:
    """The payload of a record; `cell` is the label of a cell in the sweep with run id `parent`."""
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
        tags=truncate_tags(_run_tags(record, facts, parent, "cell" if cell else "run")),
        artifacts={} if cell else _artifacts(record),
    )


def params(knobs: Mapping[str, Any], seed: int | None = None) -> dict[str, str]:
    """Knobs and seed as MLflow params."""
    texts = {name: str(value)[:6000] for name, value in knobs.items()}
    return texts if seed is None else {**texts, "seed": str(seed)}


def _metrics(record: Record) -> list[tuple[str, float, int]]:
    metrics = [
        (name, float(value), 0)
        for name, value in record.metrics.items()
        if isinstance(value, int | float)
    ]
    for name, (steps, values) in summaries.metric_curves(record.outcome).items():
        points = zip(steps, values, strict=True)
        # The UI shows the part before a slash as a section: curves come before numbers.
        metrics += [(f"curves/{name}", float(value), int(step)) for step, value in points]
    return metrics


def _run_tags(
    record: Record, facts: dict[str, Any], parent: str | None, kind: str
) -> dict[str, str]:
    source = record.source
    tags = {
        "kind": kind,
        "bythebook.key": record["key"],
        "study": record.study,
        "experiment": record["experiment"] or "",
        "book": source.book,
        "section": source.section,
        "item": source.item,
        "topic": topic_of(record.study),
        "verdict": summarise_verdicts(record.verdicts),
        VERDICT_DIGEST_TAG: verdict_digest(record),
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
    tags |= own_tags.read_tags(record.folder)
    if thumbnail(record) is not None:
        tags[LOGGED_IMAGES_TAG] = "True"
    return tags


def truncate_tags(tags: Mapping[str, str]) -> dict[str, str]:
    """Tags in the length that MLflow accepts, without empty ones."""
    return {name: value[:7900] for name, value in tags.items() if value}


def verdict_digest(record: Record) -> str:
    """A digest of the verdicts, the source and the tags, which can change after the run."""
    parts = [record.verdicts, dataclasses.asdict(record.source), own_tags.read_tags(record.folder)]
    text = dumps([part for part in parts if part])
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def verdict_update(record: Record) -> Payload:
    """The payload that updates verdicts, texts and tags of a run that is logged already."""
    return replace(run_payload(record), metrics=[], params={}, artifacts={}, update=True)


def description(record: Record) -> str:
    """The table of claims in Markdown, which MLflow shows on the page of the run."""
    source = record.source
    item, title = escape_markdown(source.item), escape_markdown(source.title)
    lines = [f"**{item}** {title}" if item else escape_markdown(record.title), ""]
    if record.verdicts:
        columns = ("claim", "tested", "printed", "computed", "verdict")
        lines += ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    for v in record.verdicts:
        computed = v["evidence"] or v["computed"]
        says = v["says"] + (" (derived)" if v["origin"] == "derived" else "")
        rest = [escape_markdown(cell) for cell in (v["printed"] or "", computed, v["standing"])]
        tested = inline_code(v["expression"]).replace("|", "\\|")
        lines.append(f"| {' | '.join([escape_markdown(says), tested, *rest])} |")
    if source.note:
        lines += ["", escape_markdown(source.note)]
    small = thumbnail(record)
    if small is not None:
        address = f"get-artifact?path=figures/{small.stem}.png&run_uuid={RUN_ID_PLACEHOLDER}"
        lines += ["", f"![{small.stem}]({address})"]
    if record["error"]:
        lines += [
            "",
            escape_markdown(f"Failed: {record['error']['type']}: {record['error']['message']}"),
        ]
    return "\n".join(lines)


def _artifacts(record: Record) -> dict[str, Path]:
    files = {path.name: path for path in record.folder.glob("*.*") if _is_plain_file(path)}
    for pattern in ("figures/*.png", "tables/*.csv"):
        for path in filter(_is_plain_file, sorted(record.folder.glob(pattern))):
            files[path.relative_to(record.folder).as_posix()] = path
    small = thumbnail(record)
    if small is not None:
        end = int(1000 * (record["provenance"]["started"] + record["provenance"]["seconds"]))
        files |= chart_images(small, record.id, end)
    return files


def chart_images(small: Path, record_id: str, stamp: int) -> dict[str, Path]:
    """A figure under the name that MLflow requires of images among the charts.

    All runs have the same key (the part before the tilde), so that the UI shows their figures side
    by side. The key starts with a section, which sorts before that of the curves.
    """
    unique = uuid.uuid5(uuid.NAMESPACE_OID, record_id)
    name = f"images/at a glance~figure+step+0+timestamp+{stamp}+{unique}"
    return {f"{name}.png": small.with_suffix(".png"), f"{name}+compressed.webp": small}


def thumbnail(record: Record) -> Path | None:
    """The small copy of a run's first figure."""
    files = (path for path in sorted(record.folder.glob("figures/*.webp")) if _is_plain_file(path))
    return next(files, None)


def _is_plain_file(path: Path) -> bool:
    """Whether it is a file, not a link, with a name that has no special characters of Markdown."""
    return path.is_file() and not path.is_symlink() and slugify(path.stem) == path.stem
