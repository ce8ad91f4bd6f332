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
from experiments.records.store import Record, RunStore, read

SHOWN = 40


def show(named: Sequence[tuple[str, Job]], outputs: Path, *, fresh: bool) -> int:
    """Print the plan; nothing is run or written."""
    store = RunStore(outputs)
    earlier = _earlier({store.place(job) for _, job in named})
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


def _earlier(places: set[Path]) -> dict[str, Record]:
    """The newest record of each configuration, whatever code and data it was made with."""
    found: dict[str, Record] = {}
    for place in places:
        for path in sorted(place.glob("[!.]*/run.json"), key=lambda p: p.stat().st_mtime_ns):
            with suppress(BadInput):  # a torn record is as good as none
                record = read(path.parent)
                found[_identity(record["science"])] = record
    return found


def _identity(science: Mapping[str, Any]) -> str:
    return dumps([science["study"], science["knobs"], science["seed"]])


def _state(job: Job, store: RunStore, earlier: Mapping[str, Record], fresh: bool) -> str:
    if store.done(job) is not None:
        return "to run again: fresh=true" if fresh else "done"
    record = earlier.get(_identity(job.science))
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
