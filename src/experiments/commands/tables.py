"""`bythebook tables`: the recorded tables as CSV, Markdown or LaTeX."""

import argparse

from experiments.commands import console, selecting, sweep_views
from experiments.commands.codes import OK
from experiments.configuration.paths import outputs_folder, writable
from experiments.records.store import RunStore
from experiments.records.tables import check_formats, write_tables


def main(options: argparse.Namespace) -> int:
    """Write every table of the selected experiments' latest runs, and of sweeps."""
    formats = options.format.split(",")
    check_formats(formats)
    outputs = outputs_folder(options.outputs)
    store = RunStore(outputs)
    sweeps = [word for word in options.selection if word.startswith("sweep:")]
    others = [word for word in options.selection if word not in sweeps]
    written = sum(sweep_views.write_tables(outputs, word[6:], formats) for word in sweeps)
    for name in selecting.results(options, outputs, others) if others or not sweeps else []:
        record = store.latest(name)
        if record is None:
            console.tell(f"{name} has no recorded run; `bythebook reproduce {name}` makes one")
        else:
            written += len(write_tables(record, writable(outputs, "tables", name), formats))
    console.out.print(f"{written} tables in {outputs / 'tables'}")
    return OK
