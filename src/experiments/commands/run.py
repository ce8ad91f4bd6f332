"""`bythebook run`: one configuration, or a sweep with `-m`, in Hydra's own grammar."""

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import hydra
import yaml
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException
from rich.markup import escape
from rich.progress import Progress

from experiments.cli import OK, UNEXPECTED
from experiments.commands import console, help, preview
from experiments.configuration import catalogue, compose, input_checks
from experiments.configuration.compose import job_from
from experiments.configuration.errors import explained
from experiments.configuration.jobs import Job
from experiments.configuration.paths import outputs_folder, writable
from experiments.contract.errors import BadInput
from experiments.records import run_files
from experiments.records.store import Record
from experiments.running import launchers
from experiments.running.runner import Done, perform_all
from experiments.sweeping import expand
from experiments.sweeping.plan import Cell, Plan, Rows
from experiments.sweeping.run import run_sweep
from experiments.sweeping.tables import WIDEST
from experiments.tracking.client import Forgiving, Tracker, open_tracker
from experiments.tracking.runs import payload

SHOWN = 10  # failed cells that the end of a sweep names


def main(arguments: list[str]) -> int:
    """Compose with Hydra, run, record, judge, log."""
    dry = "--dry-run" in arguments
    arguments = [argument for argument in arguments if argument != "--dry-run"]
    if {"-h", "--help"} & set(arguments):
        return help.show()
    arguments = input_checks.admitted(arguments)
    input_checks.install()
    compose.register(arguments)
    told: list[int | BaseException] = []

    def run_one(cfg: DictConfig) -> None:
        experiment = HydraConfig.get().runtime.choices.get("experiment")
        _keep(told, lambda: one(cfg, experiment, dry=dry))

    def run_many(cells: Sequence[Cell], overrides: list[str], cfg: DictConfig) -> None:
        _keep(told, lambda: many(cells, overrides, cfg, dry=dry))

    expand.register(run_many)
    os.environ["HYDRA_FULL_ERROR"] = "1"  # errors come here as exceptions, to be told in one line
    sys.argv = ["bythebook run", *arguments]
    launch = hydra.main(
        version_base="1.3", config_path="pkg://experiments.conf", config_name="config"
    )
    try:
        launch(run_one)()
    except (HydraException, OmegaConfBaseException, yaml.YAMLError, UnicodeDecodeError) as error:
        raise explained(error, _chosen_study(arguments)) from error
    except (OverflowError, TypeError, ValueError) as error:
        if not _is_of_hydra(error):
            raise
        raise BadInput(f"{' '.join(arguments)}: {error}".partition("\n")[0]) from error
    except RecursionError as error:
        raise BadInput("the configuration is nested too deeply") from error
    for end in told:
        if isinstance(end, OmegaConfBaseException):
            raise explained(end, _chosen_study(arguments)) from end
        if isinstance(end, BaseException):
            raise end
    return max((end for end in told if isinstance(end, int)), default=OK)


def _is_of_hydra(error: BaseException) -> bool:
    """Was it raised by Hydra or OmegaConf, over what they were given to read?"""
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    module = step.tb_frame.f_globals["__name__"] if step is not None else ""
    return module.partition(".")[0] in ("hydra", "omegaconf")


def _chosen_study(arguments: list[str]) -> str | None:
    """The study that a faulty command line was about, for the error message."""
    for argument in arguments:
        group, _, name = argument.partition("=")
        if group == "study":
            return name
        if group == "experiment" and name in catalogue.names():
            return catalogue.read(name).study
    return None


def _keep(told: list[int | BaseException], action: Callable[[], int]) -> None:
    """Hydra comments on exceptions that pass through it; carry them round it."""
    try:
        told.append(action())
    except (Exception, KeyboardInterrupt) as error:
        told.append(error)


