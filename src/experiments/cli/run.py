"""`bythebook run`: one configuration, or a sweep with `-m`, with overrides in Hydra's grammar."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hydra.core.global_hydra import GlobalHydra
from omegaconf import OmegaConf
from rich.markup import escape

from bythebook.experiments.api import pipeline
from bythebook.experiments.cli import console, dry_run, help, single_run, sweep_views
from bythebook.experiments.cli.exit_codes import OK, UNEXPECTED
from bythebook.experiments.cli.outdated_runs import warn_corrupt_files
from bythebook.experiments.config.credentials import redact_credentials
from bythebook.experiments.config.hydra_compose import (
    CONFIG,
    ComposedConfig,
    ConfigComposer,
    hydra_composer,
)
from bythebook.experiments.config.overrides import CommandLine, parse_command_line
from bythebook.experiments.config.paths import ensure_writable, resolve_output_dir
from bythebook.experiments.config.schema import RunSettings
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.execution import launchers
from bythebook.experiments.execution.runner import CompletedRun
from bythebook.experiments.store import tags as run_tags
from bythebook.experiments.store.run_store import RunStore
from bythebook.experiments.sweeps.grid import expand_sweep
from bythebook.experiments.sweeps.plan import SweepCell, SweepPlan, SweepTable
from bythebook.experiments.sweeps.run import run_sweep
from bythebook.experiments.sweeps.tables import MAX_METRICS, cells_frame

MAX_FAILURES = 10  # failed runs listed at the end of a sweep


def main(arguments: list[str]) -> int:
    """Parse the command line, and run a configuration or a sweep."""
    if {"-h", "--help"} & set(arguments):
        return help.show([word for word in arguments if word not in ("-h", "--help")])
    if "--hydra-help" in arguments:
        return help.show_override_syntax()
    options = parse_command_line(arguments)
    with hydra_composer(options.overrides, options.config_dirs) as compose:
        if options.info is not None:
            return _print_hydra_info(options)
        if options.cfg is not None:
            return _print_config(options, compose)
        if options.sweep:
            grid, settings = expand_sweep(options.words, compose)
            settings.outputs = options.outputs or settings.outputs
            return run_multi(grid, options, settings)
        for override in options.overrides:
            if override.is_sweep_override():
                raise InputError(
                    f"'{override.input_line}' has several values; use -m to sweep over them,"
                    " or quote them as one value"
                )
        composed = compose(options.words)
        composed.settings.outputs = options.outputs or composed.settings.outputs
    tags = run_tags.parse_tags(options.tags)
    return run_single(composed, dry=options.dry_run, tags=tags, verbose=options.verbose)


def _print_config(options: CommandLine, compose: ConfigComposer) -> int:
    """Print the composed configuration as YAML, for `--cfg`."""
    config: Any = compose.config(options.words)
    if options.cfg == "job":
        config = OmegaConf.masked_copy(config, [name for name in config if name != "hydra"])
    elif options.cfg == "hydra":
        config = OmegaConf.masked_copy(config, ["hydra"])
    if options.package is not None:
        part = OmegaConf.select(config, options.package)
        if part is None:
            raise InputError(f"--package {options.package}: the configuration has no such node")
        print(f"# @package {options.package}")
        config = part
    print(redact_credentials(OmegaConf.to_yaml(config, resolve=options.resolve)), end="")
    return OK


def _print_hydra_info(options: CommandLine) -> int:
    """Print how Hydra composed the configuration, for `--info`."""
    hydra = GlobalHydra.instance().hydra
    assert hydra is not None
    hydra.show_info(options.info or "all", CONFIG, options.words)
    return OK


def run_single(
    composed: ComposedConfig,
    *,
    dry: bool = False,
    tags: Mapping[str, str] | None = None,
    verbose: bool = False,
) -> int:
    """Run a single configuration, or with `dry` show what would run."""
    job, cfg = composed.job_factory.job(), composed.settings
    if dry:
        return dry_run.show_plan(
            [(job.title, job)], resolve_output_dir(cfg.outputs), force=cfg.force
        )
    return single_run.run(job, cfg, tags, verbose=verbose)


def run_multi(cells: Sequence[SweepCell], options: CommandLine, cfg: RunSettings) -> int:
    """Run a sweep."""
    plan = SweepPlan.from_cells(cells, options.words, cfg.metric)
    tags = run_tags.parse_tags(options.tags)
    if options.dry_run:
        named = [(plan.label(i), cell.job) for i, cell in enumerate(cells)]
        return dry_run.show_plan(named, resolve_output_dir(cfg.outputs), force=cfg.force)
    launcher = launchers.make_launcher(cfg.launcher, cfg.jobs)
    outputs = ensure_writable(resolve_output_dir(cfg.outputs))
    warn_corrupt_files(RunStore(outputs))
    tracker = single_run.tracker_for(cfg, outputs)
    pipeline.validate_metric(cfg.metric, cells[0].job, outputs, **single_run.limit_options(cfg))
    console.out.print(f"{plan.id}: {len(cells)} runs, {escape(plan.title)}")
    computed = 0
    with console.progress_bar() as progress:
        bar = progress.add_task("running", total=len(cells))

        def on_done(done: CompletedRun) -> None:
            nonlocal computed
            computed += done.computed
            progress.advance(bar)
            error = done.summary.error
            if error:
                line = f"{plan.label(done.index)} failed: {error['type']}: {error['message']}"
                progress.console.print(escape(line))

        rows = run_sweep(
            cells,
            plan,
            outputs,
            tracker,
            launcher,
            on_done=on_done,
            tags=tags,
            force=cfg.force,
            **single_run.limit_options(cfg),
        )
    return _print_sweep_summary(plan, rows, computed, outputs)


def _print_sweep_summary(plan: SweepPlan, rows: SweepTable, computed: int, outputs: Path) -> int:
    failed = sorted(rows.errors)
    cached = len(rows) - computed
    if len(rows) > len(failed):
        sweep_views.print_means(plan, cells_frame(plan, rows))
    line = f"{len(rows)} runs: {computed} computed, {cached} cached, {len(failed)} failed"
    console.out.print(line)
    folder = outputs / "sweeps" / plan.id
    for path in (folder, *sorted(folder.glob("*.png"))):
        console.out.print(f"[dim]{escape(str(path))}[/dim]")
    if rows.problem:
        console.notify(f"metric={rows.problem}")
    for index in failed[:MAX_FAILURES]:
        console.notify(f"failed: {plan.label(index)}: {rows.errors[index]}")
    if len(failed) > MAX_FAILURES:
        console.notify(f"... and {len(failed) - MAX_FAILURES} more in cells.csv")
    omitted = len(rows.names()) - MAX_METRICS
    if omitted > 0:
        console.notify(
            f"cells.csv and pivot.csv contain the {MAX_METRICS} most common metrics;"
            f" {omitted} more are in the records of the runs"
        )
    return UNEXPECTED if failed else OK
