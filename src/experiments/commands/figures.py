"""`bythebook figures`: redraw from recorded runs, in any style and format; nothing is computed."""

import argparse
from collections.abc import Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from experiments.commands import console, selecting
from experiments.commands.codes import OK, UNEXPECTED
from experiments.configuration.paths import outputs_folder, writable
from experiments.contract.errors import BadInput
from experiments.drawing import canvas
from experiments.records import run_files
from experiments.records.reading import read
from experiments.records.store import RunStore
from experiments.running.pools import attempted, drawing_pool
from experiments.sweeping import figure, recorded

ALONE = 3  # so few are drawn before other processes would have started
RUN, SWEEP = "run:", recorded.PREFIX
Task = tuple[Path, Path]  # a run's or a sweep's folder, and where its figures go


def main(options: argparse.Namespace) -> int:
    """Figures of the selected experiments' latest runs, and of all sweeps without a selection."""
    outputs = outputs_folder(options.outputs)
    formats = options.format.split(",")
    canvas.check(formats, options.style)
    folder = outputs / "figures" / options.style
    named = [word for word in options.selection if word.startswith((RUN, SWEEP))]
    others = [word for word in options.selection if word not in named]
    if options.metric and not any(word.startswith(SWEEP) for word in named):
        raise BadInput(
            "--metric is for a sweep's figure; allowed: figures sweep:<id> --metric NAME"
        )
    for word in named:
        if options.metric and word.startswith(SWEEP):
            recorded.find(outputs, word.removeprefix(SWEEP)).check(options.metric, outputs)
    tasks = [task for w in named for task in _named(w, outputs, folder, cells=options.cells)]
    if others or not named:
        tasks += _experiments(selecting.results(options, outputs, others), outputs, folder)
    if not options.selection:
        swept = sorted(path.parent for path in outputs.glob("sweeps/*/pivot.csv"))
        tasks += [(path, folder / "sweeps" / path.name) for path in swept]
    for _, target in tasks:
        writable(outputs, str(target.relative_to(outputs)))
    look = [(*task, formats, options.style, options.metric) for task in tasks]
    if len(tasks) <= ALONE:
        drawn = [_draw(*task) for task in look]
    else:
        with drawing_pool() as pool:
            futures = [attempted(pool, _draw, *task) for task in look]
            drawn = [_told(future, task) for future, task in zip(futures, tasks, strict=True)]
    for problem in filter(None, (problem for _, problem in drawn)):
        console.tell(problem)
    console.out.print(f"{sum(written for written, _ in drawn)} figures in {folder}")
    return UNEXPECTED if any(problem for _, problem in drawn) else OK


def _told(future: "Future[tuple[int, str]]", task: Task) -> tuple[int, str]:
    try:
        return future.result()
    except BrokenProcessPool:
        return 0, f"{task[0].name} cannot be drawn: the process that drew it died"


def _experiments(names: list[str], outputs: Path, folder: Path) -> Iterator[Task]:
    store = RunStore(outputs)
    for name in names:
        record = store.latest(name)
        if record is None:
            console.tell(f"{name} has no recorded run; `bythebook reproduce {name}` makes one")
        else:
            yield record.folder, folder / name


def _named(word: str, outputs: Path, folder: Path, *, cells: bool) -> Iterator[Task]:
    """One run; or a sweep, and every one of its cells where these are asked for."""
    if word.startswith(RUN):
        record = RunStore(outputs).find(word.removeprefix(RUN))
        yield record.folder, folder / "runs" / record.id
        return
    swept = recorded.find(outputs, word.removeprefix(SWEEP))
    yield swept.folder, folder / "sweeps" / swept.id
    if cells:
        for path in filter(None, RunStore(outputs).located(swept.runs)):
            yield path, folder / "sweeps" / swept.id / path.name


def _draw(
    source: Path, target: Path, formats: list[str], style: str, metric: str | None
) -> tuple[int, str]:
    """How many files were written, and what went wrong: an old run may not fit today's study."""
    try:
        if source.parent.name != "sweeps":
            record = read(source)
            paths = run_files.draw(record, target, formats, style) if record.finished else []
        elif metric or (source / "pivot.csv").exists():
            outputs = source.parents[1]
            cells = recorded.cells(recorded.find(outputs, source.name), outputs, metric)
            paths = figure.redraw(*cells, target, formats, style)
        else:  # no cell of the sweep has a number to draw
            paths = []
    except OSError:
        raise
    except BadInput as error:  # it was damaged
        return 0, f"{source.name} cannot be drawn: {error}"
    except Exception as error:
        return 0, f"{source.name} cannot be drawn: {type(error).__name__}: {error}"
    return len(paths), ""
