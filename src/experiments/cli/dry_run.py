"""`bythebook run --dry-run`: list cached runs and runs to compute, with the reason."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from rich.markup import escape

from bythebook.experiments.cli import console
from bythebook.experiments.cli.exit_codes import OK
from bythebook.experiments.config.job import Job
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.exact_json import dumps
from bythebook.experiments.store.record import Record
from bythebook.experiments.store.run_reader import read_run
from bythebook.experiments.store.run_store import RunStore

MAX_ROWS = 40  # of the table
CACHED, TO_COMPUTE = "cached", "to compute"


def show_plan(named: Sequence[tuple[str, Job]], outputs: Path, *, force: bool) -> int:
    """Print the state of each job; nothing is run or written."""
    store = RunStore(outputs)
    previous = _PreviousRuns(store)
    states = [_state(job, store, previous, force) for _, job in named]
    rows = [
        [escape(name or job.title), job.key, escape(state)]
        for (name, job), state in zip(named, states, strict=True)
    ]
    console.table(["run", "key", "state"], rows[:MAX_ROWS])
    if len(rows) > MAX_ROWS:
        console.out.print(f"... and {len(rows) - MAX_ROWS} more")
    counts = Counter(states)
    cached = counts.pop(CACHED, 0)
    console.out.print(f"{len(named)} runs: {cached} cached, {len(named) - cached} to compute")
    for state, count in counts.most_common():
        console.out.print(escape(f"  {count} {state}"))
    return OK


class _PreviousRuns:
    """The newest record of each configuration, with any version of code and data."""

    def __init__(self, store: RunStore) -> None:
        self.store = store
        self._by_folder: dict[str, dict[str, Record]] = {}

    def find(self, job: Job) -> Record | None:
        """The newest record with the configuration of a job."""
        folder = job.location.folder
        if folder not in self._by_folder:
            self._by_folder[folder] = self._read(folder)
        return self._by_folder[folder].get(_identity(job.config))

    def _read(self, folder: str) -> dict[str, Record]:
        newest: dict[str, Record] = {}
        for path in self.store.folders(folder):
            with suppress(InputError):  # a corrupt record counts as missing
                record = read_run(path)
                other = newest.setdefault(_identity(record["science"]), record)
                if record["provenance"]["started"] > other["provenance"]["started"]:
                    newest[_identity(record["science"])] = record
        return newest


def _identity(config: Mapping[str, Any]) -> str:
    return dumps([config["study"], config["knobs"], config["seed"]])


def _state(job: Job, store: RunStore, previous: _PreviousRuns, force: bool) -> str:
    if store.find_completed(job) is not None:
        return f"{TO_COMPUTE}: force=true" if force else CACHED
    record = previous.find(job)
    if record is None:
        return TO_COMPUTE
    facts = record["provenance"]
    digests = {name: entry["sha256"] for name, entry in facts["data"].items()}
    if facts["code"] != job.code_hash:
        return f"{TO_COMPUTE}: the code has changed"
    if digests != {name: entry["sha256"] for name, entry in job.data.items()}:
        return f"{TO_COMPUTE}: the data have changed"
    if not record.finished:
        return f"{TO_COMPUTE}: the recorded run failed ({record['error']['type']})"
    return TO_COMPUTE
