"""`bythebook figures`: redraw from recorded runs, in any style and format; nothing is computed."""

import argparse

from experiments import catalogue, console, plotting
from experiments.cli import OK
from experiments.paths import outputs_folder, writable
from experiments.records import RunStore


def main(options: argparse.Namespace) -> int:
    """Figures of the selected experiments' latest runs, below outputs/figures/."""
    outputs = outputs_folder(options.outputs)
    store = RunStore(outputs)
    plotting.check(options.format.split(","), options.style)
    folder = outputs / "figures" / options.style
    written = 0
    for name in catalogue.select(options.selection):
        record = store.latest(name)
        if record is None:
            console.tell(f"{name} has no recorded run; `bythebook reproduce {name}` makes one")
            continue
        place = writable(folder / name)
        written += len(plotting.draw(record, place, options.format.split(","), options.style))
    console.out.print(f"{written} figures in {folder}")
    return OK
