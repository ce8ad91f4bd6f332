"""`bythebook report`: the static site, from recorded runs only."""

import argparse
from collections.abc import Iterator

from experiments.commands import console, selecting
from experiments.commands.codes import OK
from experiments.commands.older import tell_of_older
from experiments.configuration.build import experiment_job
from experiments.configuration.paths import outputs_folder, writable
from experiments.contract.errors import BadInput
from experiments.contract.exact_json import dumps
from experiments.records.record import Record
from experiments.records.store import RunStore
from experiments.report import drawings, site


def main(options: argparse.Namespace) -> int:
    """Write outputs/report/ and say where it is."""
    outputs, formats = outputs_folder(options.outputs), drawings.wanted(options.format)
    names = selecting.results(options, outputs)
    writable(outputs, "report-cache")
    store = RunStore(outputs)
    records = {name: record for name in names if (record := store.latest(name)) is not None}
    tell_of_older(store, names)
    if not records:
        console.tell("nothing is recorded yet; `bythebook reproduce` runs everything")
    outdated = list(_outdated(records))
    if outdated:
        console.tell(
            f"{len(outdated)} runs are older than their experiment's file or code"
            f" ({', '.join(outdated[:3])}{', ...' if len(outdated) > 3 else ''});"
            " `bythebook reproduce` brings them up to date"
        )
    index = site.write(
        records, names, outputs, outdated=outdated, tell=console.tell, formats=formats
    )
    console.out.print(f"report: {index}")
    return OK


def _outdated(records: dict[str, Record]) -> Iterator[str]:
    """The runs that would be computed anew. Data is not compared: it may lie elsewhere today."""
    for name, record in records.items():
        try:
            job = experiment_job(name)
        except BadInput:  # a file that no longer holds together is not what was run
            yield name
            continue
        same_file = dumps(job.science) == dumps(record["science"])
        if not same_file or job.code != record["provenance"]["code"]:
            yield name
