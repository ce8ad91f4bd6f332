"""`bythebook figures`: redraw the figures of recorded runs and sweeps; nothing is computed."""

import argparse
from collections.abc import Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from bythebook.experiments.api import selections
from bythebook.experiments.cli import console
from bythebook.experiments.cli.exit_codes import OK, UNEXPECTED
from bythebook.experiments.config.paths import ensure_writable, resolve_output_dir
from bythebook.experiments.config.validation import check_parameters
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.execution.process_pools import figure_pool, submit_safely
from bythebook.experiments.plotting import canvas
from bythebook.experiments.store import artifacts
from bythebook.experiments.store.run_reader import read_run
from bythebook.experiments.store.run_store import RunStore
from bythebook.experiments.sweeps import figures, recorded_sweeps

MAX_SERIAL_FIGURES = 3  # drawn in this process, faster than other processes start
RUN_PREFIX, SWEEP_PREFIX = "run:", selections.SWEEP_PREFIX
Task = tuple[Path, Path]  # the folder of a run or a sweep, and the folder for its figures


def main(options: argparse.Namespace) -> int:
    """Draw the newest run of each selected result; without a selection all results and sweeps."""
    outputs = resolve_output_dir(options.outputs)
    formats = options.format.split(",")
    canvas.check_formats(formats, options.style)
    folder = outputs / "figures" / options.style
    ids = [word for word in options.selection if word.startswith((RUN_PREFIX, SWEEP_PREFIX))]
    others = [word for word in options.selection if word not in ids]
    sweep_ids = [word.removeprefix(SWEEP_PREFIX) for word in ids if word.startswith(SWEEP_PREFIX)]
    if options.metric and not sweep_ids:
        raise InputError(
            "--metric needs a sweep; allowed: bythebook figures sweep:<id> --metric NAME"
        )
    for sweep_id in sweep_ids if options.metric else ():
        recorded_sweeps.find_sweep(outputs, sweep_id).check(options.metric, outputs)
    tasks = [
        task for word in ids for task in _tasks_by_id(word, outputs, folder, cells=options.cells)
    ]
    if others or not ids:
        names = selections.select_results(others, options.search, outputs)
        if len(names) == 1:
            check_parameters(names[0])
        tasks += _result_tasks(names, outputs, folder)
    if not options.selection:
        sweeps = sorted(path.parent for path in outputs.glob("sweeps/*/pivot.csv"))
        tasks += [(path, folder / "sweeps" / path.name) for path in sweeps]
    for _, target in tasks:
        ensure_writable(outputs, str(target.relative_to(outputs)))
    calls = [(*task, formats, options.style, options.metric) for task in tasks]
    if len(tasks) <= MAX_SERIAL_FIGURES:
        results = [_draw(*call) for call in calls]
    else:
        with figure_pool() as pool:
            futures = [submit_safely(pool, _draw, *call) for call in calls]
            results = [_result(future, task) for future, task in zip(futures, tasks, strict=True)]
    for problem in filter(None, (problem for _, problem in results)):
        console.notify(problem)
    console.out.print(f"{sum(n_files for n_files, _ in results)} figures in {folder}")
    return UNEXPECTED if any(problem for _, problem in results) else OK


def _result(future: "Future[tuple[int, str]]", task: Task) -> tuple[int, str]:
    try:
        return future.result()
    except BrokenProcessPool:
        return 0, f"could not draw {task[0].name}: the drawing process died"


def _result_tasks(names: list[str], outputs: Path, folder: Path) -> Iterator[Task]:
    store = RunStore(outputs)
    for name in names:
        record = store.latest_run(name)
        if record is None:
            console.notify(f"{name} has no recorded run; run `bythebook reproduce {name}` first")
        else:
            yield record.folder, folder / name


def _tasks_by_id(word: str, outputs: Path, folder: Path, *, cells: bool) -> Iterator[Task]:
    """The task of `run:<id>` or `sweep:<id>`, and with `cells` of every run of the sweep."""
    if word.startswith(RUN_PREFIX):
        record = RunStore(outputs).find(word.removeprefix(RUN_PREFIX))
        yield record.folder, folder / "runs" / record.id
        return
    sweep = recorded_sweeps.find_sweep(outputs, word.removeprefix(SWEEP_PREFIX))
    yield sweep.folder, folder / "sweeps" / sweep.id
    if cells:
        for path in filter(None, RunStore(outputs).locate_runs(sweep.runs)):
            yield path, folder / "sweeps" / sweep.id / path.name


def _draw(
    source: Path, target: Path, formats: list[str], style: str, metric: str | None
) -> tuple[int, str]:
    """The number of files and an error line; an older record may not fit today's study."""
    try:
        if source.parent.name != "sweeps":
            record = read_run(source)
            paths = artifacts.draw(record, target, formats, style) if record.finished else []
        elif metric or (source / "pivot.csv").exists():
            outputs = source.parents[1]
            cells = recorded_sweeps.load_cells(
                recorded_sweeps.find_sweep(outputs, source.name), outputs, metric
            )
            paths = figures.redraw_sweep(*cells, target, formats, style)
        else:  # no run of the sweep has a scalar metric
            paths = []
    except OSError:
        raise
    except InputError as error:  # the record is corrupt
        return 0, f"could not draw {source.name}: {error}"
    except Exception as error:
        return 0, f"could not draw {source.name}: {type(error).__name__}: {error}"
    return len(paths), ""
