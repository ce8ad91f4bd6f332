"""Robustness: in how many seeds a claim comes out as its file expects.

A result with chance in it is run with other seeds, like the cells of a sweep; a result without is
known by its record (`chance`) and needs no second run. The summary is a small file beside the runs,
and counts only where the code is still that of the runs.
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from experiments.configuration.jobs import Job
from experiments.records.store import Record
from experiments.sweeping.plan import Cell

FILE = "robustness.json"
Counts = dict[str, list[int]]  # claim -> seeds in which it comes out as expected, seeds


def cells(jobs: Mapping[str, Job], seeds: int) -> list[Cell]:
    """Each experiment with every seed; the file's own seed is the experiment itself."""
    return [
        Cell(
            {"experiment": name, "seed": str(seed)},
            job if seed == job.seed else replace(job, seed=seed, canonical=False),
        )
        for name, job in jobs.items()
        for seed in range(seeds)
    ]


def counted(job: Job, records: Sequence[Record]) -> Counts:
    """For each of the job's claims: in how many of these runs it comes out as expected."""
    found: Counts = {}
    for claim in job.claims:
        verdicts = [record.judged(claim) for record in records if record.finished]
        found[claim.says] = [sum(v.as_expected for v in verdicts), len(records)]
    return found


def remember(outputs: Path, found: Mapping[str, tuple[str, Counts]]) -> None:
    """Put the counts of some experiments, each with the code it ran with, into the summary."""
    known = _read(outputs)
    known |= {name: {"code": code, "claims": counts} for name, (code, counts) in found.items()}
    aside = outputs / f".{FILE}-{os.getpid()}"
    aside.write_text(json.dumps(known, indent=1, ensure_ascii=False), encoding="utf-8")
    aside.replace(outputs / FILE)


def remembered(outputs: Path, record: Record) -> Counts:
    """The counts for an experiment's run; none where its code has changed since."""
    entry = _read(outputs).get(str(record["experiment"]), {})
    same = entry.get("code") == record["provenance"]["code"]
    return dict(entry["claims"]) if same and record["canonical"] else {}


def in_words(counts: Iterable[int]) -> str:
    """`19 of 20 seeds`."""
    same, of = counts
    return f"{same} of {of} seeds"


def _read(outputs: Path) -> dict[str, Any]:
    with suppress(OSError, ValueError):
        content = json.loads((outputs / FILE).read_text(encoding="utf-8"))
        return content if isinstance(content, dict) else {}
    return {}
