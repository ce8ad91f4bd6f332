"""Validation of configurations, and jobs from plain values.

Plain values come from experiment files (`catalogue`) and from Hydra (`hydra_compose`). Files are
also read without Hydra because it takes 0.1 s for a configuration and there are hundreds of them.
"""

import copy
import dataclasses
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from bythebook.experiments.config import catalogue, errata
from bythebook.experiments.config.hydra_errors import unknown_choice_message, unknown_key_message
from bythebook.experiments.config.job import Job, KeyTemplate, PublishedResult, Source
from bythebook.experiments.core.alignment import ExpressionError
from bythebook.experiments.core.claims import Claim
from bythebook.experiments.core.declarations import unknown_names
from bythebook.experiments.core.equations import find_equation
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.exact_json import dumps
from bythebook.experiments.core.expressions import quantity_names
from bythebook.experiments.core.figure_functions import parse_figures
from bythebook.experiments.core.knobs import describe_constraints, is_valid_value
from bythebook.experiments.core.let import check_let, used_lines
from bythebook.experiments.core.study import Study, studies
from bythebook.experiments.core.type_check import (
    InvalidValueError,
    convert,
    default_values,
    field_types,
)
from bythebook.models import datasets

_IMMUTABLE_TYPES = (bool, int, float, str)
_MAX_CACHED_STUDIES = 1000
_INTERPOLATION = "${"
_INVALID_CHARACTERS = re.compile(r"\\u0000|[\ud800-\udfff]")


class JobFactory:
    """A validated configuration, from which jobs with changed parameters are built."""

    def __init__(
        self, study: str, content: Mapping[str, Any], experiment: str | None, data_dir: str | None
    ) -> None:
        kind = studies().get(study)
        if kind is None:
            raise InputError(unknown_choice_message("study", study))
        problems = list(find_interpolations(content))
        if problems:
            raise InputError(problems)
        self.kind, self.experiment, self.data_dir = kind, experiment, data_dir
        self._knobs = validate_fields(kind, {**default_values(kind), **_mapping(content)}, "study.")
        self._seed = self._check_seed(content.get("seed", 0))
        self.published = PublishedResult(
            _source(content.get("source") or {}),
            tuple(_claims(content.get("claims") or [], _let(content.get("let"), kind))),
            parse_figures(kind.topic, kind.name, content.get("figures")),
        )
        source = self.published.source
        books = [source.book, *(entry.book for entry in source.also)]
        for claim in self.published.claims:
            if claim.place and claim.source_book not in books:
                allowed = ", ".join(filter(None, books))
                raise InputError(
                    f"claim '{claim.says}': place={claim.place} is not allowed; allowed: {allowed}"
                )
            if claim.equation is not None:
                find_equation(claim.equation)
            if claim.cause is not None:
                errata.load_erratum(claim.source_book or books[0], claim.cause)
        if kind.declares_all:
            _check_quantities(kind, self.published.claims)
        self._converted: dict[tuple[str, str], Any] = {}
        self._studies: dict[tuple[str, ...], tuple[Study, KeyTemplate | None]] = {}
        self.canonical_job: Job | None = None  # the job of the experiment's file
        if experiment in catalogue.experiment_names():
            job = load_job(str(experiment))
            self.canonical_job = job if job.published == self.published else None

    def job(self, changes: Mapping[str, Any] | None = None) -> Job:
        """The job with other values of `seed` or of parameters, whose keys are `study.<name>`.

        Jobs that differ only in their seed share one validated study, of which each has a copy:
        validation takes longer than the rest.
        """
        knobs = dict(changes or {})
        seed = self._check_seed(knobs.pop("seed")) if "seed" in knobs else self._seed
        cache_key = tuple(f"{key}={value!r}" for key, value in knobs.items())
        if cache_key not in self._studies:
            if len(self._studies) >= _MAX_CACHED_STUDIES:
                self._studies.clear()
            self._studies[cache_key] = self._build(knobs)
        study, keys = self._studies[cache_key]
        book = self.canonical_job
        canonical = book is not None and (study, seed) == (book.study, book.seed)
        if self.kind.name == catalogue.EQUATIONS and (changes or (book and not canonical)):
            raise InputError(no_parameters_message(self.experiment or study.name))
        copied = _copy_study(study)
        job = Job(copied, seed, self.published, self.experiment, canonical, self.data_dir)
        return job.with_key(None if keys is None or job.equations else keys.key(seed))

    def _build(self, changes: Mapping[str, Any]) -> "tuple[Study, KeyTemplate | None]":
        knobs = dict(self._knobs)
        for key, value in changes.items():
            knobs[key.removeprefix("study.")] = self._convert(key, value)
        study: Study = self.kind(**copy.deepcopy(knobs))
        has_data = bool(study.dataset_names())  # the key contains digests that depend on the seed
        return study, None if has_data else KeyTemplate(Job(study, experiment=self.experiment))

    def _convert(self, key: str, value: Any) -> Any:
        """The value with the type of its parameter; each distinct value is converted once."""
        cache_key = (key, repr(value))
        if cache_key not in self._converted:
            problems = list(find_interpolations({key: value}))
            if problems:
                raise InputError(problems)
            name = key.removeprefix("study.")
            values = validate_fields(self.kind, {name: value}, "study.")
            self._converted[cache_key] = values[name]
        return self._converted[cache_key]

    @staticmethod
    def _check_seed(value: Any) -> int:
        if type(value) is not int or value < 0:
            raise InputError(f"seed={format_value(value)} is not allowed; allowed: int, >= 0")
        return value


