"""`bythebook run`: one configuration, or a sweep with `-m`, in Hydra's own grammar."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hydra.core.global_hydra import GlobalHydra
from omegaconf import OmegaConf
from rich.markup import escape

from experiments.commands import console, help, performing, preview, single, sweep_views
from experiments.commands.codes import OK, UNEXPECTED
from experiments.commands.older import tell_of_damage
from experiments.configuration.arguments import Arguments, read
from experiments.configuration.compose import CONFIG, Composed, Composer, composer
from experiments.configuration.passwords import redacted
from experiments.configuration.paths import outputs_folder, writable
from experiments.configuration.schema import Settings
from experiments.contract.errors import BadInput
from experiments.records import tags as run_tags
from experiments.records.store import RunStore
from experiments.running import launchers
from experiments.running.runner import Done
from experiments.sweeping.expand import cells
from experiments.sweeping.plan import Cell, Plan, Rows
from experiments.sweeping.run import run_sweep
from experiments.sweeping.tables import WIDEST, long_table

SHOWN = 10  # failed cells that the end of a sweep names


def main(arguments: list[str]) -> int:
    """Compose, run, record, judge, log."""
    if {"-h", "--help"} & set(arguments):
        return help.show([word for word in arguments if word not in ("-h", "--help")])
    if "--hydra-help" in arguments:
        return help.show_grammar()
    given = read(arguments)
    with composer(given.overrides, given.config_dirs) as compose:
        if given.info is not None:
            return _info(given)
        if given.cfg is not None:
            return _configuration(given, compose)
        if given.sweep:
            grid, settings = cells(given.words, compose)
            settings.outputs = given.outputs or settings.outputs
            return many(grid, given, settings)
        for override in given.overrides:
            if override.is_sweep_override():
                raise BadInput(
                    f"'{override.input_line}' has several values: -m sweeps over them,"
                    " quotes make them one"
                )
        composed = compose(given.words)
        composed.settings.outputs = given.outputs or composed.settings.outputs
    return one(composed, dry=given.dry_run, tags=run_tags.parsed(given.tags))


def _configuration(given: Arguments, compose: Composer) -> int:
    """`--cfg`: the composed configuration as YAML."""
    config: Any = compose.config(given.words)
    if given.cfg == "job":
        config = OmegaConf.masked_copy(config, [name for name in config if name != "hydra"])
    elif given.cfg == "hydra":
        config = OmegaConf.masked_copy(config, ["hydra"])
    if given.package is not None:
        part = OmegaConf.select(config, given.package)
        if part is None:
            raise BadInput(f"--package {given.package}: there is no such part of the configuration")
        print(f"# @package {given.package}")
        config = part
    print(redacted(OmegaConf.to_yaml(config, resolve=given.resolve)), end="")
    return OK


def _info(given: Arguments) -> int:
    """`--info`: how Hydra came to it."""
    hydra = GlobalHydra.instance().hydra
    assert hydra is not None
    hydra.show_info(given.info or "all", CONFIG, given.words)
    return OK


def one(composed: Composed, *, dry: bool = False, tags: Mapping[str, str] | None = None) -> int:
    """A single run."""
    job, cfg = composed.template.job(), composed.settings
    if dry:
        return preview.show([(job.title, job)], outputs_folder(cfg.outputs), fresh=cfg.fresh)
    return single.run(job, cfg, tags)


def many(cells: Sequence[Cell], given: Arguments, cfg: Settings) -> int:
    """A sweep."""
    plan, tags = Plan.of(cells, given.words, cfg.metric), run_tags.parsed(given.tags)
    if given.dry_run:
        named = [(plan.label(i), cell.job) for i, cell in enumerate(cells)]
        return preview.show(named, outputs_folder(cfg.outputs), fresh=cfg.fresh)
    launcher = launchers.make(cfg.launch, cfg.jobs)
    outputs = writable(outputs_folder(cfg.outputs))
    tell_of_damage(RunStore(outputs))
    tracker = single.tracker_of(cfg, outputs)
    performing.try_metric(cfg.metric, cells[0].job, outputs, **single.limits(cfg))
    console.out.print(f"{plan.id}: {len(cells)} cells, {escape(plan.title)}")
    computed = 0
    with console.counting() as progress:
        bar = progress.add_task("running", total=len(cells))

        def on_done(done: Done) -> None:
            nonlocal computed
            computed += done.computed
            progress.advance(bar)
            error = done.told.error
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
            fresh=cfg.fresh,
            **single.limits(cfg),
        )
    return _tell_many(plan, rows, computed, outputs)


def _tell_many(plan: Plan, rows: Rows, computed: int, outputs: Path) -> int:
    failed = sorted(rows.errors)
    found = len(rows) - computed
    if len(rows) > len(failed):
        sweep_views.print_pivot(plan, long_table(plan, rows))
    line = f"{len(rows)} cells: {computed} computed, {found} found, {len(failed)} failed"
    console.out.print(line)
    folder = outputs / "sweeps" / plan.id
    for path in (folder, *sorted(folder.glob("*.png"))):
        console.out.print(f"[dim]{escape(str(path))}[/dim]")
    if rows.problem:
        console.tell(f"metric={rows.problem}")
    for index in failed[:SHOWN]:
        console.tell(f"failed: {plan.label(index)}: {rows.errors[index]}")
    left_out = len(rows.names()) - WIDEST
    if left_out > 0:
        console.tell(
            f"cells.csv and pivot.csv hold the {WIDEST} metrics that most cells have;"
            f" the other {left_out} are in the runs' records"
        )
    if len(failed) > SHOWN:
        console.tell(f"... and {len(failed) - SHOWN} more, in cells.csv")
    return UNEXPECTED if failed else OK
