"""Draw and log the figures of runs that were logged without figures."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path

from bythebook.experiments.config import catalogue
from bythebook.experiments.execution.process_pools import figure_pool, submit_safely
from bythebook.experiments.store import artifacts
from bythebook.experiments.store.record import Record
from bythebook.experiments.store.run_reader import read_run
from bythebook.experiments.store.run_store import RunStore
from bythebook.experiments.tracking.payload import LOGGED_IMAGES_TAG, run_payload, thumbnail
from bythebook.experiments.tracking.tracker import Tracker

BATCH_SIZE = 20  # runs that are updated together


def log_missing_figures(
    folders: Iterable[Path], tracker: Tracker, notify: Callable[[str], None]
) -> int:
    """Draw and log the figures of runs logged without them; the result is the number of runs.

    All cores are used; `notify` is called with a line for each run that cannot be drawn.
    """
    incomplete = tracker.logged_ids() - tracker.logged_ids(LOGGED_IMAGES_TAG)
    by_id = {folder.name: folder for folder in folders if folder.name in incomplete}
    done, batch = 0, []
    for record in _records_with_figures(list(by_id.values()), notify):
        if thumbnail(record) is not None:
            batch.append(replace(run_payload(record), metrics=[], params={}, update=True))
        if len(batch) == BATCH_SIZE:
            done += len(tracker.log_runs(batch))
            batch = []
    return done + len(tracker.log_runs(batch)) if batch else done


def latest_run_dirs(outputs: Path) -> Iterator[Path]:
    """The folder of the newest run of each experiment, in the order of the books."""
    store = RunStore(outputs)
    for name in catalogue.experiment_names():
        record = store.latest_run(name)
        if record is not None:
            yield record.folder


def _records_with_figures(
    folders: Sequence[Path], notify: Callable[[str], None]
) -> Iterator[Record]:
    """Draw missing figures, and yield each record when its figures are complete."""
    to_draw = []
    for folder in folders:
        if (folder / "figures").exists():
            yield read_run(folder)
        else:
            to_draw.append(folder)
    if not to_draw:
        return
    with figure_pool() as pool:
        futures = {submit_safely(pool, _draw_figures, folder): folder for folder in to_draw}
        for future in as_completed(futures):
            try:
                problem = future.result()
            except BrokenProcessPool:
                problem = "the drawing process died"
            if problem:
                notify(f"could not draw the figures of run {futures[future].name}: {problem}")
            else:
                yield read_run(futures[future])


def _draw_figures(folder: Path) -> str:
    """Draw the figures, or return the error: today's study may not fit an older record."""
    try:
        artifacts.ensure_figures(read_run(folder))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""
