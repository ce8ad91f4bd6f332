"""Figures for MLflow: runs that were logged without get theirs when somebody is about to look."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path

from experiments.configuration import catalogue
from experiments.records import run_files
from experiments.records.reading import read
from experiments.records.record import Record
from experiments.records.store import RunStore
from experiments.running.pools import attempted, drawing_pool
from experiments.tracking.runs import IMAGES, headline, payload
from experiments.tracking.tracker import Tracker

BATCH = 20  # runs brought up to date at once


def illustrate(folders: Iterable[Path], tracker: Tracker, tell: Callable[[str], None]) -> int:
    """Draw the figures of runs that are logged without, on all cores; of how many there are."""
    bare = tracker.logged() - tracker.logged(IMAGES)
    wanted = {folder.name: folder for folder in folders if folder.name in bare}
    done, batch = 0, []
    for record in _drawn(list(wanted.values()), tell):
        if headline(record) is not None:
            batch.append(replace(payload(record), metrics=[], params={}, update=True))
        if len(batch) == BATCH:
            done += len(tracker.put(batch))
            batch = []
    return done + len(tracker.put(batch)) if batch else done


def latest(outputs: Path) -> Iterator[Path]:
    """The folder of the newest run of every experiment, in the order of the books."""
    store = RunStore(outputs)
    for name in catalogue.names():
        record = store.latest(name)
        if record is not None:
            yield record.folder


def _drawn(folders: Sequence[Path], tell: Callable[[str], None]) -> Iterator[Record]:
    """The records with their figures, as they come."""
    bare = []
    for folder in folders:
        if (folder / "figures").exists():
            yield read(folder)
        else:
            bare.append(folder)
    if not bare:
        return
    with drawing_pool() as pool:
        futures = {attempted(pool, _draw, folder): folder for folder in bare}
        for future in as_completed(futures):
            try:
                problem = future.result()
            except BrokenProcessPool:
                problem = "the process that drew them died"
            if problem:
                tell(f"run {futures[future].name} has no figures: {problem}")
            else:
                yield read(futures[future])


def _draw(folder: Path) -> str:
    """Draw; what went wrong, or nothing: a study may not draw what it recorded last year."""
    try:
        run_files.ensure_figures(read(folder))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""
