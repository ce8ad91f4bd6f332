"""A record by its address: from its folder or its pack, if it is what was written there."""

import os
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from experiments.contract import whole
from experiments.contract.errors import BadInput
from experiments.contract.verdicts import in_words
from experiments.records import packed, packs, seal
from experiments.records.record import Record
from experiments.records.told import Told
from experiments.records.told import fields as told_fields
from experiments.records.told import unpacked as told_unpacked


def is_older(folder: Path) -> bool:
    """Was a run recorded in a format that came before this one? Its first line says so."""
    path = folder / "run.json"
    if not path.is_file():  # a pipe would be waited for
        return False
    try:
        with path.open("rb") as stream:
            stated = seal.stated_format(stream.read(60))
    except OSError:
        return False
    return stated is not None and stated < seal.FORMAT


def read(folder: Path) -> Record:
    """A record by its address, from its folder or its pack, if it is what was written there."""
    path = folder / "run.json"
    try:
        raw, arrays = whole.content(path, seal.LARGEST), None
    except FileNotFoundError as error:
        entry = _packed_entry(folder)
        if entry is None:
            raise BadInput(f"the record {path} cannot be read: {error}") from error
        path = entry.path
        try:
            raw, *arrays = packed.at(folder.parent).parts(entry)
        except packs.Torn as problem:
            raise BadInput(
                f"the record {folder.name} in {path} is passed over: {problem}"
            ) from None
    except OSError as error:
        raise BadInput(f"the record {path} cannot be read: {error}") from error
    try:
        content = seal.opened(raw)
    except seal.Broken as error:
        raise BadInput(f"the record {path} is passed over: {error}") from error
    if content["id"] != folder.name:
        raise BadInput(f"the record {path} is passed over: it is that of run {content['id']}")
    return Record(folder, content, arrays)


def told(folder: Path, metric: str | None = None) -> Told:
    """What is told of a run, by its address: as its pack has it, or as its record says."""
    return told_of(_packed_entry(folder), folder, metric)


def told_of(entry: packed.Entry | None, folder: Path, metric: str | None) -> Told:
    if entry is not None:
        group = _heads(entry.path, entry.heads.start, entry.heads.stop)
        if group is not None and group[entry.place].id == folder.name:
            found = group[entry.place]
            if found.knows(metric):
                return found
    return Told.of(read(folder), metric)


def verdict(run: Told, folder: Path) -> str:
    """The verdicts of a run in a few words, judged from its record now."""
    return in_words(read(folder).verdicts) if run.claims and run.finished else ""


def _packed_entry(folder: Path) -> packed.Entry | None:
    there = packed.at(folder.parent)
    return there.find(folder.name) or there.refresh().find(folder.name)


@lru_cache(maxsize=16)
def _heads(pack: Path, start: int, stop: int) -> list[Told] | None:
    content = _head_bytes(pack, slice(start, stop))
    return None if content is None else told_unpacked(content)


def told_of_group(entry: packed.Entry) -> list[dict[str, Any]] | None:
    """What is told of all runs of a group, the fields of each; None where that is lost."""
    content = _head_bytes(entry.path, entry.heads)
    return None if content is None else told_fields(content)


def _head_bytes(pack: Path, heads: slice) -> bytes | None:
    with suppress(OSError), pack.open("rb") as stream:
        return os.pread(stream.fileno(), heads.stop - heads.start, heads.start)
    return None


def first_finished(folders: Iterable[Path]) -> Record | None:
    """The first run of these that finished, and can be read."""
    for folder in folders:
        try:
            record = read(folder)
        except BadInput:  # torn by a power cut: the run is made again, under the next number
            continue
        if record.finished:
            return record
    return None