def _copy_study(study: Study) -> Study:
    """A copy that shares no list or mapping."""
    other = copy.copy(study)
    for name, value in vars(study).items():
        if isinstance(value, list) and all(isinstance(entry, _IMMUTABLE_TYPES) for entry in value):
            setattr(other, name, value.copy())
        elif isinstance(value, list | dict):
            setattr(other, name, copy.deepcopy(value))
    return other


def load_job(name: str, data_dir: str | None = None) -> Job:
    """The job of an experiment file."""
    job = _load_cached(name)
    return job if data_dir is None else dataclasses.replace(job, data_dir=data_dir)


@cache
def _load_cached(name: str) -> Job:
    entry = catalogue.load_experiment(name)
    try:
        check_allowed_keys(entry.body)
        job = JobFactory(entry.study, entry.body, None, None).job()
        if job.source.book not in catalogue.BOOKS:
            raise InputError(unknown_book_message(job.source.book))
    except InputError as error:
        raise InputError([f"{entry.path}: {line}" for line in error.problems]) from error
    return dataclasses.replace(job, experiment=name, canonical=True)


def no_parameters_message(name: str) -> str:
    """The message for a command that changes the parameters of a result of equations."""
    return f"{name} consists of equations and has no parameters; allowed: `bythebook run {name}`"


def check_parameters(name: str) -> None:
    """Refuse a result that consists of equations, for commands that change parameters or draw."""
    if catalogue.load_heading(name).study == catalogue.EQUATIONS:
        raise InputError(no_parameters_message(name))


def check_allowed_keys(content: Mapping[str, Any]) -> None:
    """Refuse keys that an experiment file must not have; settings belong on the command line."""
    for key in content:
        if key not in catalogue.ALLOWED_KEYS:
            line = unknown_key_message(str(key), catalogue.ALLOWED_KEYS)
            raise InputError(f"{line}; set other settings on the command line")


def unknown_book_message(book: str) -> str:
    """The message for a book that is not in `catalogue.BOOKS`."""
    return f"source.book={book} is not allowed; allowed: {', '.join(catalogue.BOOKS)}"


def _mapping(content: Mapping[str, Any]) -> dict[str, Any]:
    knobs = content.get("study") or {}
    if not isinstance(knobs, Mapping):
        raise InputError(f"study={format_value(knobs)} is not a mapping of parameters")
    return dict(knobs)


def _source(content: Any) -> Source:
    values = validate_fields(Source, content, "source.")
    source = Source(**values)
    books = [source.book, *(entry.book for entry in source.also)]
    for book in filter(None, books):
        if book not in catalogue.BOOKS:
            raise InputError(unknown_book_message(book))
    if source.grade not in datasets.GRADES:
        allowed = ", ".join(datasets.GRADES)
        raise InputError(f"source.grade={source.grade} is not allowed; allowed: {allowed}")
    return source


def _let(content: Any, kind: type[Study]) -> dict[str, str]:
    """The named parts of the claims' expressions."""
    try:
        lines: dict[str, str] = convert(content or {}, dict[str, str])
    except InvalidValueError as error:
        line = f"let={format_value(content)}: {format_value(error.value)} is not allowed"
        raise InputError(f"{line}; allowed: a mapping of names to expressions in quotes") from None
    try:
        check_let(lines, kind.quantities)
    except ExpressionError as error:
        raise InputError(str(error)) from None
    return lines


