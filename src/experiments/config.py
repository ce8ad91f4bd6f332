"""Configurations: the schema, and how a composed configuration becomes a job."""

import dataclasses
import difflib
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import yaml
from hydra.core.config_store import ConfigStore
from hydra.errors import OverrideParseException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from experiments import catalogue
from experiments.claims import Claim
from experiments.digests import code_digest
from experiments.errors import BadInput
from experiments.knobs import allowed
from experiments.outcome import dumps
from experiments.paths import outputs_folder
from experiments.study import Study, studies
from models import datasets

TRACKING = ("local", "server", "off")


@dataclass
class Source:
    """Where a result stands in its book."""

    book: str = ""
    section: str = ""
    item: str = ""
    title: str = ""
    family: str = ""
    grade: str = datasets.BOOK  # stand-in where the file had to invent what the book does not state
    note: str = ""


@dataclass
class Tracking:
    kind: str = "local"
    uri: str | None = None


@dataclass
class Data:
    dir: str | None = None


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
    fresh: bool = False
    figures: bool = True
    metric: str | None = None  # the quantity that a sweep's figure shows


@dataclass(frozen=True)
class Job:
    """One run to make: a study with its knobs, a seed, and what the book says about it."""

    study: Study
    seed: int = 0
    source: Source = field(default_factory=Source)
    claims: tuple[Claim, ...] = ()
    experiment: str | None = None  # the experiment file it came from
    canonical: bool = False  # exactly as that file states it
    data_dir: str | None = None

    @cached_property
    def science(self) -> dict[str, Any]:
        """What determines the result, and nothing else: this is recorded, and this is hashed."""
        return {
            "study": self.study.name,
            "knobs": dataclasses.asdict(self.study),
            "seed": self.seed,
            "source": dataclasses.asdict(self.source),
            "claims": [dataclasses.asdict(claim) for claim in self.claims],
        }

    @cached_property
    def data(self) -> dict[str, dict[str, str]]:
        """Digest, grade and origin of every data set the study reads."""
        with datasets.originals_in(self.data_dir):
            loaded = [datasets.load(name) for name in self.study.data_sets()]
        return {d.name: {"sha256": d.sha256, "grade": d.grade, "origin": d.origin} for d in loaded}

    @cached_property
    def code(self) -> str:
        return code_digest(type(self.study).__module__)

    @cached_property
    def key(self) -> str:
        """Equal keys, equal bits: configuration, code and data in one digest."""
        digests = {name: entry["sha256"] for name, entry in self.data.items()}
        text = dumps({"science": self.science, "code": self.code, "data": digests})
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def grade(self) -> str:
        """The weakest grade among the data sets and what the file says of its own set-up."""
        return max(
            [self.source.grade, *(entry["grade"] for entry in self.data.values())],
            key=datasets.GRADES.index,
        )

    @property
    def title(self) -> str:
        return self.source.item or self.study.name


@cache
def register() -> None:
    """Put the schema and every study into Hydra's config store."""
    OmegaConf.register_new_resolver("outputs_folder", _outputs, replace=True)
    store = ConfigStore.instance()
    store.store(name="schema", node=Root)
    for name, study in studies().items():
        store.store(group="study", name=name, node=study)


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
        self.config, self.experiment = config, experiment
        self.source = _object(config.source)
        self.claims = tuple(_object(config.claims))
        if self.source.grade not in datasets.GRADES:
            raise BadInput(
                f"source.grade={self.source.grade}; allowed: {', '.join(datasets.GRADES)}"
            )
        self.book = experiment_job(experiment) if experiment is not None else None

    def job(self, changes: Mapping[str, Any] | None = None) -> Job:
        """The job with `seed` or knobs (`study.<name>`) set to other values."""
        study, seed = self.config.study, self.config.seed
        if changes:
            cell = OmegaConf.masked_copy(self.config, ["study", "seed"])
            try:
                for key, value in changes.items():
                    OmegaConf.update(cell, key, value, merge=True)
            except OmegaConfBaseException as error:
                raise explained(error) from error
            study, seed = cell.study, cell.seed
        problems = [*_study_problems(study), *_seed_problems(seed)]
        if problems:
            raise BadInput(problems)
        data_dir = self.config.data.dir
        job = Job(_object(study), seed, self.source, self.claims, self.experiment, False, data_dir)
        as_printed = self.book is not None and (
            (job.study, job.seed, job.source, job.claims)
            == (self.book.study, self.book.seed, self.book.source, self.book.claims)
        )
        return dataclasses.replace(job, canonical=True) if as_printed else job


def _object(node: Any) -> Any:
    try:
        return OmegaConf.to_object(node)
    except OmegaConfBaseException as error:
        raise explained(error) from error


def _problems(config: DictConfig) -> Iterator[str]:
    if OmegaConf.get_type(config.study) not in studies().values():
        yield f"study is not one of the registered studies: {', '.join(studies())}"
        return
    yield from _unknown("", config, Root)
    yield from _unknown("source.", config.source, Source)
    if config.jobs < 1:
        yield f"jobs={config.jobs} is not allowed; allowed: int >= 1"
    if config.tracking.kind not in TRACKING:
        yield f"tracking.kind={config.tracking.kind}; allowed: {', '.join(TRACKING)}"
    yield from _resolvers("source", config.source)
    yield from _resolvers("claims", config.claims)


