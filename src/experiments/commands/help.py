"""`bythebook run --help`: every study with its knobs."""

import dataclasses
from typing import Any

from rich.markup import escape

from experiments.cli import OK
from experiments.commands import console
from experiments.configuration import compose
from experiments.contract.knobs import allowed
from experiments.contract.study import studies


def show() -> int:
    """Usage, settings, studies and knobs."""
    out = console.out
    out.print(
        "usage: bythebook run [-m] [experiment=<book>/<result> | study=<name>] [knob=value ...]\n"
    )
    out.print("  bythebook run experiment=fcml/fig-1.15")
    out.print("  bythebook run study=polynomial_order 'study.orders=[1,2,3]'")
    out.print("  bythebook run -m study=order_recovery 'seed=range(0,20)' study.noise=0.1,0.3\n")
    out.print(
        "--dry-run tells what would run, and why.\n"
        "Hydra's grammar and flags apply: --cfg job, --info, --config-dir DIR, --hydra-help.\n"
    )
    rows = [
        (field.name, escape(str(_default(field)))) for field in dataclasses.fields(compose.Root)
    ]
    skipped = {"study", "source", "claims", "tracking", "data", "launch", "limit"}
    console.table(["setting", "default"], [row for row in rows if row[0] not in skipped])
    out.print(
        "tracking=local|server|off, launch=local|dask|slurm, limit.seconds=, limit.memory_gb=,"
    )
    out.print("data.dir=<folder of the authors' original files>\n")
    for name, study in studies().items():
        out.print(
            f"[bold]study={name}[/bold]  {escape((study.__doc__ or '').strip().splitlines()[0])}"
        )
        knobs = [
            (
                f"  study.{f.name}",
                escape(_short(_default(f))),
                escape(allowed(f)),
                escape(f.metadata["doc"]),
            )
            for f in dataclasses.fields(study)
        ]
        console.table(["  knob", "default", "allowed", "meaning"], knobs)
        out.print()
    return OK


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 40 else text[:37] + "..."
