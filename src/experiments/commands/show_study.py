"""A study for people: its knobs, and the quantities it computes with their axes."""

import dataclasses
import json
from typing import Any

from rich.markup import escape

from experiments.commands import console
from experiments.commands.codes import OK
from experiments.configuration import catalogue
from experiments.configuration.build import experiment_job
from experiments.configuration.errors import no_choice
from experiments.configuration.paths import outputs_folder
from experiments.contract.errors import BadInput
from experiments.contract.knobs import allowed
from experiments.contract.outcome import Outcome
from experiments.contract.study import Study, studies
from experiments.records.store import RunStore


def show(name: str, *, as_json: bool = False, outputs: str | None = None) -> int:
    """Knobs, quantities and the results that use it."""
    study = studies().get(name)
    if study is None:
        raise BadInput(no_choice("study", name))
    used = [entry for entry in catalogue.names() if catalogue.heading(entry).study == name]
    listed, computed = knobs(study, dataclasses.asdict(study())), _quantities(study, used, outputs)
    if as_json:
        about = {"study": name, "topic": study.topic, "doc": study.__doc__, "knobs": listed}
        found = {"quantities": computed, "headline": study.headline, "experiments": used}
        print(json.dumps({**about, **found}, indent=1))
        return OK
    out = console.out
    out.print(f"[bold]{name}[/bold] ({study.topic})\n{escape((study.__doc__ or '').strip())}\n")
    print_knobs(listed)
    out.print("\n[bold]what it computes[/bold]")
    rows = [[escape(entry["quantity"]), escape(entry["axes"])] for entry in computed]
    console.table(["quantity", "over"], rows)
    if study.headline:
        out.print("\n[bold]in lists of runs[/bold]")
        console.table(["name", "expression"], [[k, escape(v)] for k, v in study.headline.items()])
    if used:
        shown = ", ".join(used[:8]) + (f", ... {len(used)} in all" if len(used) > 8 else "")
        out.print(f"\n[bold]results[/bold]  {escape(shown)}")
    return OK


def _quantities(study: type[Study], used: list[str], outputs: str | None) -> list[dict[str, str]]:
    """What it gives: as recorded for each of its results, else computed now with its defaults."""
    store, found = RunStore(outputs_folder(outputs)), dict[str, str]()
    for name in used:
        record = store.latest(name)
        if record is not None and record.study == study.name:
            found |= _told(record.outcome)
    if not found:
        from experiments.running.work import compute, one_thread

        job = experiment_job(used[0]) if used else None
        with one_thread():
            found = _told(compute(job).outcome) if job is not None else {}
    return [{"quantity": name, "axes": axes} for name, axes in found.items()]


def _told(outcome: Outcome) -> dict[str, str]:
    return {
        name: ", ".join(f"{a.name} ({len(a)}: {a.told(3)})" for a in quantity.axes) or "one value"
        for name, quantity in outcome.items()
    }


def knobs(study: type[Study], values: dict[str, Any]) -> list[dict[str, Any]]:
    """Every knob with its value, what it may be, and what it means."""
    return [
        {
            "knob": field.name,
            "value": values[field.name],
            "allowed": allowed(field),
            "doc": field.metadata["doc"],
        }
        for field in dataclasses.fields(study)
    ]


def print_knobs(listed: list[dict[str, Any]]) -> None:
    """The knobs as a table."""
    rows = [
        [k["knob"], escape(str(k["value"])), escape(k["allowed"]), escape(k["doc"])] for k in listed
    ]
    console.table(["knob", "value", "allowed", "meaning"], rows)
