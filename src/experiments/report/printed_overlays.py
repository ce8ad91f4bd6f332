"""Printed values that can be drawn as reference lines in the figures of sweeps.

A printed number fits a sweep if it is the same quantity: the metric of the sweep is the expression
of the claim, the study is the same, and all parameters that are not swept have the values of the
printed result. A sweep over another data set or another model has no printed value.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.report.result_pages import ResultPage
from bythebook.experiments.store.run_reader import load_summary
from bythebook.experiments.store.run_store import RunStore
from bythebook.experiments.sweeps.figures import ReferenceValue, main_metric, read_cells
from bythebook.experiments.sweeps.plan import SweepPlan, short_name
from bythebook.experiments.sweeps.run import load_sweep
from bythebook.experiments.sweeps.tables import format_mean_se, means_frame


@dataclass(frozen=True)
class PrintedOverlay:
    """A printed value, and the mean of the sweep at the published parameter values."""

    result: ResultPage
    claim: Mapping[str, Any]
    at: dict[str, Any]  # the published value of each swept parameter
    mean: str  # mean and standard error of the sweep there; empty if it has no such run

    @property
    def location(self) -> str:
        return ", ".join(f"{short_name(name)} = {value}" for name, value in self.at.items())

    @property
    def reference_value(self) -> ReferenceValue:
        label = f"{self.result.item} prints {self.claim['printed']}"
        return ReferenceValue(float(self.claim["printed"]), label, self.at)


def printed_overlays(
    folders: Iterable[Path], results: Sequence[ResultPage], outputs: Path
) -> dict[str, list[PrintedOverlay]]:
    """The printed values of every sweep that has some, by the name of its folder."""
    overlays = {}
    for folder in folders:
        try:
            plan, _, cells = load_sweep(folder)
            table = read_cells(folder)
            metric = main_metric(plan, table)
            claims = _claims(plan, metric, results)
            run_id = next((run for run in cells if run is not None), None)
            if not claims or run_id is None:
                continue
            (location,) = RunStore(outputs).locate_runs([run_id])
            if location is None:
                continue
            parameters = load_summary(location).knobs
        except (OSError, ValueError, KeyError, TypeError, IndexError, InputError):
            continue  # sweeps.read_all reports an unreadable sweep
        fitting = [c for c in claims if _same_settings(_parameters(c[0]), parameters, plan)]
        if fitting:
            overlays[folder.name] = [_overlay(*pair, plan, metric, table) for pair in fitting]
    return overlays


def _claims(
    plan: SweepPlan, metric: str, results: Sequence[ResultPage]
) -> list[tuple[ResultPage, Any]]:
    return [
        (result, claim)
        for result in results
        if result.record is not None and result.record.study == plan.study
        for claim in result.claims
        if claim["origin"] == "printed"
        and "".join(claim["expression"].split()) == "".join(metric.split())
        and _is_number(claim["printed"])
    ]


def _parameters(result: ResultPage) -> dict[str, Any]:
    assert result.record is not None
    parameters: dict[str, Any] = result.record["science"]["knobs"]
    return parameters


def _same_settings(published: Mapping[str, Any], swept: Mapping[str, Any], plan: SweepPlan) -> bool:
    """True if all parameters that the sweep does not vary have the published values."""
    if published.keys() != swept.keys():
        return False
    fixed = [name for name in published if f"study.{name}" not in plan.swept]
    return all(published[name] == swept[name] for name in fixed)


def _overlay(
    result: ResultPage, claim: Any, plan: SweepPlan, metric: str, table: Any
) -> PrintedOverlay:
    published = _parameters(result)
    at = {name: published.get(short_name(name)) for name in plan.varied_parameters}
    means = means_frame(plan, table)
    for row in means.to_dict("records"):
        if all(str(row[name]) == str(value) for name, value in at.items()):
            mean = format_mean_se(row[f"{metric} mean"], row[f"{metric} s.e."])
            return PrintedOverlay(result, claim, at, str(mean))
    return PrintedOverlay(result, claim, at, "")


def _is_number(printed: str | None) -> bool:
    try:
        return printed is not None and math.isfinite(float(printed))
    except ValueError:
        return False