def _claims(content: Any, let: Mapping[str, str]) -> Iterator[Claim]:
    if not isinstance(content, list):
        raise InputError(f"claims={format_value(content)} is not a list")
    for entry in content:
        values = validate_fields(Claim, _claim_fields(entry), "claims.")
        texts = [values.get(name) for name in ("value", "holds", "draws", "instead")]
        try:
            used = used_lines(let, *filter(None, texts), *values.get("values", ()))
        except ExpressionError as error:
            raise InputError(f"claim '{values.get('says', '')}': {error}") from None
        yield Claim(**values, let=used)


def _claim_fields(entry: Any) -> Any:
    """The fields of a claim under their names in Python, with the labels of a table as text."""
    if not isinstance(entry, Mapping):
        return entry
    for name, allowed in (("quantifier", "in"), ("let", "`let` of the file")):
        if name in entry:
            raise InputError(f"claims.{name} is not allowed; allowed: {allowed}")
    content = {"quantifier" if name == "in" else name: value for name, value in entry.items()}
    rows = content.get("values")
    if isinstance(rows, Mapping):
        content["values"] = {
            str(name): {str(label): number for label, number in row.items()}
            if isinstance(row, Mapping)
            else row
            for name, row in rows.items()
        }
    return content


def _check_quantities(kind: type[Study], claims: Sequence[Claim]) -> None:
    """Refuse claims about quantities that the study does not declare.

    A study that declares all of its quantities is enough to find a misspelt one before any run.
    """
    problems = []
    for claim in claims:
        for text in claim.expressions:
            for line in unknown_names(quantity_names(text, claim.let), kind.quantities):
                problems.append(f"claim '{claim.says}': {text}: {line}")
    if problems:
        raise InputError(problems)


def validate_fields(kind: Any, content: Any, prefix: str) -> dict[str, Any]:
    """The fields of a dataclass from plain values, converted to their types."""
    if not isinstance(content, Mapping):
        name = prefix.rstrip(".")
        names = ", ".join(entry.name for entry in dataclasses.fields(kind))
        raise InputError(
            f"{name}={format_value(content)} is not a mapping; allowed: {name} with {names}"
        )
    types, values, problems = field_types(kind), {}, []
    fields = {entry.name: entry for entry in dataclasses.fields(kind)}
    if "_target_" in content:
        raise InputError(f"{prefix}_target_ is not allowed in a configuration")
    for name, value in content.items():
        if name not in fields:
            problems.append(unknown_key_message(f"{prefix}{name}", list(fields)))
        elif dataclasses.is_dataclass(types[name]):
            inner: Any = types[name]
            values[name] = inner(**validate_fields(inner, value, f"{prefix}{name}."))
        else:
            try:
                values[name] = convert(value, types[name])
            except InvalidValueError as error:
                setting = f"{prefix}{name}={format_value(value)}"
                part = "" if error.value is value else f": {format_value(error.value)}"
                problems.append(
                    f"{setting}{part} is not allowed; allowed: {describe_constraints(fields[name])}"
                )
    if problems:
        raise InputError(problems)
    return values


def check_bounds(node: Any, prefix: str = "") -> Iterator[str]:
    """One line for each setting that is out of its bounds, also in nested dataclasses."""
    for entry in dataclasses.fields(node):
        value = getattr(node, entry.name)
        if dataclasses.is_dataclass(value):
            yield from check_bounds(value, f"{prefix}{entry.name}.")
        elif entry.metadata and value is not None and not is_valid_value(entry, value):
            line = f"{prefix}{entry.name}={format_value(value)} is not allowed"
            yield f"{line}; allowed: {describe_constraints(entry)}"


def find_interpolations(content: Mapping[str, Any]) -> Iterator[str]:
    """One line for each part with an interpolation or invalid characters.

    An interpolation could read the environment into a record.
    """
    for part, value in content.items():
        text = dumps(value)
        if _INTERPOLATION in text:
            yield f"{part}: interpolation (${{...}}) is not allowed"
        if _INVALID_CHARACTERS.search(text):
            yield f"{part} contains invalid characters"


def format_value(value: Any) -> str:
    """A value as in an override, cut to 60 characters."""
    text = (
        value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), default=str)
    )
    return text if len(text) <= 60 else text[:57] + "..."
