"""Configurations: the schema, and how a composed configuration becomes a job."""

import copy
import dataclasses
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from hydra.core.config_store import ConfigStore
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from experiments import catalogue
from experiments.claims import Claim
from experiments.complaints import explained, no_choice, no_such
from experiments.errors import BadInput
from experiments.jobs import Job, Printed, Source
from experiments.outcome import dumps
from experiments.paths import outputs_folder
from experiments.study import studies
from models import datasets

TRACKING = ("local", "server", "off")
LAUNCHERS = ("local", "dask", "slurm")
_RECORDED = ["study", "source", "claims", "metric"]


@dataclass
class Tracking:
    kind: str = "local"
    uri: str | None = None


@dataclass
class Data:
    dir: str | None = None


@dataclass
class Launch:
    """Where the runs of a sweep are made."""

    kind: str = "local"
    address: str | None = None  # dask: the scheduler's
    cluster: str = "slurm"  # slurm: `local` runs submitit's jobs on this machine
    workers: int = 2  # slurm: jobs in the queue at once
    minutes: int = 60  # slurm: time limit of one job
    memory_gb: float = 4.0  # slurm: memory of one job
    options: dict[str, Any] = field(default_factory=dict)  # slurm: further submitit parameters


@dataclass
class Limit:
    """What one run may use; null is no limit."""

    seconds: float | None = None
    memory_gb: float | None = None


@dataclass
class Root:
    """The shape of a whole configuration."""

    study: Any = None
    seed: int = 0
    source: Source = field(default_factory=Source)
    claims: list[Claim] = field(default_factory=list)
    tracking: Tracking = field(default_factory=Tracking)
    data: Data = field(default_factory=Data)
    outputs: str | None = None
    jobs: int = 1
    launch: Launch = field(default_factory=Launch)
    limit: Limit = field(default_factory=Limit)
    fresh: bool = False
    figures: bool = True
    metric: str | None = None  # the quantity that a sweep's figure shows


def register(overrides: Iterable[str] = ()) -> None:
    """Put the schema into Hydra's config store, and the studies that the overrides speak of.

    A hundred studies take a second to import; a command line that names the one it means need not
    wait for the others.
    """
    OmegaConf.register_new_resolver("outputs_folder", _outputs, replace=True)
    store = ConfigStore.instance()
    store.store(name="schema", node=Root)
    for name in _meant(overrides) or studies():
        store.store(group="study", name=name, node=studies()[name])


def _meant(overrides: Iterable[str]) -> set[str]:
    """The studies of the overrides; none where these leave any doubt."""
    found: set[str] = set()
    for override in overrides:
        group, _, names = override.lstrip("+~").partition("=")
        if group.startswith(("-c", "--config", "hydra.searchpath", "study@", "experiment@")):
            return set()  # files of the user's own, whose studies we do not know yet
        for name in names.split(",") if group in ("study", "experiment") else ():
            if group == "experiment" and name in catalogue.names():
                name = catalogue.read(name).study
            if name not in studies():
                return set()
            found.add(name)
    return found


def _outputs(stated: str | None) -> str:
    return str(outputs_folder(stated))


def job_from(config: DictConfig, experiment: str | None = None) -> Job:
    """Validate a composed configuration; every problem is reported at once."""
    return Template(config, experiment).job()


class Template:
    """A composed configuration, checked once, from which jobs are made that differ in a few knobs.

    What a sweep does not change (claims, source, settings) is converted once for all its cells.
    """

    def __init__(self, config: DictConfig, experiment: str | None = None) -> None:
        if config.study is None:
            raise BadInput(
                "nothing to run: give experiment=<book>/<result> (see `bythebook list`)"
                f" or study=<name>, one of {', '.join(studies())}"
            )
        problems = list(_problems(config))
        if problems:
            raise BadInput(problems)
        self.experiment, self.data_dir = experiment, config.data.dir
        self.printed = Printed(_object(config.source), tuple(_object(config.claims)))
        book, grade = self.printed.source.book, self.printed.source.grade
        if book and book not in catalogue.BOOKS:
            raise BadInput(f"source.book={book}; allowed: {', '.join(catalogue.BOOKS)}")
        if grade not in datasets.GRADES:
            raise BadInput(f"source.grade={grade}; allowed: {', '.join(datasets.GRADES)}")
        known = experiment in catalogue.names()  # else it is a file of the user's own
        stated = experiment_job(experiment) if experiment is not None and known else None
        self.book = stated if stated is not None and stated.printed == self.printed else None
        self.kind: Any = OmegaConf.get_type(config.study)
        self._scratch = OmegaConf.masked_copy(config, ["study", "seed"])
        self._knobs, self._seed = _contents(self._scratch)
        self._converted: dict[tuple[str, str], Any] = {}

    def job(self, changes: Mapping[str, Any] | None = None) -> Job:
        """The job with `seed` or knobs (`study.<name>`) set to other values."""
        knobs, seed = dict(self._knobs), self._seed
        for key, value in (changes or {}).items():
            if key == "seed":
                seed = self._convert(key, value)
            else:
                knobs[key.split(".")[1]] = self._convert(key, value)
        if seed < 0:
            raise BadInput(f"seed={seed} is not allowed; allowed: int >= 0")
        study = self.kind(**copy.deepcopy(knobs))
        job = Job(study, seed, self.printed, self.experiment, False, self.data_dir)
        if self.book is not None and (study, seed) == (self.book.study, self.book.seed):
            return dataclasses.replace(job, canonical=True)
        return job

    def _convert(self, key: str, value: Any) -> Any:
        """A value as the schema has it; each distinct one is converted once for a whole sweep."""
        known = self._converted.get((key, repr(value)))
        if known is None:
            try:
                OmegaConf.update(self._scratch, key, value, merge=True)
            except OmegaConfBaseException as error:
                raise explained(error) from error
            knobs, seed = _contents(self._scratch)
            known = seed if key == "seed" else knobs[key.split(".")[1]]
            self._converted[key, repr(value)] = known
        return known


