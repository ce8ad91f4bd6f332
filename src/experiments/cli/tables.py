"""`bythebook tables`: write recorded tables as CSV, Markdown or LaTeX; nothing is computed."""

import argparse

from bythebook.experiments.api import selections
from bythebook.experiments.cli import console, sweep_views
from bythebook.experiments.cli.exit_codes import OK
from bythebook.experiments.config.paths import ensure_writable, resolve_output_dir
from bythebook.experiments.store.run_store import RunStore
from bythebook.experiments.store.tables import check_formats, write_tables


def main(options: argparse.Namespace) -> int:
    """Write all tables of the newest runs of the selected results, and of the selected sweeps."""
    formats = options.format.split(",")
    check_formats(formats)
    outputs = resolve_output_dir(options.outputs)
    store = RunStore(outputs)
    prefix = selections.SWEEP_PREFIX
    sweeps = [word for word in options.selection if word.startswith(prefix)]
    others = [word for word in options.selection if word not in sweeps]
    sweep_ids = [word.removeprefix(prefix) for word in sweeps]
    written = sum(sweep_views.write_tables(outputs, sweep_id, formats) for sweep_id in sweep_ids)
    names = []
    if others or not sweeps:
        names = selections.select_results(others, options.search, outputs)
    for name in names:
        record = store.latest_run(name)
        if record is None:
            console.notify(f"{name} has no recorded run; run `bythebook reproduce {name}` first")
        else:
            written += len(write_tables(record, ensure_writable(outputs, "tables", name), formats))
    console.out.print(f"{written} tables in {outputs / 'tables'}")
    return OK
