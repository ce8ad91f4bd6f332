"""`sweep`: a result or a study over knob values, all combinations of them."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.commands import performing
from experiments.configuration.schema import MOST_CELLS, Launch
from experiments.contract.errors import BadInput
from experiments.interface import given, html, places
from experiments.running import launchers
from experiments.running.runner import Done
from experiments.sweeping import figure as drawing
from experiments.sweeping import recorded
from experiments.sweeping.expand import Block, Grid
from experiments.sweeping.plan import Plan, Rows, short
from experiments.sweeping.run import read_sweep, run_sweep
from experiments.sweeping.tables import long_table, metric_names, pivot_table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SETTINGS = (
    *("jobs", "metric", "most_cells", "outputs", "data_dir", "fresh", "track", "tags"),
    "progress",
)
SHOWN = 40  # rows of means, and 10 failures, that a page shows
FAILURES = 10
EXPLAINED = "mean ± s.e. over seeds; ▼ the least, ▲ the most"


def sweep(
    what: str,
    /,
    *,
    jobs: int = 1,
    metric: str | None = None,
    most_cells: int = MOST_CELLS,
    outputs: str | Path | None = None,
    data_dir: str | Path | None = None,
    fresh: bool = False,
    track: bool | str = True,
    tags: Mapping[str, Any] | None = None,
    progress: Callable[[int, int], object] | None = None,
    **knobs: Any,
) -> "Sweep":
    """Run every combination of the knobs' values; what is recorded is found, not computed again.

    A knob varies where it is given a list that it does not take as one value:
    `noise=[0.1, 0.3]`, `seed=range(20)`, `orders=[[1, 2], [1, 2, 3]]`. The last one turns fastest,
    as on the command line, and the same sweep typed there is this very sweep.

    jobs        processes
    metric      the quantity or expression that the figure shows, `loo_loss[3]`
    most_cells  a sweep of more is taken for a slip
    progress    called after every cell with how many are done, and of how many
    others      as for `run`
    """
    subject = given.subject(what)
    changes = subject.changes(knobs, SETTINGS)
    fixed, axes = given.swept(subject, changes)
    if type(jobs) is not int or jobs < 1:
        raise BadInput(f"jobs={jobs!r} is not allowed; allowed: int, >= 1")
    count = math.prod(len(values) for values in axes.values())
    if count > most_cells:
        raise BadInput(f"the sweep would have {count:,} cells; allowed: most_cells={most_cells:,}")
    template = subject.template(fixed, data_dir)
    values = [[(key, given.typed(v), v) for v in found] for key, found in axes.items()]
    cells = Grid([Block(template, {}, values)], list(axes))
    if not len(cells):
        raise BadInput("the sweep has no cells; allowed: one value or more of every knob")
    said = given.words(subject, fixed, axes)
    said += [f"data.dir={given.typed(str(data_dir))}"] if data_dir is not None else []
    said += [f"metric={given.typed(metric)}"] if metric is not None else []
    said += [f"jobs={jobs}"] if jobs > 1 else []
    plan = Plan.of(cells, said, metric or subject.metric)
    own_tags = places.checked_tags(tags)
    folder = places.to_write(outputs)
    tracker = places.tracker(track, folder)
    performing.try_metric(plan.metric, cells[0].job, folder)
    counts = [0, 0]  # done, computed

    def on_done(done: Done) -> None:
        counts[0] += 1
        counts[1] += done.computed
        if progress is not None:
            progress(counts[0], len(cells))

    launcher = launchers.make(Launch(), jobs)
    rows = run_sweep(
        cells, plan, folder, tracker, launcher, on_done=on_done, tags=own_tags, fresh=fresh
    )
    return Sweep(plan, rows, folder, computed=counts[1])


class Sweep:
    """A sweep's cells, their means over seeds, and its figure."""

    def __init__(self, plan: Plan, rows: Rows, outputs: Path, *, computed: int) -> None:
        self.plan, self.rows, self.outputs = plan, rows, outputs
        self.computed = computed  # now, and not found

    @property
    def id(self) -> str:
        """The sweep's id: `bythebook show sweep:<id>`."""
        return self.plan.id

    @property
    def folder(self) -> Path:
        """Its plan, tables and figure."""
        return self.outputs / "sweeps" / self.plan.id

    @cached_property
    def cells(self) -> "pd.DataFrame":
        """One row a cell: the knobs, the run, every single number."""
        return self._short(self._table)

    @cached_property
    def frame(self) -> "pd.DataFrame":
        """Mean and standard error over seeds, one row for each combination of the other knobs."""
        table = self._table
        if not metric_names(table, self.plan):  # every cell failed
            return self._short(table[self.plan.knobs].head(0).assign(runs=0))
        return self._short(pivot_table(self.plan, table))

    @cached_property
    def errors(self) -> dict[str, str]:
        """What went wrong, for each cell that failed."""
        return {self.plan.label(i): self.rows.errors[i] for i in sorted(self.rows.errors)}

    def figure(self, metric: str | None = None) -> "Figure":
        """The figure, drawn anew for you to change and save; of another metric if you name one."""
        from experiments.drawing import canvas, layout

        plan, table = self._of(metric)
        if not metric_names(table, plan):
            raise BadInput(f"{self.id}: {recorded.NUMBERLESS}")
        with canvas.style("screen"):
            drawn = drawing.figures(plan, table, pivot_table(plan, table))["sweep"]
            layout.fit(drawn)
        return drawn

    @cached_property
    def _table(self) -> "pd.DataFrame":
        return long_table(self.plan, self.rows)

    def _of(self, metric: str | None) -> "tuple[Plan, pd.DataFrame]":
        """The plan and its table with a metric; an expression is evaluated on the records."""
        if metric is None or metric in metric_names(self._table, self.plan):
            return replace(self.plan, metric=metric or self.plan.metric), self._table
        found = recorded.Swept(self.folder, *read_sweep(self.folder))
        found.check(metric, self.outputs)
        return recorded.cells(found, self.outputs, metric)

    def _short(self, table: "pd.DataFrame") -> "pd.DataFrame":
        """Knobs by the names they were given by, where no other column has that name."""
        names = {knob: short(knob) for knob in self.plan.swept if short(knob) not in table}
        return table.rename(columns=names)

    @property
    def _how(self) -> str:
        found = len(self.rows) - self.computed
        failed = f", {len(self.errors)} failed" if self.errors else ""
        return f"{len(self.rows)} cells, {self.computed} computed, {found} found{failed}"

    def __repr__(self) -> str:
        lines = [f"{self.plan.title}: {self.id}, {self._how}"]
        columns, rows = recorded.pivot(self.plan, self._table)
        lines += _aligned([columns, *rows[:SHOWN]]) if rows else [recorded.NUMBERLESS]
        lines += [f"... {len(rows)} in all"] if len(rows) > SHOWN else []
        return "\n".join(lines + self._failures)

    def _repr_html_(self) -> str:
        parts: list[Any] = [html.bold(self.plan.title, f"({self.id}, {self._how})")]
        columns, rows = recorded.pivot(self.plan, self._table)
        picture = self.folder / "sweep.png"
        if rows and picture.exists():
            parts.append(html.images([picture]))
        parts += [f"the first {SHOWN} of {len(rows)}:"] if len(rows) > SHOWN else []
        parts += [html.table(columns, rows[:SHOWN]), EXPLAINED] if rows else [recorded.NUMBERLESS]
        return html.block(*parts, *self._failures)

    @property
    def _failures(self) -> list[str]:
        found = [f"failed: {cell}: {error}" for cell, error in self.errors.items()]
        more = [f"... and {len(found) - FAILURES} more in .errors"] if len(found) > FAILURES else []
        return found[:FAILURES] + more


def _aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = (zip(row, widths, strict=True) for row in rows)
    return ["  ".join(cell.ljust(width) for cell, width in row).rstrip() for row in padded]
