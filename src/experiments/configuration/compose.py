"""Hydra's part: the command line and the files of a configuration, composed into plain values.

`hydra.compose` and not `hydra.main`: it composes and does nothing else. Callbacks, logging, job
environments and working directories, which a configuration's `hydra` section can ask the latter
for, are never looked at; exceptions come as they are; nothing of Hydra is patched or plugged into.
"""

import copy
import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hydra
import yaml
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override, ValueType
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from experiments.configuration import catalogue
from experiments.configuration.build import Template, bounded, checked, crooked_parts, science_only
from experiments.configuration.errors import explained, no_such
from experiments.configuration.schema import Root, Settings
from experiments.contract.errors import BadInput
from experiments.contract.study import studies
from experiments.contract.type_check import defaults

CONFIG = "config"
MOST_FILES = 10_000  # of the user's own, in all folders
# The one way into a configuration that the environment has: these, in our own files.
_CALLS = {
    "data.dir": "${oc.env:BOOK_DATA,null}",
    "launch.address": "${oc.env:DASK_SCHEDULER_ADDRESS,null}",
    "tracking.uri": "${oc.env:MLFLOW_TRACKING_URI,null}",
}


@dataclass(frozen=True)
class Composed:
    """A configuration: what to compute, and how to run it."""

    template: Template
    settings: Settings


@contextmanager
def composer(overrides: Iterable[Override], config_dirs: Sequence[str]) -> Iterator["Composer"]:
    """Hydra, set up with our files, the user's, and the studies that are meant."""
    for folder in config_dirs:
        if not Path(folder).is_dir():
            raise BadInput(f"--config-dir {folder} is not a folder")
    store = ConfigStore.instance()
    plain = {"study", "tracking", "launch"}  # config groups
    schema = {name: value for name, value in _tree(Root).items() if name not in plain}
    store.store(name="schema", node=schema)
    for kind in ("tracking", "launch"):
        store.store(group=kind, name="schema", node=_tree(_part(kind)))
    for name in _meant(overrides, config_dirs) or studies():
        store.store(group="study", name=name, node=defaults(studies()[name]))
    GlobalHydra.instance().clear()
    try:
        for name, path in _own_files(config_dirs):
            _store_own(store, name, path)
        with hydra.initialize_config_dir(str(catalogue.ROOT), "bythebook", version_base="1.3"):
            yield Composer(config_dirs)
    finally:
        store.repo.pop("experiment", None)


def _own_files(config_dirs: Sequence[str]) -> Iterator[tuple[str, Path]]:
    """The user's experiment files by name; where two folders have one, the first counts."""
    found: dict[str, Path] = {}
    for folder in config_dirs:
        place = Path(folder) / "experiment"
        for path in sorted(place.rglob("*.yaml")):
            found.setdefault(path.relative_to(place).with_suffix("").as_posix(), path)
            if len(found) > MOST_FILES:
                raise BadInput(f"--config-dir {folder} has more than {MOST_FILES:,} experiments")
    yield from found.items()


def _store_own(store: ConfigStore, name: str, path: Path) -> None:
    """Tell Hydra of a file of the user's own; it is read by us, within bounds, and never by Hydra.

    Hydra would take any file of the user's folders: one for a study, or for where to write. A file
    that says more than science is told of when it is asked for.
    """
    group, _, stem = f"experiment/{name}".rpartition("/")
    try:
        entry = own_file(path, name)
        node = {"defaults": [{"override /study": entry.study}, "_self_"], **entry.body}
        store.store(group=group, name=stem, node=OmegaConf.create(node), package="_global_")
    except (BadInput, OmegaConfBaseException, ValueError):
        store.store(group=group, name=stem, node={}, package="_global_")


def _part(name: str) -> Any:
    return next(entry for entry in dataclasses.fields(Root) if entry.name == name).type


def _tree(kind: Any) -> dict[str, Any]:
    return dataclasses.asdict(kind())


def _meant(overrides: Iterable[Override], config_dirs: Sequence[str] = ()) -> set[str]:
    """The studies of the overrides; none where these leave any doubt: then all are needed."""
    found: set[str] = set()
    for override in overrides:
        group = override.key_or_group
        if group not in ("study", "experiment") or override.is_delete():
            continue
        if override.package is not None:
            return set()
        if override.value_type is ValueType.GLOB_CHOICE_SWEEP:
            return set()
        swept = override.is_sweep_override()
        values = (
            override.sweep_string_iterator() if swept else [override.get_value_element_as_str()]
        )
        for name in values:
            if group == "experiment":
                name = _study_of(name, config_dirs)
            if name not in studies():
                return set()
            found.add(name)
    return found


def _study_of(experiment: str, config_dirs: Sequence[str]) -> str:
    """The study of one of our files or of the user's; nothing where there is no such file."""
    if experiment in catalogue.names():
        return catalogue.heading(experiment).study
    for folder in config_dirs:
        path = Path(folder) / "experiment" / f"{experiment}.yaml"
        if path.is_file():
            return own_file(path, experiment).study
    return ""