def one(cfg: DictConfig, experiment: str | None, *, dry: bool = False) -> int:
    """A single run."""
    job = job_from(cfg, experiment)
    if dry:
        return preview.show([(job.title, job)], outputs_folder(cfg.outputs), fresh=cfg.fresh)
    outputs = writable(outputs_folder(cfg.outputs))
    tracker = _tracker(cfg, outputs)
    (done,) = perform_all([job], outputs, fresh=cfg.fresh, **_limits(cfg))
    drawn = not cfg.figures or _draw(done.record)
    if tracker is not None:
        tracker.put([payload(done.record)])
    code = _tell_one(job, done)
    return code if drawn else UNEXPECTED


def _draw(record: Record) -> bool:
    """Draw; strange numbers that no figure can hold cost the figures and not the run."""
    try:
        run_files.ensure(record)
    except (BadInput, OSError):
        raise
    except Exception as error:
        console.tell(f"the figures cannot be drawn: {type(error).__name__}: {error}")
        return False
    return True


def many(cells: Sequence[Cell], overrides: list[str], cfg: DictConfig, *, dry: bool = False) -> int:
    """A sweep."""
    plan = Plan.of(cells, overrides, cfg.metric)
    if dry:
        named = [(plan.label(i), cell.job) for i, cell in enumerate(cells)]
        return preview.show(named, outputs_folder(cfg.outputs), fresh=cfg.fresh)
    launcher = launchers.make(cfg.launch, cfg.jobs)
    outputs = writable(outputs_folder(cfg.outputs))
    tracker = _tracker(cfg, outputs)
    console.out.print(f"{plan.id}: {len(cells)} cells, {escape(plan.title)}")
    computed = 0
    with Progress(console=console.err, transient=True) as progress:
        bar = progress.add_task("running", total=len(cells))

        def on_done(done: Done) -> None:
            nonlocal computed
            computed += done.computed
            progress.advance(bar)
            if not done.record.finished:
                error = done.record["error"]
                line = f"{plan.label(done.index)} failed: {error['type']}: {error['message']}"
                progress.console.print(escape(line))

        rows = run_sweep(
            cells,
            plan,
            outputs,
            tracker,
            launcher,
            on_done=on_done,
            fresh=cfg.fresh,
            **_limits(cfg),
        )
    return _tell_many(plan, rows, computed, outputs)


def _limits(cfg: DictConfig) -> dict[str, Any]:
    return {"seconds": cfg.limit.seconds, "memory_gb": cfg.limit.memory_gb}


def _tracker(cfg: DictConfig, outputs: Path) -> Tracker | None:
    tracker = open_tracker(cfg.tracking.kind, cfg.tracking.uri, outputs)
    return Forgiving(tracker, console.tell) if tracker is not None else None


def _tell_one(job: Job, done: Done) -> int:
    record, out = done.record, console.out
    how = "computed" if done.computed else "already recorded (fresh=true computes it again)"
    seconds = record["provenance"]["seconds"]
    out.print(f"[bold]{escape(job.title)}[/bold]  run {record.id}  {how}, {seconds:.3f} s")
    if not record.finished:
        error = record["error"]
        console.tell(f"the run failed: {error['type']}: {error['message']}")
        console.tell(f"traceback in {record.folder / 'run.json'}")
        return UNEXPECTED
    if record.verdicts:
        if not job.canonical:
            out.print(
                "[dim]settings differ from the book's; the claims are judged all the same[/dim]"
            )
        console.claims_table(record.verdicts)
        judged = {verdict["says"] for verdict in record.verdicts}
        for claim in job.claims:
            if claim.says not in judged:
                name = escape(claim.expression)
                out.print(f"[dim]not judged, for want of {name}: {escape(claim.says)}[/dim]")
    else:
        rows = [(escape(k), _shown(v)) for k, v in record.metrics.items()]
        console.table(["metric", "value"], rows)
    out.print(f"[dim]{escape(str(record.folder))}[/dim]")
    return UNEXPECTED if job.canonical and record.surprises else OK


def _shown(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else escape(str(value))


def _tell_many(plan: Plan, rows: Rows, computed: int, outputs: Path) -> int:
    failed = sorted(rows.errors)
    found = len(rows) - computed
    line = f"{len(rows)} cells: {computed} computed, {found} found, {len(failed)} failed"
    console.out.print(line)
    console.out.print(f"[dim]{escape(str(outputs / 'sweeps' / plan.id))}[/dim]")
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
