"""From plain values to a job: the one place where a configuration is checked.

Two readers lead here: the experiment files (`catalogue`) and Hydra's composition (`compose`).
Hydra takes a tenth of a second for a configuration, and there are hundreds of files.
"""

import copy
import dataclasses
import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from experiments.configuration import catalogue, errata
from experiments.configuration.errors import no_choice, no_such
from experiments.configuration.jobs import Job, Printed, Source, Stem
from experiments.contract.claims import Claim
from experiments.contract.errors import BadInput
from experiments.contract.exact_json import dumps
from experiments.contract.knobs import allowed, may_be
from experiments.contract.study import Study, studies
from experiments.contract.type_check import Unfit, defaults, field_types, fit
from models import datasets

_PLAIN = (bool, int, float, str)
_KEPT = 1000  # studies that a template remembers
_CALLS = "${"  # an interpolation
_NOT_TEXT = re.compile(r"\\u0000|[\ud800-\udfff]")


class Template:
    """A configuration, checked once, from which jobs are made that differ in a few knobs."""

    def __init__(
        self, study: str, content: Mapping[str, Any], experiment: str | None, data_dir: str | None
    ) -> None:
        kind = studies().get(study)
        if kind is None:
            raise BadInput(no_choice("study", study))
        crooked = list(crooked_parts(content))
        if crooked:
            raise BadInput(crooked)
        self.kind, self.experiment, self.data_dir = kind, experiment, data_dir
        self._knobs = checked(kind, {**defaults(kind), **_mapping(content)}, "study.")
        self._seed = self._checked_seed(content.get("seed", 0))
        self.printed = Printed(
            _source(content.get("source") or {}), tuple(_claims(content.get("claims") or []))
        )
        told = [self.printed.source.book, *(place.book for place in self.printed.source.also)]
        for claim in self.printed.claims:
            if claim.place and claim.place_book not in told:
                texts = ", ".join(filter(None, told))
                raise BadInput(f"claim '{claim.says}': place={claim.place}; allowed: {texts}")
            if claim.cause is not None:
                errata.read(claim.place_book or told[0], claim.cause)
        self._converted: dict[tuple[str, str], Any] = {}
        self._built: dict[tuple[str, ...], tuple[Study, Stem | None]] = {}
        self.book: Job | None = None  # as the experiment's file states it
        if experiment in catalogue.names():
            stated = experiment_job(str(experiment))
            self.book = stated if stated.printed == self.printed else None

    def job(self, changes: Mapping[str, Any] | None = None) -> Job:
        """The job with `seed` or knobs (`study.<name>`) set to other values.

        The study is built and checked once for all jobs that differ only in their seed: that takes
        longer than all the rest. Each has a copy of its own.
        """
        others = dict(changes or {})
        seed = self._checked_seed(others.pop("seed")) if "seed" in others else self._seed
        known = tuple(f"{key}={value!r}" for key, value in others.items())
        if known not in self._built:
            if len(self._built) >= _KEPT:
                self._built.clear()
            self._built[known] = self._build(others)
        study, stem = self._built[known]
        canonical = self.book is not None and (study, seed) == (self.book.study, self.book.seed)
        job = Job(_copied(study), seed, self.printed, self.experiment, canonical, self.data_dir)
        return job.known(stem.key(seed) if stem is not None else None)

    def _build(self, changes: Mapping[str, Any]) -> "tuple[Study, Stem | None]":
        knobs = dict(self._knobs)
        for key, value in changes.items():
            knobs[key.removeprefix("study.")] = self._convert(key, value)
        study: Study = self.kind(**copy.deepcopy(knobs))
        plain = not study.data_sets()  # what a seed draws would be part of the key
        return study, Stem(Job(study, experiment=self.experiment)) if plain else None

    def _convert(self, key: str, value: Any) -> Any:
        """A value as its knob has it; each distinct one is converted once for a whole sweep."""
        known = (key, repr(value))
        if known not in self._converted:
            crooked = list(crooked_parts({key: value}))
            if crooked:
                raise BadInput(crooked)
            name = key.removeprefix("study.")
            self._converted[known] = checked(self.kind, {name: value}, "study.")[name]
        return self._converted[known]

    @staticmethod
    def _checked_seed(value: Any) -> int:
        if type(value) is not int or value < 0:
            raise BadInput(f"seed={shown(value)} is not allowed; allowed: int, >= 0")
        return value


def _copied(study: Study) -> Study:
    """The same knobs, and no list in common."""
    other = copy.copy(study)
    for name, value in vars(study).items():
        if isinstance(value, list) and all(isinstance(entry, _PLAIN) for entry in value):
            setattr(other, name, value.copy())
        elif isinstance(value, list | dict):
            setattr(other, name, copy.deepcopy(value))
    return other