def own_file(path: Path, name: str) -> catalogue.Entry:
    """A file of the user's own has the shape of ours: it states science and nothing else."""
    try:
        entry = catalogue.read_file(path, name)
        science_only(entry.body)
    except BadInput as error:
        raise BadInput([f"experiment/{name}: {line}" for line in error.problems]) from error
    return entry


class Composer:
    """Composes configurations from overrides, as often as a sweep needs."""

    def __init__(self, config_dirs: Sequence[str]) -> None:
        self.config_dirs = config_dirs

    def config(self, overrides: list[str]) -> DictConfig:
        """What Hydra makes of them, its own section included."""
        for word in overrides:
            if word.startswith("experiment="):
                _study_of(word.partition("=")[2], self.config_dirs)
        try:
            found = hydra.compose(CONFIG, overrides, return_hydra_config=True)
        except (
            HydraException,
            OmegaConfBaseException,
            yaml.YAMLError,
            UnicodeDecodeError,
        ) as error:
            raise explained(error, overrides) from error
        except (OverflowError, TypeError, ValueError) as error:
            raise BadInput(f"{' '.join(overrides)}: {error}".partition("\n")[0]) from error
        except RecursionError as error:
            raise BadInput("the configuration is nested too deeply") from error
        except AssertionError as error:  # Hydra about a group without a name, `+@x=`
            told = " ".join(overrides)
            raise BadInput(f"{told}: not understood; allowed: <name>=<value>") from error
        return found

    def __call__(self, overrides: list[str]) -> Composed:
        """A configuration, checked."""
        config = self.config(overrides)
        choices = config.hydra.runtime.choices
        content: Any = OmegaConf.to_container(config, resolve=False)
        content.pop("hydra")
        study, experiment = choices.get("study"), choices.get("experiment")
        if study is None:
            raise BadInput(
                "nothing to run: give experiment=<book>/<result> (see `bythebook list`)"
                f" or study=<name>, one of {', '.join(studies())}"
            )
        names = [entry.name for entry in dataclasses.fields(Root)]
        gone = [name for name in names if name not in content]
        if gone:
            raise BadInput(f"~{gone[0]} takes out what every run needs: not allowed")
        for name in content:
            if name == "_target_":
                raise BadInput("_target_ names something to import: not allowed")
            if name not in names:
                raise BadInput(no_such(name, names))
        science = {name: content.pop(name) for name in ("study", "seed", "source", "claims")}
        crooked = list(crooked_parts(_without_calls(content)))
        if crooked:
            raise BadInput(crooked)
        settings = self._settings(config, list(content))
        try:
            template = Template(study, science, experiment, settings.data.dir)
        except BadInput as error:
            if experiment is None or experiment in catalogue.names():
                raise
            lines = [f"experiment/{experiment}: {line}" for line in error.problems]
            raise BadInput(lines) from error
        return Composed(template, settings)

    @staticmethod
    def _settings(config: DictConfig, names: list[str]) -> Settings:
        try:
            part = OmegaConf.masked_copy(config, names)
            values: Any = OmegaConf.to_container(part, resolve=True)
        except OmegaConfBaseException as error:
            raise explained(error, []) from error
        if type(values["outputs"]) is int:  # a folder may be called 2024
            values["outputs"] = str(values["outputs"])
        settings = Settings(**checked(Settings, values, ""))
        problems = list(bounded(settings))
        launch = settings.launch
        if launch.kind == "dask" and launch.address and ":" not in launch.address:
            problems.append(
                f"launch.address={launch.address} is not an address; allowed: tcp://<host>:<port>"
            )
        for name, most in dataclasses.asdict(settings.limit).items():
            if most is not None and launch.kind == "dask":
                problems.append(
                    f"limit.{name}: Dask runs a study in a thread, which cannot be held to a limit"
                )
        if problems:
            raise BadInput(problems)
        return settings


def _without_calls(content: dict[str, Any]) -> dict[str, Any]:
    """The settings without what our own files leave to the environment."""
    fixed = copy.deepcopy(content)
    for key, call in _CALLS.items():
        part, name = key.split(".")
        if isinstance(fixed[part], dict) and fixed[part].get(name) == call:
            fixed[part][name] = None
    return fixed


def parsed(words: list[str]) -> list[Override]:
    """The overrides of a command line; inside `composer`, a glob knows the files."""
    known = GlobalHydra.instance()
    loader = known.config_loader() if known.is_initialized() else None
    try:
        found: list[Override] = OverridesParser.create(loader).parse_overrides(words)
    except HydraException as error:
        raise explained(error, words) from error
    except RecursionError as error:
        raise BadInput("the configuration is nested too deeply") from error
    return found
