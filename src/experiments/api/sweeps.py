"""`sweep`: run a result or a study for all combinations of knob values."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bythebook.experiments.api import arguments, html, pipeline, settings
from bythebook.experiments.config.schema import MAX_CELLS, LauncherConfig
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.execution import launchers
from bythebook.experiments.execution.runner import CompletedRun
from bythebook.experiments.sweeps import figures, recorded_sweeps
from bythebook.experiments.sweeps.grid import GridBlock, SweepGrid
from bythebook.experiments.sweeps.plan import SweepPlan, SweepTable, short_name
from bythebook.experiments.sweeps.run import load_sweep, run_sweep
from bythebook.experiments.sweeps.tables import cells_frame, means_frame, metric_names

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

KEYWORDS = (
    *("jobs", "metric", "max_cells", "outputs", "data_dir", "force"),
    *("tracking", "tracking_uri", "tags", "progress"),
)
MAX_ROWS = 40  # rows of means on a page
MAX_FAILURES = 10  # failed runs on a page


def sweep(
    what: str,
    /,
    *,
    jobs: int = 1,
    metric: str | None = None,
    max_cells: int = MAX_CELLS,
    outputs: str | Path | None = None,
    data_dir: str | Path | None = None,
    force: bool = False,
    tracking: str = "local",
    tracking_uri: str | None = None,
    tags: Mapping[str, Any] | None = None,
    progress: Callable[[int, int], object] | None = None,
    **knobs: Any,
) -> "Sweep":
    """Run every combination of the knobs' values; recorded runs are not computed again.

    A knob is swept if it is a list that the knob does not accept as one value: `noise=[0.1, 0.3]`,
    `seed=range(20)`, `orders=[[1, 2], [1, 2, 3]]`. The last knob varies fastest, as on the command
    line; the same sweep typed there has the same id.

    jobs       number of processes
    metric     the quantity or expression in the figure, `loo_loss[3]`
    max_cells  the largest number of runs in a sweep; protects against a mistyped range
    progress   called after every run with the number of finished runs and the number of all runs
    The other arguments are those of `run`.
    """
    target = arguments.resolve_target(what)
    changes = target.overrides(knobs, KEYWORDS)
    fixed, axes = arguments.split_swept(target, changes)
    if type(jobs) is not int or jobs < 1:
        raise InputError(f"jobs={jobs!r} is not allowed; allowed: int, >= 1")
    count = math.prod(len(values) for values in axes.values())
    if count > max_cells:
        raise InputError(
            f"the sweep has {count:,} runs; allowed: {max_cells:,} (set max_cells to raise this)"
        )
    template = target.job_factory(fixed, data_dir)
    grid_axes = [
        [(key, arguments.to_override(value), value) for value in values]
        for key, values in axes.items()
    ]
    cells = SweepGrid([GridBlock(template, {}, grid_axes)], list(axes))
    if not len(cells):
        raise InputError("the sweep has no runs; allowed: at least one value of every knob")
    overrides = arguments.to_overrides(target, fixed, axes)
    if data_dir is not None:
        overrides.append(f"data_dir={arguments.to_override(str(data_dir))}")
    if metric is not None:
        overrides.append(f"metric={arguments.to_override(metric)}")
    if jobs > 1:
        overrides.append(f"jobs={jobs}")
    plan = SweepPlan.from_cells(cells, overrides, metric or target.metric)
    own_tags = settings.validated_tags(tags)
    folder = settings.writable_output_dir(outputs)
    tracker = settings.tracker_for(tracking, tracking_uri, folder)
    pipeline.validate_metric(plan.metric, cells[0].job, folder)
    n_done = n_computed = 0

    def on_done(done: CompletedRun) -> None:
        nonlocal n_done, n_computed
        n_done += 1
        n_computed += done.computed
        if progress is not None:
            progress(n_done, len(cells))

    launcher = launchers.make_launcher(LauncherConfig(), jobs)
    rows = run_sweep(
        cells, plan, folder, tracker, launcher, on_done=on_done, tags=own_tags, force=force
    )
    return Sweep(plan, rows, folder, computed=n_computed)


class Sweep:
    """The runs of a sweep, their means over seeds, and its figure."""

    def __init__(self, plan: SweepPlan, rows: SweepTable, outputs: Path, *, computed: int) -> None:
        self.plan, self.rows, self.outputs = plan, rows, outputs
        self.computed = computed  # number of runs that this call computed

    @property
    def id(self) -> str:
        """The sweep's id, for `bythebook show sweep:<id>`."""
        return self.plan.id

    @property
    def folder(self) -> Path:
        """The folder of its plan, tables and figure."""
        return self.outputs / "sweeps" / self.plan.id

    @cached_property
    def cells(self) -> "pd.DataFrame":
        """One row per run: the knobs, the run's id, every single number."""
        return self._short(self._table)

    @cached_property
    def frame(self) -> "pd.DataFrame":
        """Mean and standard error over seeds, one row per combination of the other knobs."""
        table = self._table
        if not metric_names(table, self.plan):  # every run failed
            return self._short(table[self.plan.varied_parameters].head(0).assign(runs=0))
        return self._short(means_frame(self.plan, table))

    @cached_property
    def errors(self) -> dict[str, str]:
        """Type and message of the error, for each run that failed."""
        return {self.plan.label(i): self.rows.errors[i] for i in sorted(self.rows.errors)}

    def figure(self, metric: str | None = None) -> "Figure":
        """A new Matplotlib figure that you can change and save; `metric` selects another metric."""
        from bythebook.experiments.plotting import canvas, text_wrap

        plan, table = self._with_metric(metric)
        if not metric_names(table, plan):
            raise InputError(f"{self.id}: {recorded_sweeps.NO_METRIC_MESSAGE}")
        with canvas.style("screen"):
            figure = figures.draw_figures(plan, table, means_frame(plan, table))["sweep"]
            text_wrap.fit_text(figure)
        return figure

    @cached_property
    def _table(self) -> "pd.DataFrame":
        return cells_frame(self.plan, self.rows)

    def _with_metric(self, metric: str | None) -> "tuple[SweepPlan, pd.DataFrame]":
        """The plan and the table with a metric; an expression is evaluated on the records."""
        if metric is None or metric in metric_names(self._table, self.plan):
            return replace(self.plan, metric=metric or self.plan.metric), self._table
        sweep = recorded_sweeps.RecordedSweep(self.folder, *load_sweep(self.folder))
        sweep.check(metric, self.outputs)
        return recorded_sweeps.load_cells(sweep, self.outputs, metric)

    def _short(self, table: "pd.DataFrame") -> "pd.DataFrame":
        """Rename the columns of knobs to their short names unless another column has that name."""
        names = {
            knob: short_name(knob) for knob in self.plan.swept if short_name(knob) not in table
        }
        return table.rename(columns=names)

    @property
    def _status_line(self) -> str:
        cached, failed = len(self.rows) - self.computed, len(self.errors)
        return f"{len(self.rows)} runs: {self.computed} computed, {cached} cached, {failed} failed"

    def __repr__(self) -> str:
        lines = [f"{self.plan.title} ({self.id}), {self._status_line}"]
        columns, rows = recorded_sweeps.means_table(self.plan, self._table)
        lines += (
            _aligned([columns, *rows[:MAX_ROWS]]) if rows else [recorded_sweeps.NO_METRIC_MESSAGE]
        )
        lines += [f"... {len(rows)} in all"] if len(rows) > MAX_ROWS else []
        return "\n".join(lines + self._failures)

    def _repr_html_(self) -> str:
        parts: list[Any] = [html.bold(self.plan.title, f"({self.id}, {self._status_line})")]
        columns, rows = recorded_sweeps.means_table(self.plan, self._table)
        path = self.folder / "sweep.png"
        if rows and path.exists():
            parts.append(html.inline_images([path]))
        parts += [f"the first {MAX_ROWS} of {len(rows)}:"] if len(rows) > MAX_ROWS else []
        parts += (
            [html.table(columns, rows[:MAX_ROWS]), recorded_sweeps.LEGEND]
            if rows
            else [recorded_sweeps.NO_METRIC_MESSAGE]
        )
        return html.vertical(*parts, *self._failures)

    @property
    def _failures(self) -> list[str]:
        lines = [f"failed: {label}: {error}" for label, error in self.errors.items()]
        if len(lines) <= MAX_FAILURES:
            return lines
        return [*lines[:MAX_FAILURES], f"... and {len(lines) - MAX_FAILURES} more in .errors"]


def _aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = (zip(row, widths, strict=True) for row in rows)
    return ["  ".join(cell.ljust(width) for cell, width in row).rstrip() for row in padded]
