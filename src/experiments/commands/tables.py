"""`bythebook tables`: the recorded tables as CSV, Markdown or LaTeX."""

import argparse

from experiments.commands import console
from experiments.commands.codes import OK
from experiments.configuration import catalogue
from experiments.configuration.paths import outputs_folder, writable
from experiments.records.store import RunStore
from experiments.records.tables import check_formats, write_tables


def main(options: argparse.Namespace) -> int:
    """Write every table of the selected experiments' latest runs."""
    formats = options.format.split(",")
    check_formats(formats)
    outputs = outputs_folder(options.outputs)
    store = RunStore(outputs)
    written = 0
    for name in catalogue.select(options.selection):
        record = store.latest(name)
        if record is None:
            console.tell(f"{name} has no recorded run; `bythebook reproduce {name}` makes one")
        else:
            written += len(write_tables(record, writable(outputs / "tables" / name), formats))
    console.out.print(f"{written} tables in {outputs / 'tables'}")
    return OK
