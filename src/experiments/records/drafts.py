"""Runs that are made and not yet recorded, alone or as a group that shares a pack."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from experiments.configuration.jobs import Job
from experiments.contract.exact_json import dumps
from experiments.contract.outcome import Outcome
from experiments.records import packed, packs, seal
from experiments.records.reading import first_finished
from experiments.records.record import FAILED, FINISHED, KEPT, Record, digest
from experiments.records.told import Told
from experiments.records.told import packed as told_packed
from models.types import AnyArray


@dataclass
class Draft:
    """A run that is made and not yet recorded: all of its content but its number."""

    place: Path
    key: str
    content: dict[str, Any]
    large: dict[str, AnyArray]
    outcome: Outcome
    text: str  # the outcome as JSON

    @property
    def failed(self) -> bool:
        return bool(self.content["error"])

    def numbered(self, run_id: str, digests: dict[str, str]) -> dict[str, Any]:
        """The content of the record."""
        stated = {"format": seal.FORMAT, "id": run_id, **self.content}
        return {**stated, "digests": {**stated["digests"], **digests}}

    @cached_property
    def arrays(self) -> dict[str, bytes]:
        """The large arrays as bytes, by the names that they are kept under."""
        found = {}
        for name, array in self.large.items():
            stream = io.BytesIO()
            np.lib.format.write_array(stream, array, allow_pickle=False)
            found[f"{KEPT}{name}"] = stream.getvalue()
        return found

    def sealed(self, content: dict[str, Any]) -> str:
        """The text of the record."""
        return seal.sealed(content, {"outcome": self.text})

    def packed(self, run_id: str) -> tuple[Record, packs.Draft]:
        """The record, and what is put into a pack of it."""
        digests = {name: digest(content) for name, content in self.arrays.items()}
        content, arrays = self.numbered(run_id, digests), list(self.arrays.values())
        record = Record(self.place / run_id, content, arrays)
        vars(record)["outcome"] = self.outcome
        attempt = int(run_id.rpartition("-")[2])
        parts = [self.sealed(content).encode(), *arrays]
        return record, packs.Draft(self.key, attempt, not self.failed, parts)


def drafted(
    place: Path,
    job: Job,
    provenance: dict[str, Any],
    *,
    outcome: Outcome | None = None,
    error: dict[str, str] | None = None,
) -> Draft:
    """A run that is made, as it will be recorded in its place."""
    kept = Outcome() if outcome is None else outcome
    stated, large = kept.to_json()
    text = dumps(stated)
    content = {
        "key": job.key,
        "status": FAILED if error else FINISHED,
        "error": error,
        "experiment": job.experiment,
        "canonical": job.canonical,
        "grade": job.grade,
        "science": job.science,
        "printed": job.printed.content,
        "outcome": stated,
        "digests": {"outcome": digest(text.encode())},
        "provenance": {**provenance, "code": job.code, "data": job.data},
    }
    return Draft(place, job.key, content, large, kept, text)


class Group:
    """Runs of a place that are to be packed together."""

    def __init__(
        self, drafts: Sequence[Draft], there: packed.Packed, metric: str | None, *, adopt: bool
    ) -> None:
        self.drafts, self.there, self.metric, self.adopt = drafts, there, metric, adopt
        self.folders: list[Path] = []  # where each of them is

    def made(self) -> tuple[list[packs.Draft], bytes]:
        """What there is to write, with the numbers that are free: not what is there already."""
        self.folders = []
        written: list[packs.Draft] = []
        new: dict[str, list[packs.Draft]] = {}  # by key
        told: list[Told] = []
        for draft in self.drafts:
            place, mine = draft.place, new.setdefault(draft.key, [])
            numbers = [*self.there.numbers(draft.key), *(one.attempt for one in mine)]
            found = self._adopted(draft, numbers, mine)
            if found is None:
                found = f"{draft.key}-{max(numbers, default=0) + 1}"
                record, one = draft.packed(found)
                mine.append(one)
                written.append(one)
                told.append(Told.of(record, self.metric))
            self.folders.append(place / found)
        return written, told_packed(told) if told else b""

    def _adopted(self, draft: Draft, numbers: list[int], new: list[packs.Draft]) -> str | None:
        """The finished run that this one equals, if it is to be taken in its place."""
        if not self.adopt or draft.failed:
            return None
        for one in new:
            if one.finished:
                return f"{one.key}-{one.attempt}"
        there = first_finished(draft.place / f"{draft.key}-{n}" for n in reversed(numbers))
        return there.id if there is not None else None
