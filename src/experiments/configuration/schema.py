"""The shape of a whole configuration: what may be set, with types and bounds."""

from dataclasses import dataclass, field
from typing import Any

from experiments.configuration.jobs import Source
from experiments.contract.claims import Claim
from experiments.contract.knobs import knob

TRACKING = ("local", "server", "off")
LAUNCHERS = ("local", "dask", "slurm")
CLUSTERS = ("slurm", "local")
MOST_CELLS = 1_000_000


@dataclass
class Tracking:
    """Where runs are logged."""

    kind: str = knob("local", "where runs are logged", choices=TRACKING)
    uri: str | None = None


@dataclass
class Data:
    """Where the authors' original files are."""

    dir: str | None = None


@dataclass
class Launch:
    """Where the runs of a sweep are made."""

    kind: str = knob("local", "what makes them", choices=LAUNCHERS)
    address: str | None = None  # dask: the scheduler's
    cluster: str = knob("slurm", "`local` has submitit's jobs on this machine", choices=CLUSTERS)
    workers: int = knob(2, "slurm: jobs in the queue at once", at_least=1)
    minutes: int = knob(60, "slurm: time limit of one job", at_least=1)
    memory_gb: float = knob(4.0, "slurm: memory of one job", above=0)
    options: dict[str, Any] = field(default_factory=dict)  # slurm: further submitit parameters


@dataclass
class Limit:
    """What one run may use; null is no limit."""

    seconds: float | None = knob(None, "of computing", above=0, at_most=1e7)
    memory_gb: float | None = knob(None, "beyond what the process has", above=0, at_most=1e6)


@dataclass
class Settings:
    """How to run: no part of the science, and from the command line or the environment alone."""

    tracking: Tracking = field(default_factory=Tracking)
    data: Data = field(default_factory=Data)
    outputs: str | None = knob(None, "where runs are kept (the project's outputs/)")
    jobs: int = knob(1, "processes of a sweep", at_least=1)
    most_cells: int = knob(MOST_CELLS, "that a sweep may have", at_least=1)
    launch: Launch = field(default_factory=Launch)
    limit: Limit = field(default_factory=Limit)
    fresh: bool = knob(False, "compute again what is already recorded")
    figures: bool = knob(True, "draw the figures of a single run")
    metric: str | None = knob(None, "the quantity or expression that a sweep's figure shows")


@dataclass
class Root(Settings):
    """Everything that a command line can set."""

    study: dict[str, Any] | None = None
    seed: int = knob(0, "of the random stream", at_least=0)
    source: Source = field(default_factory=Source)
    claims: list[Claim] = field(default_factory=list)
