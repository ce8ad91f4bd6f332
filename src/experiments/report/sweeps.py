"""The content of the sweep pages, read from the folders of sweeps."""

import csv
import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bythebook.experiments.core.slugs import slugify
from bythebook.experiments.core.summaries import Table
from bythebook.experiments.report.figure_cache import CachedFigures, FigureFile, figure_files
from bythebook.experiments.report.printed_overlays import PrintedOverlay
from bythebook.experiments.report.tables import TablePage, table_page
from bythebook.experiments.sweeps.figures import main_metric, read_cells
from bythebook.experiments.sweeps.plan import SweepPlan
from bythebook.experiments.sweeps.run import load_sweep
from bythebook.experiments.sweeps.tables import format_mean_se, parse_value

DOWNLOADS = ("sweep.json", "cells.csv", "pivot.csv")
MAX_COLUMNS = 6  # of parameter combinations next to each other in a table


@dataclass(frozen=True)
class SweepPage:
    """A sweep on the site."""

    plan: SweepPlan
    state: dict[str, Any]
    folder: Path
    path: str  # of its files on the site
    files: list[str]
    cells: TablePage | None
    pivot: TablePage | None
    metric: str  # the quantity in the figures
    finished: int
    figures: CachedFigures | None
    drawings: list[FigureFile]
    printed: list[PrintedOverlay]  # values that the texts print for the metric

    @property
    def url(self) -> str:
        return f"{self.path}.html"

    @property
    def experiment(self) -> str | None:
        """The result whose parameters the sweep varies, if it is one result."""
        named = [o.partition("=")[2] for o in self.plan.overrides if o.startswith("experiment=")]
        return named[0] if len(named) == 1 else None

    @property
    def command(self) -> str:
        return shlex.join(["bythebook", "run", "-m", *self.plan.overrides])


def read_all(
    outputs: Path, drawn: Mapping[str, CachedFigures], printed: Mapping[str, list[PrintedOverlay]]
) -> tuple[list[SweepPage], list[str]]:
    """All sweeps, newest first, and a line for each that cannot be read or drawn."""
    pages, problems = [], []
    for folder in folders(outputs):
        try:
            overlays = printed.get(folder.name, [])
            pages.append(_read(folder, drawn.get(folder.name), overlays))
        except (OSError, ValueError, KeyError, TypeError) as error:
            problems.append(f"could not read the sweep {folder.name}: {error}")
    problems += [
        f"the sweep {name} has no figure: {entry.problem}"
        for name, entry in drawn.items()
        if entry.problem and name in {sweep.folder.name for sweep in pages}
    ]
    return sorted(pages, key=lambda page: (-page.state["started"], page.plan.id)), problems


def folders(outputs: Path) -> list[Path]:
    """The folders of all sweeps."""
    return sorted(path.parent for path in outputs.glob("sweeps/*/sweep.json"))


def _read(folder: Path, figures: CachedFigures | None, printed: list[PrintedOverlay]) -> SweepPage:
    plan, state, runs = load_sweep(folder)
    path = f"sweeps/{slugify(folder.name)}"
    files = [name for name in DOWNLOADS if (folder / name).is_file()]
    cells = _csv(folder / "cells.csv") if "cells.csv" in files else {}
    pivot = _csv(folder / "pivot.csv") if "pivot.csv" in files else {}
    return SweepPage(
        plan=plan,
        state=state,
        folder=folder,
        path=path,
        files=files,
        cells=table_page("cells", f"{path}/cells.csv", _shorten(_without_empty_errors(cells)))
        if cells
        else None,
        pivot=table_page("means", f"{path}/pivot.csv", _paired(pivot, plan)) if pivot else None,
        metric=main_metric(plan, read_cells(folder)) if pivot else "",
        finished=cells.get("status", []).count("finished")
        if cells
        else sum(r is not None for r in runs),
        figures=figures,
        drawings=figure_files(figures, path, plan.title) if figures is not None else [],
        printed=printed,
    )


def _csv(path: Path) -> Table:
    with path.open(encoding="utf-8", newline="") as stream:
        header, *rows = list(csv.reader(stream)) or [[]]
    columns = list(zip(*rows, strict=True)) or [() for _ in header]
    return {name: [_value(t) for t in column] for name, column in zip(header, columns, strict=True)}


def _value(text: str) -> Any:
    if text in ("True", "False"):
        return text == "True"
    value = parse_value(text)
    return None if value == "" or (isinstance(value, float) and math.isnan(value)) else value


def _without_empty_errors(cells: Table) -> Table:
    """The table without its column of error messages if that is empty."""
    return {name: v for name, v in cells.items() if name != "error" or any(v)}


def _shorten(table: Table) -> Table:
    return {name.removeprefix("study."): values for name, values in table.items()}


def _paired(pivot: Table, plan: SweepPlan) -> Table:
    """Mean and standard error in one cell; one row per metric if that table is narrower."""
    metrics = [name.removesuffix(" mean") for name in pivot if name.endswith(" mean")]
    if plan.metric in metrics:
        metrics.sort(key=lambda name: name != plan.metric)  # the metric of the figures first
    means = {
        name: [
            format_mean_se(*both)
            for both in zip(pivot[f"{name} mean"], pivot[f"{name} s.e."], strict=True)
        ]
        for name in metrics
    }
    fixed = {
        name: values for name, values in pivot.items() if not name.endswith((" mean", " s.e."))
    }
    combinations = len(fixed["runs"])
    if combinations > MAX_COLUMNS or combinations > len(metrics):
        return _shorten({**fixed, **means})
    parameters = {name: values for name, values in _shorten(fixed).items() if name != "runs"}
    rows: Table = {"quantity, mean ± s.e.": ["runs", *metrics]}
    for i in range(combinations):
        label = ", ".join(f"{name} = {values[i]}" for name, values in parameters.items())
        rows[label] = [fixed["runs"][i], *(values[i] for values in means.values())]
    return rows
