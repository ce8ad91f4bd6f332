"""Arguments of `run` and `sweep`: the target, its knobs, and the same call as a command line.

A knob is passed by its own name (`orders=[1, 2, 3]`) or, as on the command line, by its full name
(`**{"study.orders": [1, 2, 3]}`). A knob with the name of a setting needs the full name.
"""

import dataclasses
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bythebook.experiments.config import catalogue
from bythebook.experiments.config.former_names import data_dir_from_environment, present_name
from bythebook.experiments.config.hydra_compose import parse_overrides
from bythebook.experiments.config.result_names import find_result
from bythebook.experiments.config.validation import JobFactory
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.study import Study, studies
from bythebook.experiments.core.suggestions import did_you_mean
from bythebook.experiments.core.type_check import InvalidValueError, convert, field_types

KNOB_PREFIX = "study."
MAX_ENTRIES = 10_000_000  # of a list: range(10**12) is typed quickly and does not fit in memory
Overrides = dict[str, Any]  # from `seed` or a knob's full name to a plain value


@dataclass(frozen=True)
class RunTarget:
    """A printed result, or a study."""

    study: str
    experiment: str | None = None
    body: Mapping[str, Any] = field(default_factory=dict)  # the content of the result's file

    @property
    def override(self) -> str:
        """The override that selects it on the command line."""
        return f"experiment={self.experiment}" if self.experiment else f"study={self.study}"

    @property
    def kind(self) -> type[Study]:
        return studies()[self.study]

    @property
    def metric(self) -> str | None:
        """The metric of a sweep's figure, if the result's file sets one."""
        metric: str | None = self.body.get("metric")
        return metric

    def job_factory(self, changes: Overrides, data_dir: str | Path | None) -> JobFactory:
        """The configuration of the result's file with some values replaced."""
        knobs = {
            k.removeprefix(KNOB_PREFIX): v for k, v in changes.items() if k.startswith(KNOB_PREFIX)
        }
        content = {**self.body, "study": {**(self.body.get("study") or {}), **knobs}}
        if "seed" in changes:
            content["seed"] = changes["seed"]
        return JobFactory(self.study, content, self.experiment, original_data_dir(data_dir))

    def overrides(self, knobs: Mapping[str, Any], settings: Iterable[str]) -> Overrides:
        """Full names and plain values; an unknown name is looked up in `settings` as well."""
        known = {entry.name for entry in dataclasses.fields(self.kind)}
        overrides: Overrides = {}
        for name, value in knobs.items():
            short = name.removeprefix(KNOB_PREFIX)
            if name == "seed":
                overrides["seed"] = to_plain_value(name, value)
            elif short in known:
                overrides[KNOB_PREFIX + short] = to_plain_value(name, value)
            elif present := present_name(name):
                raise InputError(f"'{name}' is called '{present}' now")
            else:
                allowed = [*sorted(known), "seed", *settings]
                raise InputError(
                    f"study {self.study} has no knob '{name}'{did_you_mean(short, allowed)};"
                    f" allowed: {', '.join(allowed)}"
                )
        return overrides


def resolve_target(what: Any) -> RunTarget:
    """The result (`fcml/fig-1.15`) or the study (`ridge_path`) with a name."""
    if not isinstance(what, str):
        raise InputError(f"{what!r} is not a name; allowed: a result ('fcml/fig-1.15') or a study")
    name = what.removeprefix("study:")
    if name in studies():
        return RunTarget(name)
    if (result := find_result(what)) is not None:
        entry = catalogue.load_experiment(result)
        return RunTarget(entry.study, result, entry.body)
    near = did_you_mean(name, [*catalogue.experiment_names(), *studies()])
    raise InputError(
        f"there is no result or study '{what}'{near}; `bythebook list` shows all results"
    )


def original_data_dir(data_dir: str | Path | None) -> str | None:
    """The folder of the authors' original files: the argument, else the environment variable."""
    if data_dir is None:
        return data_dir_from_environment()
    if not Path(data_dir).is_dir():
        raise InputError(f"data_dir={data_dir} is not a folder")
    return str(data_dir)


def to_plain_value(name: str, value: Any) -> Any:
    """A value in the types of a configuration: arrays, ranges and tuples become lists."""
    if isinstance(value, np.generic | np.ndarray) or hasattr(value, "to_numpy"):
        value = np.asarray(value).tolist()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple | range):
        if len(value) > MAX_ENTRIES:
            raise InputError(f"{name} has {len(value):,} entries; allowed: {MAX_ENTRIES:,}")
        return [to_plain_value(name, entry) for entry in value]
    if isinstance(value, Mapping):
        return {
            to_plain_value(name, key): to_plain_value(name, entry) for key, entry in value.items()
        }
    kind = type(value).__name__
    raise InputError(
        f"{name} has the type {kind}; allowed: numbers, text, lists and mappings of them"
    )


def split_swept(target: RunTarget, changes: Overrides) -> tuple[Overrides, dict[str, list[Any]]]:
    """Fixed values and swept values; a list is swept if its knob does not accept it as one value.

    `noise=[0.1, 0.3]` is two values of a number, `orders=[1, 2, 3]` is one value of a list, and
    `orders=[[1, 2], [1, 2, 3]]` is two.
    """
    types = {"seed": int, **{KNOB_PREFIX + k: v for k, v in field_types(target.kind).items()}}
    fixed: Overrides = {}
    axes: dict[str, list[Any]] = {}
    for key, value in changes.items():
        if isinstance(value, list) and _is_swept(value, types[key]):
            axes[key] = value
        else:
            fixed[key] = value
    return fixed, axes


def _is_swept(values: list[Any], kind: Any) -> bool:
    return not _fits(values, kind) and (not values or any(_fits(v, kind) for v in values))


def _fits(value: Any, kind: Any) -> bool:
    try:
        convert(value, kind)
    except InvalidValueError:
        return False
    return True


def to_overrides(target: RunTarget, fixed: Overrides, axes: Mapping[str, list[Any]]) -> list[str]:
    """The command line of a sweep; the knobs are in the order of the call."""
    overrides = [target.override, *(f"{key}={to_override(value)}" for key, value in fixed.items())]
    for key, values in axes.items():
        texts = ",".join(map(to_override, values))
        overrides.append(
            f"{key}=" + (_range(values) or (texts if len(values) > 1 else f"choice({texts})"))
        )
    return overrides


def _range(values: list[Any]) -> str:
    """Consecutive integers as a range; empty for any other values."""
    integers = len(values) > 2 and all(type(value) is int for value in values)
    if integers and values == list(range(values[0], values[-1] + 1)):
        return f"range({values[0]},{values[-1] + 1})"
    return ""


def to_override(value: Any) -> str:
    """A value in Hydra's override grammar, written as Hydra writes the values of a sweep."""
    if value is None:
        return "null"
    if isinstance(value, list):
        return f"[{','.join(map(to_override, value))}]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{to_override(k)}:{to_override(v)}" for k, v in value.items()) + "}"
    return _text(value) if isinstance(value, str) else str(value)


def _text(value: str) -> str:
    """A text without quotes if the grammar reads it back, also inside a list; else in quotes."""
    with suppress(InputError):
        alone, listed = parse_overrides([f"x={value}", f"x=[{value}]"])
        bare = not alone.is_sweep_override() and (alone.value(), listed.value()) == (value, [value])
        if bare and alone.get_value_element_as_str() == value:
            return value
    doubled = re.sub(r"(\\+)(?='|$)", r"\1\1", value)  # a backslash before a quote
    return "'" + doubled.replace("'", r"\'") + "'"
