"""`bythebook report`: write the static site from recorded runs."""

import argparse
from collections.abc import Iterator

from bythebook.experiments.api import selections
from bythebook.experiments.cli import console
from bythebook.experiments.cli.exit_codes import OK
from bythebook.experiments.cli.outdated_runs import warn_outdated_runs
from bythebook.experiments.config.paths import ensure_writable, resolve_output_dir
from bythebook.experiments.config.validation import load_job
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.exact_json import dumps
from bythebook.experiments.report import figure_cache, site
from bythebook.experiments.store.record import Record
from bythebook.experiments.store.run_store import RunStore


def main(options: argparse.Namespace) -> int:
    """Write the site into `report/` in the outputs folder, and print its address."""
    outputs = resolve_output_dir(options.outputs)
    formats = figure_cache.parse_formats(options.format)
    names = selections.select_results(options.selection, options.search, outputs)
    ensure_writable(outputs, "report-cache")
    store = RunStore(outputs)
    records = {name: record for name in names if (record := store.latest_run(name)) is not None}
    warn_outdated_runs(store, names)
    if not records:
        console.notify(f"{outputs} contains no runs of results; run `bythebook reproduce` first")
    outdated = list(_outdated(records))
    if outdated:
        console.notify(
            f"{len(outdated)} runs are older than the file or the code of their result"
            f" ({', '.join(outdated[:3])}{', ...' if len(outdated) > 3 else ''});"
            " run `bythebook reproduce` to compute them again"
        )
    index = site.write_site(
        records, names, outputs, outdated=outdated, tell=console.notify, formats=formats
    )
    console.out.print(f"report: {index}")
    return OK


def _outdated(records: dict[str, Record]) -> Iterator[str]:
    """The runs that are older than their file or code; data files, which may move, are ignored."""
    for name, record in records.items():
        try:
            job = load_job(name)
        except InputError:  # the file has become invalid since the run
            yield name
            continue
        same_file = dumps(job.config) == dumps(record["science"])
        if not same_file or job.code_hash != record["provenance"]["code"]:
            yield name