def _study_problems(study: DictConfig) -> Iterator[str]:
    yield from _unknown("study.", study, OmegaConf.get_type(study))
    yield from _resolvers("study", study)


def _seed_problems(seed: int) -> Iterator[str]:
    if seed < 0:
        yield f"seed={seed} is not allowed; allowed: int >= 0"


def _unknown(prefix: str, node: Any, schema: Any) -> Iterator[str]:
    """`+name=value` adds a key past Hydra's own check; a knob that is not there is a typo."""
    names = [entry.name for entry in dataclasses.fields(schema)]
    for name in node:
        if name not in names:
            yield _no_such(f"{prefix}{name}", names)


def _resolvers(part: str, node: Any) -> Iterator[str]:
    """An interpolation that calls a resolver could read the environment into a record."""
    if re.search(r"\$\{[^}]*:", str(OmegaConf.to_container(node, resolve=False))):
        yield f"{part} uses an interpolation that calls a resolver (${{name:...}}): not allowed"


@cache
def experiment_job(name: str, data_dir: str | None = None) -> Job:
    """The job an experiment file states, composed without Hydra (a test compares the two)."""
    register()
    entry = catalogue.read(name)
    knobs = entry.body.pop("study", {})
    study = studies().get(entry.study)
    if study is None:
        raise BadInput(f"{entry.path}: {_no_choice('study', entry.study)}")
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


def recorded_job(record: Mapping[str, Any], data_dir: str | None = None) -> Job:
    """The job behind a record, rebuilt from what was recorded."""
    science = record["science"]
    study = studies().get(science["study"])
    if study is None:
        raise BadInput(f"run {record['id']} is of study '{science['study']}', which is gone")
    try:
        built = study(**science["knobs"])
    except TypeError as error:
        raise BadInput(
            f"run {record['id']}: study '{science['study']}' no longer takes its knobs: {error}"
        ) from error
    return Job(
        built,
        science["seed"],
        Source(**science["source"]),
        tuple(Claim(**claim) for claim in science["claims"]),
        record["experiment"],
        record["canonical"],
        data_dir,
    )


def explained(error: BaseException, study: str | None = None) -> BadInput:
    """Hydra's and OmegaConf's errors in one line that names the knob and what is allowed."""
    if isinstance(error, OverrideParseException):
        reason = error.message.splitlines()[0]
        return BadInput(f"'{error.override}' cannot be read as key=value: {reason}")
    typed = re.search(r"(?:override|Error merging override) '?([+~]*[\w./@]+)", str(error))
    cause = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    text = " ".join(str(cause).split())
    key = typed[1].lstrip("+~") if typed else (getattr(cause, "full_key", None) or "")
    schema: Any = getattr(cause, "object_type", None)
    absent = re.search(r"Key '([^']+)' (?:is )?not in", text) or "does not exist" in text
    choice = re.search(r"Could not (?:find|load) '([^'/]+)/([^']+)'", text)
    if choice:
        return BadInput(_no_choice(*choice.groups()))
    if absent and not key.startswith("study"):
        return BadInput(_no_such(key, [entry.name for entry in dataclasses.fields(Root)]))
    if absent and schema in studies().values():
        return BadInput(_no_such(key, [entry.name for entry in dataclasses.fields(schema)]))
    if absent:
        return BadInput(f"there is no '{key}': choose study=<name> or experiment=<name> first")
    reason = text.split(" full_key:")[0]
    knob = re.match(r"study\.(\w+)", key)
    chosen = studies().get(study or getattr(schema, "name", None) or "")
    for entry in dataclasses.fields(chosen) if knob and chosen else ():
        if entry.name == knob[1]:  # type: ignore[index]
            return BadInput(f"{key}: {reason}; allowed: {allowed(entry)}")
    return BadInput(f"{key}: {reason}" if key and key not in reason else reason)


def _no_such(key: str, names: Sequence[str]) -> str:
    hint = _hint(key.rpartition(".")[2], names)
    return f"there is no '{key}'{hint}; allowed here: {', '.join(names)}"


def _no_choice(group: str, choice: str) -> str:
    options = _options(group)
    line = f"there is no {group} '{choice}'{_hint(choice, options)}"
    if len(options) > 30:
        return f"{line}; `bythebook list` shows all {len(options)}"
    return f"{line}; allowed: {', '.join(options)}"


def _options(section: str) -> list[str]:
    if section == "experiment":
        return catalogue.names()
    if section == "study":
        return list(studies())
    folder = Path(catalogue.ROOT) / section
    return sorted(path.stem for path in folder.glob("*.yaml"))


def _hint(typed: str, names: Iterable[str]) -> str:
    close = difflib.get_close_matches(typed, list(names), n=1)
    return f" (did you mean '{close[0]}'?)" if close else ""


def as_yaml(science: Mapping[str, Any]) -> str:
    """A recorded configuration for people to read."""
    return yaml.safe_dump(dict(science), sort_keys=False, allow_unicode=True)
