"""Jobs: one run to make, and everything that determines its result."""

import dataclasses
import hashlib
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, NamedTuple

from experiments.configuration.digests import code_digest
from experiments.contract.claims import Claim
from experiments.contract.errors import BadInput
from experiments.contract.exact_json import dumps
from experiments.contract.study import Study, studies
from models import datasets


@dataclass
class Also:
    """A second text that tells the same result."""

    book: str = ""
    section: str = ""
    item: str = ""


@dataclass
class Source:
    """Where a result stands in its book."""

    book: str = ""
    section: str = ""
    item: str = ""
    title: str = ""
    grade: str = datasets.BOOK  # stand-in where the file had to invent what the book does not state
    note: str = ""
    also: list[Also] = field(default_factory=list)


@dataclass(frozen=True)
class Printed:
    """What the book says: shared by all jobs that come from one experiment file."""

    source: Source = field(default_factory=Source)
    claims: tuple[Claim, ...] = ()

    @cached_property
    def content(self) -> dict[str, Any]:
        """As it is recorded: what is stated, and nothing of what is not."""
        return {"source": _stated(self.source), "claims": [_stated(claim) for claim in self.claims]}

    @classmethod
    def recorded(cls, content: Mapping[str, Any]) -> "Printed":
        source = dict(content["source"])
        source["also"] = [Also(**place) for place in source.get("also", [])]
        return cls(Source(**source), tuple(Claim(**claim) for claim in content["claims"]))


def _stated(node: Any) -> dict[str, Any]:
    empty: tuple[Any, ...] = (None, "", [])
    return {name: value for name, value in dataclasses.asdict(node).items() if value not in empty}


class Address(NamedTuple):
    """Where the runs of a job are: in the place of the book's result, or of the study."""

    place: str
    key: str


@dataclass(frozen=True)
class Job:
    """A study with its knobs, a seed, and what the book says about it."""

    study: Study
    seed: int = 0
    printed: Printed = field(default_factory=Printed)
    experiment: str | None = None  # the experiment file it came from
    canonical: bool = False  # exactly as that file states it
    data_dir: str | None = None

    @property
    def source(self) -> Source:
        return self.printed.source

    @property
    def claims(self) -> tuple[Claim, ...]:
        return self.printed.claims

    @property
    def science(self) -> dict[str, Any]:
        """The configuration that determines the numbers."""
        knobs = {name: _plain(getattr(self.study, name)) for name in _names(type(self.study))}
        return {"study": self.study.name, "knobs": knobs, "seed": self.seed}

    @property
    def data(self) -> dict[str, dict[str, str]]:
        """Digest, grade and origin of every data set the study reads; the seed draws stand-ins."""
        with datasets.originals_in(self.data_dir, self.seed):
            loaded = [datasets.load(name) for name in self.study.data_sets()]
        return {d.name: {"sha256": d.sha256, "grade": d.grade, "origin": d.origin} for d in loaded}

    @property
    def code(self) -> str:
        return code_digest(type(self.study).__module__)

    @cached_property
    def key(self) -> str:
        """Equal keys, equal bits: configuration, code and data in one digest.

        What the book says of the numbers, and how they are drawn, is not part of it. The name of
        the result is: two results with the same numbers are two runs.
        """
        parts = {
            **self.science,
            "experiment": self.experiment,
            "code": self.code,
            "data": {name: entry["sha256"] for name, entry in self.data.items()},
        }
        return hashlib.sha256(dumps(parts).encode()).hexdigest()[:16]

    @property
    def address(self) -> Address:
        own = self.experiment if self.canonical else None
        return Address(own or f"study/{self.study.name}", self.key)

    def known(self, key: str | None) -> "Job":
        """The same job, with the key that was computed for it before."""
        if key is not None:
            vars(self)["key"] = key
        return self

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


class Stem:
    """What the keys of jobs without data share that differ in nothing but their seeds."""

    def __init__(self, job: Job) -> None:
        science = {"study": job.study.name, "knobs": job.science["knobs"]}
        rest: dict[str, Any] = {"experiment": job.experiment, "code": job.code, "data": {}}
        self._before = f'{dumps(science)[:-1]}, "seed": '
        self._after = f", {dumps(rest)[1:]}"

    def key(self, seed: int) -> str:
        text = f"{self._before}{seed}{self._after}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def _names(study: type[Study]) -> tuple[str, ...]:
    return tuple(entry.name for entry in dataclasses.fields(study))


def _plain(value: Any) -> Any:
    """A knob as it is recorded: mappings for dataclasses, also inside lists."""
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items()}
    return dataclasses.asdict(value) if dataclasses.is_dataclass(value) else value  # type: ignore[arg-type]


class Addressed(Sequence[Job]):
    """Jobs whose addresses can be had for less than the jobs."""

    @abstractmethod
    def addresses(self) -> Iterator[Address]: ...


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
    try:
        printed = Printed.recorded(record["printed"])
    except (TypeError, ValueError, LookupError) as error:
        raise BadInput(f"run {record['id']}: its claims cannot be read: {error}") from error
    return Job(
        built,
        science["seed"],
        printed,
        record["experiment"],
        record["canonical"],
        data_dir,
    )
