"""Sweeps for the report: what their folders hold, as tables that fit on a page."""

import csv
import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.contract.slugs import slug
from experiments.contract.views import Table
from experiments.report.beside import Beside
from experiments.report.drawings import Drawing, Drawn, shown
from experiments.report.tables import Sheet, sheet
from experiments.sweeping.figure import headline, read_cells
from experiments.sweeping.plan import Plan
from experiments.sweeping.run import read_sweep
from experiments.sweeping.tables import mean_and_error, number_or_text

FILES = ("sweep.json", "cells.csv", "pivot.csv")
COLUMNS = 6  # at most so many combinations stand side by side


@dataclass(frozen=True)
class Swept:
    """A sweep on the site."""

    plan: Plan
    state: dict[str, Any]
    folder: Path
    place: str  # of its files on the site
    files: list[str]
    cells: Sheet | None
    pivot: Sheet | None
    metric: str  # the quantity of the figures
    finished: int
    figures: Drawn | None
    drawings: list[Drawing]
    printed: list[Beside]  # values that texts print for the figures' quantity

    @property
    def url(self) -> str:
        return f"{self.place}.html"

    @property
    def experiment(self) -> str | None:
        """The experiment it varies, where it is one."""
        named = [o.partition("=")[2] for o in self.plan.overrides if o.startswith("experiment=")]
        return named[0] if len(named) == 1 else None

    @property
    def command(self) -> str:
        return shlex.join(["bythebook", "run", "-m", *self.plan.overrides])


def read_all(
    outputs: Path, drawn: Mapping[str, Drawn], printed: Mapping[str, list[Beside]]
) -> tuple[list[Swept], list[str]]:
    """Every sweep, the newest first, and a line for each that cannot be read or drawn."""
    found, problems = [], []
    for folder in folders(outputs):
        try:
            beside = printed.get(folder.name, [])
            found.append(_read(folder, drawn.get(folder.name), beside))
        except (OSError, ValueError, KeyError, TypeError) as error:
            problems.append(f"the sweep {folder.name} cannot be read: {error}")
    problems += [
        f"the sweep {name} has no figure: {entry.problem}"
        for name, entry in drawn.items()
        if entry.problem and name in {sweep.folder.name for sweep in found}
    ]
    return sorted(found, key=lambda swept: (-swept.state["started"], swept.plan.id)), problems


def folders(outputs: Path) -> list[Path]:
    """The folders of all sweeps."""
    return sorted(path.parent for path in outputs.glob("sweeps/*/sweep.json"))


def _read(folder: Path, figures: Drawn | None, printed: list[Beside]) -> Swept:
    plan, state, runs = read_sweep(folder)
    place = f"sweeps/{slug(folder.name)}"
    files = [name for name in FILES if (folder / name).is_file()]
    cells = _csv(folder / "cells.csv") if "cells.csv" in files else {}
    pivot = _csv(folder / "pivot.csv") if "pivot.csv" in files else {}
    return Swept(
        plan=plan,
        state=state,
        folder=folder,
        place=place,
        files=files,
        cells=sheet("cells", f"{place}/cells.csv", _short(_said(cells))) if cells else None,
        pivot=sheet("means", f"{place}/pivot.csv", _paired(pivot, plan)) if pivot else None,
        metric=headline(plan, read_cells(folder)) if pivot else "",
        finished=cells.get("status", []).count("finished")
        if cells
        else sum(r is not None for r in runs),
        figures=figures,
        drawings=shown(figures, place, plan.title) if figures is not None else [],
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
    value = number_or_text(text)
    return None if value == "" or (isinstance(value, float) and math.isnan(value)) else value


def _said(cells: Table) -> Table:
    """The table without the column of errors where there are none."""
    return {name: v for name, v in cells.items() if name != "error" or any(v)}


def _short(table: Table) -> Table:
    return {name.removeprefix("study."): values for name, values in table.items()}


def _paired(pivot: Table, plan: Plan) -> Table:
    """Mean and standard error in one cell; metrics downwards where that is narrower."""
    metrics = [name.removesuffix(" mean") for name in pivot if name.endswith(" mean")]
    if plan.metric in metrics:
        metrics.sort(key=lambda name: name != plan.metric)  # the figure's quantity first
    means = {
        name: [
            mean_and_error(*both)
            for both in zip(pivot[f"{name} mean"], pivot[f"{name} s.e."], strict=True)
        ]
        for name in metrics
    }
    fixed = {
        name: values for name, values in pivot.items() if not name.endswith((" mean", " s.e."))
    }
    combinations = len(fixed["runs"])
    if combinations > COLUMNS or combinations > len(metrics):
        return _short({**fixed, **means})
    knobs = {name: values for name, values in _short(fixed).items() if name != "runs"}
    rows: Table = {"quantity, mean ± s.e.": ["runs", *metrics]}
    for i in range(combinations):
        label = ", ".join(f"{name} = {values[i]}" for name, values in knobs.items())
        rows[label] = [fixed["runs"][i], *(values[i] for values in means.values())]
    return rows
