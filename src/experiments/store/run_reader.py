"""Readers of records and run summaries, from folders and packs."""

import os
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from bythebook.experiments.core import atomic_files
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.verdicts import summarise_verdicts
from bythebook.experiments.store import packed, packs, run_json
from bythebook.experiments.store.record import Record
from bythebook.experiments.store.run_summary import (
    RunSummary,
    decompress_fields,
    decompress_summaries,
)


def has_older_format(folder: Path) -> bool:
    """Whether a run was recorded in an older format, by its first line."""
    path = folder / "run.json"
    if not path.is_file():  # reading a pipe would block
        return False
    try:
        with path.open("rb") as stream:
            version = run_json.read_format_version(stream.read(60))
    except OSError:
        return False
    return version is not None and version < run_json.FORMAT_VERSION


def read_run(folder: Path) -> Record:
    """The record of a run, by its folder, which may exist only as an address of a packed run."""
    path = folder / "run.json"
    try:
        raw, arrays = atomic_files.read_limited(path, run_json.MAX_FILE_BYTES), None
    except FileNotFoundError as error:
        entry = _packed_entry(folder)
        if entry is None:
            raise InputError(f"record {path} could not be read: {error}") from error
        path = entry.path
        try:
            raw, *arrays = packed.at(folder.parent).parts(entry)
        except packs.Torn as problem:
            raise InputError(f"record {folder.name} in {path} is invalid: {problem}") from None
    except OSError as error:
        raise InputError(f"record {path} could not be read: {error}") from error
    try:
        content = run_json.verify_and_parse(raw)
    except run_json.InvalidRecordError as error:
        raise InputError(f"record {path} is invalid: {error}") from error
    if content["id"] != folder.name:
        raise InputError(f"record {path} is invalid: it belongs to run {content['id']}")
    return Record(folder, content, arrays)


def load_summary(folder: Path, metric: str | None = None) -> RunSummary:
    """The summary of a run, by its folder, from its pack or from its record."""
    return summary_from_entry(_packed_entry(folder), folder, metric)


def summary_from_entry(entry: packed.Entry | None, folder: Path, metric: str | None) -> RunSummary:
    """The summary in a pack's entry if it is valid and has the metric, else from the record."""
    if entry is not None:
        group = _summaries(entry.path, entry.heads.start, entry.heads.stop)
        if group is not None and group[entry.place].id == folder.name:
            summary = group[entry.place]
            if summary.has_metric(metric):
                return summary
    return RunSummary.from_record(read_run(folder), metric)


def verdict_summary(run: RunSummary, folder: Path) -> str:
    """The counts of a run's verdicts as text, computed from its record."""
    return summarise_verdicts(read_run(folder).verdicts) if run.claims and run.finished else ""


def _packed_entry(folder: Path) -> packed.Entry | None:
    packs_of_folder = packed.at(folder.parent)
    return packs_of_folder.find(folder.name) or packs_of_folder.refresh().find(folder.name)


@lru_cache(maxsize=16)
def _summaries(pack: Path, start: int, stop: int) -> list[RunSummary] | None:
    content = _read_slice(pack, slice(start, stop))
    return None if content is None else decompress_summaries(content)


def load_summaries(entry: packed.Entry) -> list[dict[str, Any]] | None:
    """The fields of the summaries of all runs of a group; None if they are not valid."""
    content = _read_slice(entry.path, entry.heads)
    return None if content is None else decompress_fields(content)


def _read_slice(pack: Path, span: slice) -> bytes | None:
    with suppress(OSError), pack.open("rb") as stream:
        return os.pread(stream.fileno(), span.stop - span.start, span.start)
    return None


def first_completed(folders: Iterable[Path]) -> Record | None:
    """The first of some runs that finished and has a valid record."""
    for folder in folders:
        try:
            record = read_run(folder)
        except InputError:  # for example after a power failure; the run is repeated
            continue
        if record.finished:
            return record
    return None
