"""Settings of a run, with their types and bounds."""

from dataclasses import dataclass, field
from typing import Any

from bythebook.experiments.config.job import Source
from bythebook.experiments.core.claims import Claim
from bythebook.experiments.core.knobs import knob

TRACKING = ("local", "server", "off")
LAUNCHERS = ("local", "dask", "slurm")
CLUSTERS = ("slurm", "local")
MAX_CELLS = 1_000_000


@dataclass
class LauncherConfig:
    """Where the runs of a sweep are computed."""

    kind: str = knob("local", "where runs are computed", choices=LAUNCHERS)
    address: str | None = None  # dask: address of the scheduler
    cluster: str = knob("slurm", "`local` runs submitit's jobs on this machine", choices=CLUSTERS)
    workers: int = knob(2, "slurm: number of jobs in the queue", at_least=1)
    minutes: int = knob(60, "slurm: time limit of one job", at_least=1)
    memory_gb: float = knob(4.0, "slurm: memory of one job", above=0)
    options: dict[str, Any] = field(default_factory=dict)  # slurm: further submitit parameters


@dataclass
class ResourceLimits:
    """Limits of one run; null means no limit."""

    timeout: float | None = knob(None, "seconds of computing", above=0, at_most=1e7)
    memory_gb: float | None = knob(
        None, "GB in addition to the process itself", above=0, at_most=1e6
    )


@dataclass
class RunSettings:
    """How to run. Only the command line and the environment set these, never a result's file."""

    tracking: str = knob("local", "where runs are logged", choices=TRACKING)
    tracking_uri: str | None = knob(None, "address of the MLflow server, for tracking=server")
    data_dir: str | None = knob(None, "folder of the authors' original files (BYTHEBOOK_DATA)")
    outputs: str | None = knob(None, "folder of the recorded runs (the project's outputs/)")
    jobs: int = knob(1, "number of processes of a sweep", at_least=1)
    max_cells: int = knob(MAX_CELLS, "maximum number of runs in a sweep", at_least=1)
    launcher: LauncherConfig = field(default_factory=LauncherConfig)
    limits: ResourceLimits = field(default_factory=ResourceLimits)
    force: bool = knob(False, "compute again what is already recorded")
    figures: bool = knob(True, "draw the figures of a single run")
    metric: str | None = knob(None, "quantity or expression that a sweep's figure shows")


@dataclass
class RunConfig(RunSettings):
    """All keys that a command line can set."""

    study: dict[str, Any] | None = None
    seed: int = knob(0, "seed of the random numbers", at_least=0)
    source: Source = field(default_factory=Source)
    let: dict[str, str] = field(default_factory=dict)  # named parts of the claims' expressions
    claims: list[Claim] = field(default_factory=list)
