"""Jobs: a study with parameters and seed, the published result, and the key of the run."""

import dataclasses
import hashlib
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, NamedTuple

from bythebook.experiments.config.catalogue import EQUATIONS
from bythebook.experiments.config.code_hash import equation_code_hash, study_code_hash
from bythebook.experiments.core.claims import Claim
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.exact_json import dumps
from bythebook.experiments.core.figure_functions import FigureArguments
from bythebook.experiments.core.study import Study, studies
from bythebook.models import datasets


@dataclass
class SecondarySource:
    """A second text with the same result."""

    book: str = ""
    section: str = ""
    item: str = ""


@dataclass
class Source:
    """The book, section and item of a result."""

    book: str = ""
    section: str = ""
    item: str = ""
    title: str = ""
    grade: str = datasets.BOOK  # stand-in if the file invents data or settings
    note: str = ""
    also: list[SecondarySource] = field(default_factory=list)


@dataclass(frozen=True)
class PublishedResult:
    """Source and claims of a result, shared by all jobs of an experiment file."""

    source: Source = field(default_factory=Source)
    claims: tuple[Claim, ...] = ()
    figures: FigureArguments = field(default_factory=dict)  # to draw; empty: all of the study

    @cached_property
    def content(self) -> dict[str, Any]:
        """Source, claims and figures as they are recorded, without empty fields."""
        return {
            "source": _non_empty_fields(self.source),
            "claims": [_non_empty_fields(claim) for claim in self.claims],
            **({"figures": self.figures} if self.figures else {}),
        }

    @classmethod
    def from_record(cls, content: Mapping[str, Any]) -> "PublishedResult":
        """The inverse of `content`."""
        source = dict(content["source"])
        source["also"] = [SecondarySource(**entry) for entry in source.get("also", [])]
        claims = tuple(Claim(**claim) for claim in content["claims"])
        return cls(Source(**source), claims, dict(content.get("figures", {})))


def _non_empty_fields(node: Any) -> dict[str, Any]:
    empty: tuple[Any, ...] = (None, "", [], {})
    return {name: value for name, value in dataclasses.asdict(node).items() if value not in empty}


class RunLocation(NamedTuple):
    """The folder of a job's runs, relative to that of all runs, and the key of the runs."""

    folder: str  # the experiment's name, or study/<name>
    key: str


@dataclass(frozen=True)
class Job:
    """A study with its parameters, a seed, and the published result."""

    study: Study
    seed: int = 0
    published: PublishedResult = field(default_factory=PublishedResult)
    experiment: str | None = None  # the name of its experiment file
    canonical: bool = False  # whether parameters and seed are those of the file
    data_dir: str | None = None

    @property
    def source(self) -> Source:
        return self.published.source

    @property
    def claims(self) -> tuple[Claim, ...]:
        return self.published.claims

    @property
    def equations(self) -> list[str]:
        """The equations that the claims name, which are evaluated with the published settings."""
        if not (self.canonical or self.study.name == EQUATIONS):
            return []
        return list(dict.fromkeys(claim.equation for claim in self.claims if claim.equation))

    @property
    def config(self) -> dict[str, Any]:
        """The configuration that determines the numbers."""
        knobs = {
            name: _to_plain_value(getattr(self.study, name))
            for name in _knob_names(type(self.study))
        }
        return {"study": self.study.name, "knobs": knobs, "seed": self.seed}

    @property
    def data(self) -> dict[str, dict[str, str]]:
        """Digest, grade and origin of the study's data sets; stand-ins depend on the seed."""
        with datasets.originals_in(self.data_dir, self.seed):
            loaded = [datasets.load(name) for name in self.study.dataset_names()]
        return {d.name: {"sha256": d.sha256, "grade": d.grade, "origin": d.origin} for d in loaded}

    @property
    def code_hash(self) -> str:
        """The hash of the study's code."""
        return study_code_hash(type(self.study).__module__)

    @cached_property
    def key(self) -> str:
        """A digest of configuration, code, data and experiment name.

        Runs with equal keys have bitwise identical outcomes. Claims and figures do not enter the
        key, but for the equations that the claims name. The experiment's name does, so that two
        results with equal numbers are two runs.
        """
        parts: dict[str, Any] = {
            **self.config,
            "experiment": self.experiment,
            "code": self.code_hash,
            "data": {name: entry["sha256"] for name, entry in self.data.items()},
        }
        if names := self.equations:
            parts["equations"] = {name: equation_code_hash(name) for name in names}
        return hashlib.sha256(dumps(parts).encode()).hexdigest()[:16]

    @property
    def location(self) -> RunLocation:
        """The folder and key of the job's runs."""
        own = self.experiment if self.canonical else None
        return RunLocation(own or f"study/{self.study.name}", self.key)

    def with_key(self, key: str | None) -> "Job":
        """The job itself, with a key that was computed before."""
        if key is not None:
            vars(self)["key"] = key
        return self

    @property
    def data_grade(self) -> str:
        """The weakest grade among the data sets and the file's `source.grade`."""
        return max(
            [self.source.grade, *(entry["grade"] for entry in self.data.values())],
            key=datasets.GRADES.index,
        )

    @property
    def title(self) -> str:
        """The printed item, or the study's name."""
        return self.source.item or self.study.name


class KeyTemplate:
    """The keys of jobs that differ only in their seeds and read no data."""

    def __init__(self, job: Job) -> None:
        config = {"study": job.study.name, "knobs": job.config["knobs"]}
        rest: dict[str, Any] = {"experiment": job.experiment, "code": job.code_hash, "data": {}}
        self._before = f'{dumps(config)[:-1]}, "seed": '
        self._after = f", {dumps(rest)[1:]}"

    def key(self, seed: int) -> str:
        """The key of the job with this seed."""
        text = f"{self._before}{seed}{self._after}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def _knob_names(study: type[Study]) -> tuple[str, ...]:
    return tuple(entry.name for entry in dataclasses.fields(study))


def _to_plain_value(value: Any) -> Any:
    """A parameter as it is recorded: mappings for dataclasses, also inside lists."""
    if isinstance(value, list):
        return [_to_plain_value(entry) for entry in value]
    if isinstance(value, dict):
        return {name: _to_plain_value(entry) for name, entry in value.items()}
    return dataclasses.asdict(value) if dataclasses.is_dataclass(value) else value  # type: ignore[arg-type]


class LazyJobs(Sequence[Job]):
    """Jobs that are built on access; their locations are computed without building them."""

    @abstractmethod
    def locations(self) -> Iterator[RunLocation]:
        """The locations of the jobs, in their order."""


def job_from_record(record: Mapping[str, Any], data_dir: str | None = None) -> Job:
    """The job of a record, rebuilt from its recorded configuration."""
    config = record["science"]
    kind = studies().get(config["study"])
    if kind is None:
        raise InputError(f"run {record['id']}: study '{config['study']}' no longer exists")
    try:
        study = kind(**config["knobs"])
    except TypeError as error:
        raise InputError(
            f"run {record['id']}: study '{config['study']}' no longer has these parameters: {error}"
        ) from error
    try:
        published = PublishedResult.from_record(record["printed"])
    except (TypeError, ValueError, LookupError) as error:
        raise InputError(f"run {record['id']}: its claims could not be read: {error}") from error
    return Job(
        study,
        config["seed"],
        published,
        record["experiment"],
        record["canonical"],
        data_dir,
    )
