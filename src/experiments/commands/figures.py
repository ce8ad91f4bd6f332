"""`bythebook figures`: redraw from recorded runs, in any style and format; nothing is computed."""

import argparse
from pathlib import Path

from experiments import catalogue, console, plotting, sweep_figures
from experiments.cli import OK
from experiments.paths import outputs_folder, writable
from experiments.pools import process_pool
from experiments.records import RunStore, read
from experiments.sweeps import read_sweep

ALONE = 3  # so few are drawn before other processes would have started


def main(options: argparse.Namespace) -> int:
    """Figures of the selected experiments' latest runs, and of all sweeps without a selection."""
    outputs = outputs_folder(options.outputs)
    store = RunStore(outputs)
    formats = options.format.split(",")
    plotting.check(formats, options.style)
    folder = outputs / "figures" / options.style
    tasks = []
    for name in catalogue.select(options.selection):
        record = store.latest(name)
        if record is None:
            console.tell(f"{name} has no recorded run; `bythebook reproduce {name}` makes one")
        else:
            tasks.append((record.folder, folder / name, formats, options.style))
    if not options.selection:
        swept = sorted(path.parent for path in outputs.glob("sweeps/*/pivot.csv"))
        tasks += [(path, folder / "sweeps" / path.name, formats, options.style) for path in swept]
    if tasks:
        writable(folder)
    if len(tasks) <= ALONE:
        written = sum(_draw(*task) for task in tasks)
    else:
        with process_pool() as pool:
            written = sum(pool.map(_draw, *zip(*tasks, strict=True), chunksize=4))
    console.out.print(f"{written} figures in {folder}")
    return OK


def _draw(source: Path, target: Path, formats: list[str], style: str) -> int:
    if not (source / "pivot.csv").exists():
        return len(plotting.draw(read(source), target, formats, style))
    plan, _, _ = read_sweep(source)
    return len(sweep_figures.redraw(plan, source, target, formats, style))
