"""Robustness: the number of seeds with which a claim gets the verdict that its file expects.

A stochastic result is run with other seeds, like the cells of a sweep. The record of a
deterministic result says so (the field "chance"), and no second run is needed. The counts are in a
small file in the outputs folder; they are valid only while the code is that of the runs.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bythebook.experiments.config.job import Job
from bythebook.experiments.core.atomic_files import read_json_or_empty, write_text_atomic
from bythebook.experiments.core.claims import Claim
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.judging import Verdict
from bythebook.experiments.core.verdicts import UNTESTED
from bythebook.experiments.store.record import Record
from bythebook.experiments.sweeps.plan import SweepCell

FILE = "robustness.json"
MIN_AGREEMENT = 0.95  # of the seeds; a claim with less agreement is fragile
Counts = dict[str, list[int]]  # claim key -> [seeds with the expected verdict, all seeds]


def claim_key(claim: Claim | Mapping[str, Any]) -> str:
    """The identity of a claim or verdict: its expression, printed value and second text.

    Rewording the sentence of a claim keeps its key, as it keeps its anchor in the report.
    """
    if isinstance(claim, Claim):
        parts = [claim.expression, claim.printed_text, claim.place]
    else:
        parts = [claim["expression"], claim["printed"], claim["place"]]
    return " | ".join(part for part in parts if part)


def claim_keys(claims: Iterable[Claim | Mapping[str, Any]]) -> list[str]:
    """The keys of the claims of a result; a repeated key gets a number."""
    counts: Counter[str] = Counter()
    keys = []
    for key in map(claim_key, claims):
        counts[key] += 1
        keys.append(f"{key} ({counts[key]})" if counts[key] > 1 else key)
    return keys


def seed_cells(jobs: Mapping[str, Job], seeds: int) -> list[SweepCell]:
    """Each experiment with every seed; with the seed of its file it is the published result."""
    return [
        SweepCell(
            {"experiment": name, "seed": str(seed)},
            job if seed == job.seed else replace(job, seed=seed, canonical=False),
        )
        for name, job in jobs.items()
        for seed in range(seeds)
    ]


def update_counts(counts: Counts, job: Job, record: Record) -> None:
    """Add a run to the counts of the job's claims; in a failed run no claim is as expected.

    A claim that is untested with the available data is untested with every seed and is not counted,
    nor is an equation, whose cases do not depend on the seed of the run.
    A claim that cannot be evaluated with some seed is not as expected with that seed.
    """
    if record.finished:
        _ = record.outcome  # raises if the record cannot be read: that is not a failed claim
    for key, claim in zip(claim_keys(job.claims), job.claims, strict=True):
        if claim.equation is not None:
            continue
        verdict = _verdict(claim, record) if record.finished else None
        if verdict is not None and verdict.verdict == UNTESTED:
            continue
        seeds = counts.setdefault(key, [0, 0])
        seeds[0] += verdict is not None and verdict.as_expected
        seeds[1] += 1


def _verdict(claim: Claim, record: Record) -> Verdict | None:
    try:
        return record.judge_claim(claim)
    except InputError:
        return None


def is_fragile(seeds: Sequence[int]) -> bool:
    """Whether the verdict is as expected with fewer than 95 % of the seeds."""
    return seeds[0] < MIN_AGREEMENT * seeds[1]


def save_counts(outputs: Path, counts_by_name: Mapping[str, tuple[str, Counts]]) -> None:
    """Store the counts of some experiments, each with the hash of the code that it ran with."""
    known = read_json_or_empty(outputs / FILE)
    known |= {
        name: {"code": code, "claims": counts} for name, (code, counts) in counts_by_name.items()
    }
    write_text_atomic(outputs / FILE, json.dumps(known, indent=1, ensure_ascii=False))


def load_counts(outputs: Path, record: Record) -> Counts:
    """The counts of an experiment's claims; none if its code has changed since the runs.

    Older files have counts by the words of a claim, which are read as well.
    """
    entry: Any = read_json_or_empty(outputs / FILE).get(str(record["experiment"]))
    same = isinstance(entry, dict) and entry.get("code") == record["provenance"]["code"]
    if not same or not record["canonical"]:
        return {}
    stored = entry.get("claims")
    if not isinstance(stored, dict) or not all(map(_is_count, stored.values())):
        return {}
    claims = record.published.claims
    by_key = {
        key: stored.get(key) or stored.get(claim.says)
        for key, claim in zip(claim_keys(claims), claims, strict=True)
    }
    return {key: seeds for key, seeds in by_key.items() if seeds}


def _is_count(seeds: Any) -> bool:
    integers = isinstance(seeds, list) and len(seeds) == 2 and all(type(n) is int for n in seeds)
    return integers and 0 <= seeds[0] <= seeds[1] and seeds[1] > 0


def format_counts(seeds: Iterable[int]) -> str:
    """`19 of 20 seeds`."""
    agreeing, total = seeds
    return f"{agreeing} of {total} seeds"