def experiment_job(name: str, data_dir: str | None = None) -> Job:
    """The job that an experiment's file states."""
    stated = _stated(name)
    return stated if data_dir is None else dataclasses.replace(stated, data_dir=data_dir)


@cache
def _stated(name: str) -> Job:
    entry = catalogue.read(name)
    try:
        science_only(entry.body)
        job = Template(entry.study, entry.body, None, None).job()
        if job.source.book not in catalogue.BOOKS:
            raise BadInput(no_book(job.source.book))
    except BadInput as error:
        raise BadInput([f"{entry.path}: {line}" for line in error.problems]) from error
    return dataclasses.replace(job, experiment=name, canonical=True)


def science_only(content: Mapping[str, Any]) -> None:
    """A file states science; how to run is said on the command line."""
    for key in content:
        if key not in catalogue.SCIENCE:
            line = no_such(str(key), catalogue.SCIENCE)
            raise BadInput(f"{line}; a file states science, and how to run is the command line's")


def no_book(book: str) -> str:
    return f"source.book={book}; allowed: {', '.join(catalogue.BOOKS)}"


def _mapping(content: Mapping[str, Any]) -> dict[str, Any]:
    knobs = content.get("study") or {}
    if not isinstance(knobs, Mapping):
        raise BadInput(f"study={shown(knobs)} is not a mapping of knobs")
    return dict(knobs)


def _source(content: Any) -> Source:
    values = checked(Source, content, "source.")
    source = Source(**values)
    books = [source.book, *(place.book for place in source.also)]
    for book in filter(None, books):
        if book not in catalogue.BOOKS:
            raise BadInput(no_book(book))
    if source.grade not in datasets.GRADES:
        raise BadInput(f"source.grade={source.grade}; allowed: {', '.join(datasets.GRADES)}")
    return source


def _claims(content: Any) -> Iterator[Claim]:
    if not isinstance(content, list):
        raise BadInput(f"claims={shown(content)} is not a list")
    for entry in content:
        yield Claim(**checked(Claim, entry, "claims."))


def checked(kind: Any, content: Any, prefix: str) -> dict[str, Any]:
    """The fields of a dataclass from plain values, each of its type; what is wrong in one line."""
    if not isinstance(content, Mapping):
        name = prefix.rstrip(".")
        names = ", ".join(entry.name for entry in dataclasses.fields(kind))
        raise BadInput(f"{name}={shown(content)} is not a mapping; allowed: {name} with {names}")
    types, found, problems = field_types(kind), {}, []
    fields = {entry.name: entry for entry in dataclasses.fields(kind)}
    if "_target_" in content:
        raise BadInput(f"{prefix}_target_ names something to import: not allowed")
    for name, value in content.items():
        if name not in fields:
            problems.append(no_such(f"{prefix}{name}", list(fields)))
        elif dataclasses.is_dataclass(types[name]):
            inner: Any = types[name]
            found[name] = inner(**checked(inner, value, f"{prefix}{name}."))
        else:
            try:
                found[name] = fit(value, types[name])
            except Unfit as unfit:
                where = f"{prefix}{name}={shown(value)}"
                part = "" if unfit.value is value else f": {shown(unfit.value)}"
                problems.append(f"{where}{part} is not allowed; allowed: {allowed(fields[name])}")
    if problems:
        raise BadInput(problems)
    return found


def bounded(node: Any, prefix: str = "") -> Iterator[str]:
    """One line for each setting that is out of its bounds, at any depth."""
    for entry in dataclasses.fields(node):
        value = getattr(node, entry.name)
        if dataclasses.is_dataclass(value):
            yield from bounded(value, f"{prefix}{entry.name}.")
        elif entry.metadata and value is not None and not may_be(entry, value):
            line = f"{prefix}{entry.name}={shown(value)} is not allowed"
            yield f"{line}; allowed: {allowed(entry)}"


def crooked_parts(content: Mapping[str, Any]) -> Iterator[str]:
    """What is recorded is written out: an interpolation could read the environment into it."""
    for part, value in content.items():
        text = dumps(value)
        if _CALLS in text:
            yield f"{part} calls a resolver or another setting (${{...}}): not allowed"
        if _NOT_TEXT.search(text):
            yield f"{part} holds characters that are not text"


def shown(value: Any) -> str:
    """A value as a command line has it, cut to a length that a line can hold."""
    text = (
        value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), default=str)
    )
    return text if len(text) <= 60 else text[:57] + "..."
