"""`bythebook run --dry-run`: what would run, what is done, and why a done run would run again."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from rich.markup import escape

from experiments.commands import console
from experiments.commands.codes import OK
from experiments.configuration.jobs import Job
from experiments.contract.errors import BadInput
from experiments.contract.exact_json import dumps
from experiments.records.reading import read
from experiments.records.record import Record
from experiments.records.store import RunStore

SHOWN = 40


def show(named: Sequence[tuple[str, Job]], outputs: Path, *, fresh: bool) -> int:
    """Print the plan; nothing is run or written."""
    store = RunStore(outputs)
    earlier = _Earlier(store)
    states = [_state(job, store, earlier, fresh) for _, job in named]
    rows = [
        [escape(name or job.title), job.key, escape(state)]
        for (name, job), state in zip(named, states, strict=True)
    ]
    console.table(["cell", "key", "state"], rows[:SHOWN])
    if len(rows) > SHOWN:
        console.out.print(f"... and {len(rows) - SHOWN} more")
    counts = Counter(states)
    done = counts.pop("done", 0)
    console.out.print(f"{len(named)} cells, {done} done, {len(named) - done} to run")
    for state, count in counts.most_common():
        console.out.print(escape(f"  {count} {state}"))
    return OK


class _Earlier:
    """The newest record of each configuration, whatever code and data it was made with."""

    def __init__(self, store: RunStore) -> None:
        self.store = store
        self._known: dict[str, dict[str, Record]] = {}

    def of(self, job: Job) -> Record | None:
        place = job.address.place
        if place not in self._known:
            self._known[place] = self._read(place)
        return self._known[place].get(_identity(job.science))

    def _read(self, place: str) -> dict[str, Record]:
        found: dict[str, Record] = {}
        for folder in self.store.folders(place):
            with suppress(BadInput):  # a torn record is as good as none
                record = read(folder)
                other = found.setdefault(_identity(record["science"]), record)
                if record["provenance"]["started"] > other["provenance"]["started"]:
                    found[_identity(record["science"])] = record
        return found


def _identity(science: Mapping[str, Any]) -> str:
    return dumps([science["study"], science["knobs"], science["seed"]])


def _state(job: Job, store: RunStore, earlier: _Earlier, fresh: bool) -> str:
    if store.done(job) is not None:
        return "to run again: fresh=true" if fresh else "done"
    record = earlier.of(job)
    if record is None:
        return "to run"
    facts = record["provenance"]
    digests = {name: entry["sha256"] for name, entry in facts["data"].items()}
    if facts["code"] != job.code:
        return "to run again: the code has changed"
    if digests != {name: entry["sha256"] for name, entry in job.data.items()}:
        return "to run again: the data have changed"
    if not record.finished:
        return f"to run again: it failed ({record['error']['type']})"
    return "to run"
