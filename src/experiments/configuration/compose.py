"""Configurations: the schema, and how a composed configuration becomes a job."""

import copy
import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from hydra.core.config_store import ConfigStore
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from experiments.configuration import catalogue
from experiments.configuration.errors import explained, no_choice, no_such
from experiments.configuration.jobs import Job, Printed, Source
from experiments.configuration.paths import outputs_folder
from experiments.contract.claims import Claim
from experiments.contract.errors import BadInput
from experiments.contract.exact_json import dumps
from experiments.contract.knobs import allowed, knob, may_be, misfits, nested
from experiments.contract.study import Study, studies
from experiments.contract.type_check import Unfit, built, fit
from models import datasets

TRACKING = ("local", "server", "off")
LAUNCHERS = ("local", "dask", "slurm")
CLUSTERS = ("slurm", "local")
_CALLS = "${"  # an interpolation
_NOT_TEXT = re.compile(r"\\u0000|[\ud800-\udfff]")
_RECORDED = ["study", "source", "claims", "metric"]
_SETTINGS = ["seed", "tracking", "data", "outputs", "jobs", "launch", "limit", "fresh", "figures"]


@dataclass
class Tracking:
    kind: str = knob("local", "where runs are logged", choices=TRACKING)
    uri: str | None = None


@dataclass
class Data:
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

    seconds: float | None = knob(None, "of computing", above=0)
    memory_gb: float | None = knob(None, "beyond what the process has", above=0)


@dataclass
class Root:
    """The shape of a whole configuration."""

    study: Any = None
    seed: int = knob(0, "of the random stream", at_least=0)
    source: Source = field(default_factory=Source)
    claims: list[Claim] = field(default_factory=list)
    tracking: Tracking = field(default_factory=Tracking)
    data: Data = field(default_factory=Data)
    outputs: str | None = None
    jobs: int = knob(1, "processes of a sweep", at_least=1)
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
        store.store(group="study", name=name, node=_schema(studies()[name]))


def _schema(study: type[Study]) -> Any:
    """A study's knobs with their types. Those of lists in lists are ours to check (`_contents`):

    OmegaConf would take no whole number for a float there.
    """
    node: Any = OmegaConf.structured(study)
    for name in nested(study):
        node._get_node(name)._metadata.element_type = Any
    return node


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
        gone = [entry.name for entry in dataclasses.fields(Root) if entry.name not in list(config)]
        if gone:
            raise BadInput(f"~{gone[0]} takes out what every run needs: not allowed")
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
        self._scratch = OmegaConf.structured(Root)
        self._scratch.study, self._scratch.seed = config.study, config.seed
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
            raise BadInput(f"seed={seed} is not allowed; allowed: int, >= 0")
        study = self.kind(**copy.deepcopy(knobs))
        job = Job(study, seed, self.printed, self.experiment, False, self.data_dir)
        if self.book is not None and (study, seed) == (self.book.study, self.book.seed):
            return dataclasses.replace(job, canonical=True)
        return job

    def _convert(self, key: str, value: Any) -> Any:
        """A value as the schema has it; each distinct one is converted once for a whole sweep."""
        if key == "seed" and type(value) is int:
            return value
        known = self._converted.get((key, repr(value)))
        if known is None:
            try:
                OmegaConf.update(self._scratch, key, value, merge=True)
                knobs, seed = _contents(self._scratch)
            except (OmegaConfBaseException, OverflowError) as error:
                raise explained(error, self.kind.name) from error
            known = seed if key == "seed" else knobs[key.split(".")[1]]
            self._converted[key, repr(value)] = known
        return known


def _contents(cell: DictConfig) -> tuple[dict[str, Any], int]:
    kind: Any = OmegaConf.get_type(cell.study)
    knobs: Any = OmegaConf.to_container(cell.study)
    problems = [*_unknown("study.", cell.study, kind), *_not_plain(cell)]
    problems = problems or list(misfits(kind, knobs))
    if problems:
        raise BadInput(problems)
    return knobs | {name: fit(knobs[name], nested(kind)[name]) for name in nested(kind)}, cell.seed


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
    try:
        OmegaConf.to_container(OmegaConf.masked_copy(config, _SETTINGS), resolve=True)
    except OmegaConfBaseException as error:
        yield str(explained(error))
        return
    yield from _refused("", config, Root)
    yield from _refused("tracking.", config.tracking, Tracking)
    yield from _refused("launch.", config.launch, Launch)
    yield from _refused("limit.", config.limit, Limit)
    address = config.launch.address
    if config.launch.kind == "dask" and address and ":" not in address:
        yield f"launch.address={address} is not an address; allowed: tcp://<host>:<port>"
    for name, most in config.limit.items():
        if most is not None and config.launch.kind == "dask":
            yield f"limit.{name}: Dask runs a study in a thread, which cannot be held to a limit"


def _refused(prefix: str, node: Any, schema: Any) -> Iterator[str]:
    """One line for each setting that is out of its bounds."""
    for entry in dataclasses.fields(schema):
        value = node[entry.name] if entry.metadata else None
        if value is not None and not may_be(entry, value):
            line = f"{prefix}{entry.name}={value} is not allowed"
            yield f"{line}; allowed: {allowed(entry)}"


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
        if _CALLS in text:
            yield f"{part} calls a resolver or another setting (${{...}}): not allowed"
        if _NOT_TEXT.search(text):
            yield f"{part} holds characters that are not text"


def _is_crooked(text: str) -> bool:
    return _CALLS in text or _NOT_TEXT.search(text) is not None


@cache
def experiment_job(name: str, data_dir: str | None = None) -> Job:
    """The job an experiment file states, composed without Hydra (a test compares the two)."""
    entry = catalogue.read(name)
    job = _stated_plainly(entry, data_dir) or _merged(entry, data_dir)
    return dataclasses.replace(job, experiment=name, canonical=True)


def _stated_plainly(entry: catalogue.Entry, data_dir: str | None) -> Job | None:
    """The job of a file whose values have their types as they stand; none where there is doubt."""
    stated = {"study": {}, "source": {}, "claims": [], "seed": 0, **entry.body}
    kind = studies().get(entry.study)
    if kind is None or len(stated) > 4 or _is_crooked(dumps(entry.body)):
        return None
    try:
        printed = Printed(
            built(Source, stated["source"]),
            tuple(built(Claim, claim) for claim in stated["claims"]),
        )
        job = Job(built(kind, stated["study"]), fit(stated["seed"], int), printed)
    except (Unfit, BadInput):
        return None
    known = job.source.book in catalogue.BOOKS and job.source.grade in datasets.GRADES
    return dataclasses.replace(job, data_dir=data_dir) if known and job.seed >= 0 else None


def _merged(entry: catalogue.Entry, data_dir: str | None) -> Job:
    """The same by OmegaConf, which converts what it can and says what is wrong."""
    knobs = entry.body.pop("study", {})
    study = studies().get(entry.study)
    if study is None:
        raise BadInput(f"{entry.path}: {no_choice('study', entry.study)}")
    try:
        node = OmegaConf.merge(_schema(study), knobs)
        root = OmegaConf.merge(OmegaConf.structured(Root), entry.body)
        assert isinstance(root, DictConfig)
        root.study = node
        root.data.dir = data_dir
        job = job_from(root)
    except OmegaConfBaseException as error:
        raise BadInput([f"{entry.path}: {line}" for line in explained(error).problems]) from error
    except BadInput as error:
        raise BadInput([f"{entry.path}: {line}" for line in error.problems]) from error
    return job
