"""`bythebook figures`: redraw from recorded runs, in any style and format; nothing is computed."""

import argparse
from collections.abc import Iterator
from pathlib import Path

from experiments.commands import console
from experiments.commands.codes import OK, UNEXPECTED
from experiments.configuration import catalogue
from experiments.configuration.paths import outputs_folder, writable
from experiments.contract.errors import BadInput
from experiments.drawing import canvas
from experiments.records import run_files
from experiments.records.store import RunStore, read
from experiments.running.pools import drawing_pool
from experiments.sweeping import figure
from experiments.sweeping.run import read_sweep

ALONE = 3  # so few are drawn before other processes would have started
RUN, SWEEP = "run:", "sweep:"
Task = tuple[Path, Path]  # a run's or a sweep's folder, and where its figures go


def main(options: argparse.Namespace) -> int:
    """Figures of the selected experiments' latest runs, and of all sweeps without a selection."""
    outputs = outputs_folder(options.outputs)
    formats = options.format.split(",")
    canvas.check(formats, options.style)
    folder = outputs / "figures" / options.style
    named = [word for word in options.selection if word.startswith((RUN, SWEEP))]
    others = [word for word in options.selection if word not in named]
    tasks = [task for word in named for task in _named(word, outputs, folder)]
    if others or not named:
        tasks += _experiments(others, outputs, folder)
    if not options.selection:
        swept = sorted(path.parent for path in outputs.glob("sweeps/*/pivot.csv"))
        tasks += [(path, folder / "sweeps" / path.name) for path in swept]
    if tasks:
        writable(folder)
    look = [(*task, formats, options.style) for task in tasks]
    if len(tasks) <= ALONE:
        drawn = [_draw(*task) for task in look]
    else:
        with drawing_pool() as pool:
            drawn = list(pool.map(_draw, *zip(*look, strict=True), chunksize=4))
    for problem in filter(None, (problem for _, problem in drawn)):
        console.tell(problem)
    console.out.print(f"{sum(written for written, _ in drawn)} figures in {folder}")
    return UNEXPECTED if any(problem for _, problem in drawn) else OK


def _experiments(words: list[str], outputs: Path, folder: Path) -> Iterator[Task]:
    store = RunStore(outputs)
    for name in catalogue.select(words):
        record = store.latest(name)
        if record is None:
            console.tell(f"{name} has no recorded run; `bythebook reproduce {name}` makes one")
        else:
            yield record.folder, folder / name


def _named(word: str, outputs: Path, folder: Path) -> Iterator[Task]:
    """One run, or a sweep with every one of its cells."""
    kind, _, name = word.partition(":")
    if f"{kind}:" == RUN:
        record = RunStore(outputs).find(name)
        yield record.folder, folder / "runs" / record.id
        return
    known = {path.parent.name: path.parent for path in outputs.glob("sweeps/*/sweep.json")}
    if name not in known:
        there = ", ".join(sorted(known)) or "none"
        raise BadInput(f"there is no sweep '{name}' below {outputs / 'sweeps'}; there are: {there}")
    places = {path.name: path for path in RunStore(outputs).folders()}
    _, _, runs = read_sweep(known[name])
    yield known[name], folder / "sweeps" / name
    for run in runs:
        if run in places:
            yield places[run], folder / "sweeps" / name / run


def _draw(source: Path, target: Path, formats: list[str], style: str) -> tuple[int, str]:
    """How many files were written, and what went wrong: an old run may not fit today's study."""
    try:
        if (source / "run.json").exists():
            record = read(source)
            paths = run_files.draw(record, target, formats, style) if record.finished else []
        elif (source / "pivot.csv").exists():
            plan, _, _ = read_sweep(source)
            paths = figure.redraw(plan, source, target, formats, style)
        else:  # no cell of the sweep has a number to draw
            paths = []
    except OSError:
        raise
    except BadInput as error:  # it was damaged
        return 0, f"{source.name} cannot be drawn: {error}"
    except Exception as error:
        return 0, f"{source.name} cannot be drawn: {type(error).__name__}: {error}"
    return len(paths), ""
