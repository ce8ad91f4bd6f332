"""Robustness: in how many seeds a claim comes out as its file expects.

A result with chance in it is run with other seeds, like the cells of a sweep; a result without is
known by its record (`chance`) and needs no second run. The summary is a small file beside the runs,
and counts only where the code is still that of the runs.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from experiments.configuration.jobs import Job
from experiments.contract.claims import Claim, Verdict
from experiments.contract.errors import BadInput
from experiments.contract.verdicts import UNTESTED
from experiments.contract.whole import mapping, replaced_text
from experiments.records.record import Record
from experiments.sweeping.plan import Cell

FILE = "robustness.json"
STEADY = 0.95  # of the seeds: what comes out the same in fewer is fragile
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


def count(counts: Counts, job: Job, record: Record) -> None:
    """Add a run to the counts of the job's claims; a failed one bears none of them out.

    What the data at hand cannot test comes out as untested in every seed, and is not counted. A
    claim that has nothing to speak of in some seed is not borne out there, and stops no other.
    """
    if record.finished:
        _ = record.outcome  # one that cannot be read is no seed in which a claim fails
    for claim in job.claims:
        verdict = _verdict(claim, record) if record.finished else None
        if verdict is not None and verdict.verdict == UNTESTED:
            continue
        seeds = counts.setdefault(claim.says, [0, 0])
        seeds[0] += verdict is not None and verdict.as_expected
        seeds[1] += 1


def _verdict(claim: Claim, record: Record) -> Verdict | None:
    try:
        return record.judged(claim)
    except BadInput:
        return None


def is_fragile(seeds: Sequence[int]) -> bool:
    """Does it come out as expected in fewer than 95 % of the seeds?"""
    return seeds[0] < STEADY * seeds[1]


def remember(outputs: Path, found: Mapping[str, tuple[str, Counts]]) -> None:
    """Put the counts of some experiments, each with the code it ran with, into the summary."""
    known = mapping(outputs / FILE)
    known |= {name: {"code": code, "claims": counts} for name, (code, counts) in found.items()}
    replaced_text(outputs / FILE, json.dumps(known, indent=1, ensure_ascii=False))


def remembered(outputs: Path, record: Record) -> Counts:
    """The counts for an experiment's run; none where its code has changed since."""
    entry: Any = mapping(outputs / FILE).get(str(record["experiment"]))
    same = isinstance(entry, dict) and entry.get("code") == record["provenance"]["code"]
    if not same or not record["canonical"]:
        return {}
    claims = entry.get("claims")
    whole = isinstance(claims, dict) and all(map(_is_count, claims.values()))
    return dict(claims) if whole else {}


def _is_count(seeds: Any) -> bool:
    plain = isinstance(seeds, list) and len(seeds) == 2 and all(type(n) is int for n in seeds)
    return plain and 0 <= seeds[0] <= seeds[1] and seeds[1] > 0


def in_words(seeds: Iterable[int]) -> str:
    """`19 of 20 seeds`."""
    same, of = seeds
    return f"{same} of {of} seeds"
