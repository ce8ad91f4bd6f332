"""The MLflow runs of the printed equations: one run a book, with the gap of each equation."""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bythebook.experiments.config.catalogue import BOOKS, EQUATIONS, equation_claims
from bythebook.experiments.core.equations import describe_gap, find_equation
from bythebook.experiments.core.exact_json import dumps
from bythebook.experiments.core.markdown import escape_markdown
from bythebook.experiments.store.run_store import RunStore
from bythebook.experiments.tracking.payload import (
    FINISHED,
    VERDICT_DIGEST_TAG,
    Payload,
    truncate_tags,
)
from bythebook.experiments.tracking.tracker import Tracker


def log_equations(outputs: Path, tracker: Tracker, digests: Mapping[str, str]) -> int:
    """Log new gaps of recorded runs; return the number of books whose run was made or updated.

    `digests` maps the id of each logged record to its digest in MLflow.
    """
    payloads = [
        payload
        for payload in equation_payloads(outputs)
        if digests.get(payload.record_id) != payload.tags[VERDICT_DIGEST_TAG]
    ]
    if payloads:  # an empty call would read the store
        tracker.log_runs(payloads)
    return len(payloads)


def equation_payloads(outputs: Path) -> Iterator[Payload]:
    """The payload of each book, from the latest runs of the results that claim equations."""
    store, claims = RunStore(outputs), equation_claims()
    results = dict.fromkeys(result for names in claims.values() for result in names)
    gaps: dict[str, dict[str, Any]] = {}
    ends: dict[str, float] = {}
    for result in results:
        record = store.latest_run(result)
        for name, entry in (record.equations if record is not None else {}).items():
            if record is not None and name in claims:
                facts = record["provenance"]
                book, end = name.partition(".")[0], facts["started"] + facts["seconds"]
                gaps.setdefault(book, {})[name] = entry
                ends[book] = max(end, ends.get(book, 0.0))
    for book in filter(gaps.__contains__, BOOKS):
        yield _payload(book, gaps[book], int(1000 * ends[book]))


def _payload(book: str, gaps: Mapping[str, Mapping[str, Any]], end: int) -> Payload:
    metrics, lines = [], ["| equation | verdict | gap |", "| --- | --- | --- |"]
    for name, entry in gaps.items():
        equation = find_equation(name)
        verdict = equation.verdict(entry["gap"], entry["corrected_gap"])
        metrics.append((f"gap/{equation.function}", float(entry["gap"]), 0))
        if entry["corrected_gap"] is not None:
            metrics.append((f"corrected/{equation.function}", float(entry["corrected_gap"]), 0))
        says = escape_markdown(f"({equation.number}) {equation.says}")
        lines.append(f"| {says} | {verdict} | {describe_gap(entry['gap'])} |")
    digest = hashlib.sha256(dumps({"gaps": gaps, "lines": lines}).encode()).hexdigest()[:12]
    tags = {
        "kind": "equations",
        "study": EQUATIONS,
        "book": book,
        VERDICT_DIGEST_TAG: digest,
        "mlflow.note.content": "\n".join(lines),
    }
    return Payload(
        record_id=f"equations-{book}",
        experiment=EQUATIONS,
        name=f"equations {book}",
        status=FINISHED,
        start=end - 1,
        end=end,
        metrics=metrics,
        tags=truncate_tags(tags),
        update=True,
    )
