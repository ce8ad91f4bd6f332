"""Show a study: its knobs, its quantities with meaning and axes, and its results."""

import dataclasses
import json
from typing import Any

from rich.markup import escape

from bythebook.experiments.cli import console
from bythebook.experiments.cli.exit_codes import OK
from bythebook.experiments.config import catalogue
from bythebook.experiments.config.hydra_errors import unknown_choice_message
from bythebook.experiments.config.paths import resolve_output_dir
from bythebook.experiments.config.validation import load_job
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.knobs import describe_constraints
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.core.study import Study, studies
from bythebook.experiments.store.run_store import RunStore

_DECLARED = {"meaning": "meaning", "unit": "unit", "equation": "equation"}


def show(name: str, *, as_json: bool = False, outputs: str | None = None) -> int:
    """Print the knobs, the quantities, and the results that use the study."""
    study = studies().get(name)
    if study is None:
        raise InputError(unknown_choice_message("study", name))
    used = [
        entry
        for entry in catalogue.experiment_names()
        if catalogue.load_heading(entry).study == name
    ]
    own_knobs = knobs(study, dataclasses.asdict(study()))
    quantities = _declared(study) if study.declares_all else _computed(study, used, outputs)
    own_axes = {name: dataclasses.asdict(entry) for name, entry in study.axes.items()}
    if as_json:
        content = {
            "study": name,
            "topic": study.topic,
            "doc": study.__doc__,
            "knobs": own_knobs,
            "quantities": quantities,
            "axes": own_axes,
            "headline": study.headline,
            "experiments": used,
        }
        print(json.dumps(content, indent=1))
        return OK
    out = console.out
    out.print(f"[bold]{name}[/bold] ({study.topic})\n{escape((study.__doc__ or '').strip())}\n")
    print_knobs(own_knobs)
    out.print("\n[bold]quantities[/bold]")
    _print_columns({"quantity": "quantity", "axes": "over", **_DECLARED}, quantities)
    if own_axes:
        out.print("\n[bold]axes[/bold]")
        entries = [{"axis": name, **entry} for name, entry in own_axes.items()]
        _print_columns({"axis": "axis", "meaning": "meaning", "unit": "unit"}, entries)
    if study.headline:
        out.print("\n[bold]metrics in lists of runs[/bold]")
        console.table(["name", "expression"], [[k, escape(v)] for k, v in study.headline.items()])
    if used:
        shown = ", ".join(used[:8]) + (f", ... {len(used)} in all" if len(used) > 8 else "")
        out.print(f"\n[bold]results[/bold]  {escape(shown)}")
    return OK


def _print_columns(headings: dict[str, str], entries: list[dict[str, str]]) -> None:
    """A table of the columns that are not empty."""
    shown = [key for key in headings if any(entry[key] for entry in entries)]
    rows = [[escape(entry[key]) for key in shown] for entry in entries]
    console.table([headings[key] for key in shown], rows)


def _declared(study: type[Study]) -> list[dict[str, str]]:
    """The quantities that the study declares, which are all."""
    return [
        {"quantity": name, "axes": entry.format_dims(), **_meaning(study, name)}
        for name, entry in study.quantities.items()
    ]


def _meaning(study: type[Study], name: str) -> dict[str, str]:
    """Meaning, unit and equation of a quantity; empty if it is not declared."""
    entry = study.quantities.get(name)
    return {key: getattr(entry, key) if entry else "" for key in _DECLARED}


def _computed(study: type[Study], used: list[str], outputs: str | None) -> list[dict[str, str]]:
    """The quantities in the recorded runs of its results, else in a run that is computed now."""
    store, axes_by_name = RunStore(resolve_output_dir(outputs)), dict[str, str]()
    for name in used:
        record = store.latest_run(name)
        if record is not None and record.study == study.name:
            axes_by_name |= _describe_axes(record.outcome)
    if not axes_by_name:
        from bythebook.experiments.execution.worker import compute, single_threaded

        job = load_job(used[0]) if used else None
        with single_threaded():
            axes_by_name = _describe_axes(compute(job).outcome) if job is not None else {}
    return [
        {"quantity": name, "axes": axes, **_meaning(study, name)}
        for name, axes in axes_by_name.items()
    ]


def _describe_axes(outcome: Outcome) -> dict[str, str]:
    return {
        name: ", ".join(f"{a.name} ({len(a)}: {a.format(3)})" for a in quantity.axes) or "one value"
        for name, quantity in outcome.items()
    }


def knobs(study: type[Study], values: dict[str, Any]) -> list[dict[str, Any]]:
    """Every knob with its value, the allowed values, and its meaning."""
    return [
        {
            "knob": field.name,
            "value": values[field.name],
            "allowed": describe_constraints(field),
            "doc": field.metadata["doc"],
        }
        for field in dataclasses.fields(study)
    ]


def print_knobs(entries: list[dict[str, Any]]) -> None:
    """Print the result of `knobs` as a table."""
    rows = [
        [k["knob"], escape(str(k["value"])), escape(k["allowed"]), escape(k["doc"])]
        for k in entries
    ]
    console.table(["knob", "value", "allowed", "meaning"], rows)
