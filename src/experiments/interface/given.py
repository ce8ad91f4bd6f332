"""What a call means: a result or a study, its knobs, and the words that would have said it.

A knob goes by its own name (`orders=[1, 2, 3]`) or, as on the command line, by its full one
(`**{"study.orders": [1, 2, 3]}`): the way to a knob that is called like a setting.
"""

import dataclasses
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from experiments.configuration import catalogue
from experiments.configuration.build import Template
from experiments.configuration.compose import parsed
from experiments.contract.errors import BadInput
from experiments.contract.study import Study, studies
from experiments.contract.suggestions import meant
from experiments.contract.type_check import Unfit, field_types, fit

KNOB = "study."
LONGEST = 10_000_000  # entries of a list: range(10**12) is written in a second
Changes = dict[str, Any]  # `seed` or a knob's full name -> a plain value


@dataclass(frozen=True)
class Subject:
    """A printed result, or a study by itself."""

    study: str
    experiment: str | None = None
    body: Mapping[str, Any] = field(default_factory=dict)  # what the result's file states

    @property
    def word(self) -> str:
        """As the command line names it."""
        return f"experiment={self.experiment}" if self.experiment else f"study={self.study}"

    @property
    def kind(self) -> type[Study]:
        return studies()[self.study]

    @property
    def metric(self) -> str | None:
        """The quantity that its file wants a sweep's figure to show."""
        stated: str | None = self.body.get("metric")
        return stated

    def template(self, changes: Changes, data_dir: str | Path | None) -> Template:
        """The configuration with some values in place of those that the file states."""
        knobs = {k.removeprefix(KNOB): v for k, v in changes.items() if k.startswith(KNOB)}
        content = {**self.body, "study": {**(self.body.get("study") or {}), **knobs}}
        if "seed" in changes:
            content["seed"] = changes["seed"]
        return Template(self.study, content, self.experiment, originals(data_dir))

    def changes(self, knobs: Mapping[str, Any], settings: Iterable[str]) -> Changes:
        """Full names and plain values; what is no knob may be a misspelt setting."""
        known = {entry.name for entry in dataclasses.fields(self.kind)}
        found: Changes = {}
        for name, value in knobs.items():
            short = name.removeprefix(KNOB)
            if name == "seed":
                found["seed"] = plain(name, value)
            elif short in known:
                found[KNOB + short] = plain(name, value)
            else:
                others = [*sorted(known), "seed", *settings]
                raise BadInput(f"there is no '{name}'{meant(short, others)}; {_told(self, others)}")
        return found


def _told(subject: Subject, names: Iterable[str]) -> str:
    return f"{subject.study} takes: {', '.join(names)}"


def subject(what: Any) -> Subject:
    """A result (fcml/fig-1.15) or a study (ridge_path) by its name."""
    if not isinstance(what, str):
        raise BadInput(f"{what!r} is not a name; allowed: a result ('fcml/fig-1.15') or a study")
    name = what.removeprefix("study:")
    if what in catalogue.names():
        entry = catalogue.read(what)
        return Subject(entry.study, what, entry.body)
    if name in studies():
        return Subject(name)
    near = meant(name, [*catalogue.names(), *studies()])
    raise BadInput(
        f"there is no result and no study '{what}'{near}; `bythebook list` shows the results"
    )


def originals(data_dir: str | Path | None) -> str | None:
    """The folder of the authors' original files, stated or from the environment."""
    if data_dir is None:
        return os.environ.get("BOOK_DATA") or None
    if not Path(data_dir).is_dir():
        raise BadInput(f"data_dir={data_dir} is not a folder")
    return str(data_dir)


def plain(name: str, value: Any) -> Any:
    """A value as a configuration has it: arrays, ranges and tuples are lists."""
    if isinstance(value, np.generic | np.ndarray) or hasattr(value, "to_numpy"):
        value = np.asarray(value).tolist()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple | range):
        if len(value) > LONGEST:
            raise BadInput(f"{name} has {len(value):,} entries; allowed: {LONGEST:,}")
        return [plain(name, entry) for entry in value]
    if isinstance(value, Mapping):
        return {plain(name, key): plain(name, entry) for key, entry in value.items()}
    kind = type(value).__name__
    raise BadInput(f"{name} is of type {kind}; allowed: numbers, text, lists and mappings of them")


def swept(subject: Subject, changes: Changes) -> tuple[Changes, dict[str, list[Any]]]:
    """What stays and what varies: a list varies where its knob does not take it as it stands.

    `noise=[0.1, 0.3]` are two values of a number, `orders=[1, 2, 3]` is one value of a list, and
    `orders=[[1, 2], [1, 2, 3]]` are two.
    """
    types = {"seed": int, **{KNOB + k: v for k, v in field_types(subject.kind).items()}}
    fixed: Changes = {}
    axes: dict[str, list[Any]] = {}
    for key, value in changes.items():
        if isinstance(value, list) and _several(value, types[key]):
            axes[key] = value
        else:
            fixed[key] = value
    return fixed, axes


def _several(values: list[Any], kind: Any) -> bool:
    return not _fits(values, kind) and (not values or any(_fits(v, kind) for v in values))


def _fits(value: Any, kind: Any) -> bool:
    try:
        fit(value, kind)
    except Unfit:
        return False
    return True


def words(subject: Subject, fixed: Changes, axes: Mapping[str, list[Any]]) -> list[str]:
    """The command line of a sweep; the order of the knobs is that of the call."""
    said = [subject.word, *(f"{key}={typed(value)}" for key, value in fixed.items())]
    for key, values in axes.items():
        texts = ",".join(map(typed, values))
        said.append(
            f"{key}=" + (_range(values) or (texts if len(values) > 1 else f"choice({texts})"))
        )
    return said


def _range(values: list[Any]) -> str:
    """Whole numbers one after the other, in short."""
    whole = len(values) > 2 and all(type(value) is int for value in values)
    if whole and values == list(range(values[0], values[-1] + 1)):
        return f"range({values[0]},{values[-1] + 1})"
    return ""


def typed(value: Any) -> str:
    """A value as Hydra's grammar has it, and as Hydra itself writes the values of a sweep."""
    if value is None:
        return "null"
    if isinstance(value, list):
        return f"[{','.join(map(typed, value))}]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{typed(k)}:{typed(v)}" for k, v in value.items()) + "}"
    return _text(value) if isinstance(value, str) else str(value)


def _text(value: str) -> str:
    """Bare where the grammar reads it so, in a list too; else in quotes."""
    with suppress(BadInput):
        alone, listed = parsed([f"x={value}", f"x=[{value}]"])
        bare = not alone.is_sweep_override() and (alone.value(), listed.value()) == (value, [value])
        if bare and alone.get_value_element_as_str() == value:
            return value
    doubled = re.sub(r"(\\+)(?='|$)", r"\1\1", value)  # a backslash before a quote
    return "'" + doubled.replace("'", r"\'") + "'"