def _contents(cell: DictConfig) -> tuple[dict[str, Any], int]:
    problems = [
        *_unknown("study.", cell.study, OmegaConf.get_type(cell.study)),
        *_not_plain(cell),
    ]
    if problems:
        raise BadInput(problems)
    knobs = OmegaConf.to_container(cell.study)
    assert isinstance(knobs, dict)
    return {str(name): value for name, value in knobs.items()}, cell.seed


def _object(node: Any) -> Any:
    try:
        return OmegaConf.to_object(node)
    except OmegaConfBaseException as error:
        raise explained(error) from error


def _problems(config: DictConfig) -> Iterator[str]:
    crooked = list(_not_plain(OmegaConf.masked_copy(config, _RECORDED)))
    if crooked:
        yield from crooked
        return
    kind: Any = OmegaConf.get_type(config.study)
    if studies().get(getattr(kind, "name", "")) is not kind:
        yield f"study is not one of the registered studies: {', '.join(studies())}"
        return
    yield from _unknown("", config, Root)
    yield from _unknown("source.", config.source, Source)
    if config.jobs < 1:
        yield f"jobs={config.jobs} is not allowed; allowed: int >= 1"
    if config.tracking.kind not in TRACKING:
        yield f"tracking.kind={config.tracking.kind}; allowed: {', '.join(TRACKING)}"
    if config.launch.kind not in LAUNCHERS:
        yield f"launch.kind={config.launch.kind}; allowed: {', '.join(LAUNCHERS)}"
    for name, most in config.limit.items():
        if most is not None and not 0 < most < math.inf:
            yield f"limit.{name}={most} is not allowed; allowed: float > 0, or null"
        if most is not None and config.launch.kind == "dask":
            yield f"limit.{name}: Dask runs a study in a thread, which cannot be held to a limit"


def _unknown(prefix: str, node: Any, schema: Any) -> Iterator[str]:
    """`+name=value` adds a key past Hydra's own check; a knob that is not there is a typo."""
    names = [entry.name for entry in dataclasses.fields(schema)]
    for name in node:
        if name not in names:
            yield no_such(f"{prefix}{name}", names)


def _not_plain(config: DictConfig) -> Iterator[str]:
    """What is recorded is written out: an interpolation could read the environment into it."""
    content = OmegaConf.to_container(config, resolve=False)
    assert isinstance(content, dict)
    for part in _RECORDED:
        text = dumps(content.get(part))
        if "${" in text:
            yield f"{part} calls a resolver or another setting (${{...}}): not allowed"
        if re.search(r"\\u0000|[\ud800-\udfff]", text):
            yield f"{part} holds characters that are not text"


@cache
def experiment_job(name: str, data_dir: str | None = None) -> Job:
    """The job an experiment file states, composed without Hydra (a test compares the two)."""
    entry = catalogue.read(name)
    knobs = entry.body.pop("study", {})
    study = studies().get(entry.study)
    if study is None:
        raise BadInput(f"{entry.path}: {no_choice('study', entry.study)}")
    try:
        node = OmegaConf.merge(OmegaConf.structured(study), knobs)
        root = OmegaConf.merge(OmegaConf.structured(Root), entry.body)
        assert isinstance(root, DictConfig)
        root.study = node
        root.data.dir = data_dir
        job = job_from(root)
    except OmegaConfBaseException as error:
        raise BadInput([f"{entry.path}: {line}" for line in explained(error).problems]) from error
    except BadInput as error:
        raise BadInput([f"{entry.path}: {line}" for line in error.problems]) from error
    return dataclasses.replace(job, experiment=name, canonical=True)
