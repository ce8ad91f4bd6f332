"""Runs that are computed and not yet recorded, alone or as a batch for one pack."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from bythebook.experiments.config.job import Job
from bythebook.experiments.core.exact_json import dumps
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.store import packed, packs, run_json
from bythebook.experiments.store.record import ARRAY_PREFIX, FAILED, FINISHED, Record, sha256_hex
from bythebook.experiments.store.run_reader import first_completed
from bythebook.experiments.store.run_summary import RunSummary, compress_summaries
from bythebook.models.types import AnyArray


@dataclass
class PendingRun:
    """A computed run before it is recorded: its content without a run id."""

    folder: Path
    key: str
    content: dict[str, Any]
    large_arrays: dict[str, AnyArray]
    outcome: Outcome
    text: str  # the outcome as JSON

    @property
    def failed(self) -> bool:
        """Whether the run ended with an error."""
        return bool(self.content["error"])

    def with_run_id(self, run_id: str, digests: dict[str, str]) -> dict[str, Any]:
        """The content of the record under a run id."""
        content = {"format": run_json.FORMAT_VERSION, "id": run_id, **self.content}
        return {**content, "digests": {**content["digests"], **digests}}

    @cached_property
    def arrays(self) -> dict[str, bytes]:
        """The large arrays as bytes, by their names in the record."""
        encoded = {}
        for name, array in self.large_arrays.items():
            stream = io.BytesIO()
            np.lib.format.write_array(stream, array, allow_pickle=False)
            encoded[f"{ARRAY_PREFIX}{name}"] = stream.getvalue()
        return encoded

    def to_text(self, content: dict[str, Any]) -> str:
        """The text of the record, with its checksum."""
        return run_json.add_checksum(content, {"outcome": self.text})

    def pack_entry(self, run_id: str) -> tuple[Record, packs.Draft]:
        """The record under a run id, and its entry of a pack."""
        digests = {name: sha256_hex(content) for name, content in self.arrays.items()}
        content, arrays = self.with_run_id(run_id, digests), list(self.arrays.values())
        record = Record(self.folder / run_id, content, arrays)
        vars(record)["outcome"] = self.outcome
        attempt = int(run_id.rpartition("-")[2])
        parts = [self.to_text(content).encode(), *arrays]
        return record, packs.Draft(self.key, attempt, not self.failed, parts)


def make_pending(
    folder: Path,
    job: Job,
    provenance: dict[str, Any],
    *,
    outcome: Outcome | None = None,
    error: dict[str, str] | None = None,
    equations: Mapping[str, Any] | None = None,
) -> PendingRun:
    """A computed run, to be recorded in a folder of runs; `equations` has gaps by name."""
    outcome = Outcome() if outcome is None else outcome
    encoded, large_arrays = outcome.to_json()
    text = dumps(encoded)
    content = {
        "key": job.key,
        "status": FAILED if error else FINISHED,
        "error": error,
        "experiment": job.experiment,
        "canonical": job.canonical,
        "grade": job.data_grade,
        "science": job.config,
        "printed": job.published.content,
        "outcome": encoded,
        **({"equations": dict(equations)} if equations else {}),
        "digests": {"outcome": sha256_hex(text.encode())},
        "provenance": {**provenance, "code": job.code_hash, "data": job.data},
    }
    return PendingRun(folder, job.key, content, large_arrays, outcome, text)


class PendingBatch:
    """Runs of one folder that are written to a pack together."""

    def __init__(
        self, runs: Sequence[PendingRun], stored: packed.Packed, metric: str | None, *, adopt: bool
    ) -> None:
        self.runs, self.stored, self.metric, self.adopt = runs, stored, metric, adopt
        self.folders: list[Path] = []  # of each run

    def build(self) -> tuple[list[packs.Draft], bytes]:
        """Entries and compressed summaries of the runs that no stored run replaces."""
        self.folders = []
        entries: list[packs.Draft] = []
        by_key: dict[str, list[packs.Draft]] = {}
        summaries: list[RunSummary] = []
        for run in self.runs:
            same_key = by_key.setdefault(run.key, [])
            attempts = [*self.stored.numbers(run.key), *(entry.attempt for entry in same_key)]
            run_id = self._equal_run(run, attempts, same_key)
            if run_id is None:
                run_id = f"{run.key}-{max(attempts, default=0) + 1}"
                record, entry = run.pack_entry(run_id)
                same_key.append(entry)
                entries.append(entry)
                summaries.append(RunSummary.from_record(record, self.metric))
            self.folders.append(run.folder / run_id)
        return entries, compress_summaries(summaries) if summaries else b""

    def _equal_run(
        self, run: PendingRun, attempts: list[int], same_key: list[packs.Draft]
    ) -> str | None:
        """The id of a finished run with the same key, if such a run is used instead."""
        if not self.adopt or run.failed:
            return None
        for entry in same_key:
            if entry.finished:
                return f"{entry.key}-{entry.attempt}"
        record = first_completed(run.folder / f"{run.key}-{n}" for n in reversed(attempts))
        return record.id if record is not None else None
