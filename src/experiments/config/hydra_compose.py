"""Composition of configurations with Hydra, from files and overrides to plain values.

`hydra.compose` is used instead of `hydra.main` because it does nothing but compose: callbacks,
logging, job environments and working directories of a `hydra` section have no effect.
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

from bythebook.experiments.config import catalogue
from bythebook.experiments.config.former_names import data_dir_from_environment
from bythebook.experiments.config.hydra_errors import translate_error, unknown_key_message
from bythebook.experiments.config.schema import LauncherConfig, RunConfig, RunSettings
from bythebook.experiments.config.validation import (
    JobFactory,
    check_allowed_keys,
    check_bounds,
    find_interpolations,
    validate_fields,
)
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.study import studies
from bythebook.experiments.core.type_check import default_values

CONFIG = "config"
MAX_USER_FILES = 10_000  # experiment files of the user, in all folders
# The only settings that may come from the environment, as conf/ has them.
_ENVIRONMENT_SETTINGS = {
    "data_dir": "${oc.env:BYTHEBOOK_DATA,null}",
    "launcher.address": "${oc.env:DASK_SCHEDULER_ADDRESS,null}",
    "tracking_uri": "${oc.env:MLFLOW_TRACKING_URI,null}",
}


@dataclass(frozen=True)
class ComposedConfig:
    """A configuration: the job to compute, and the settings of the run."""

    job_factory: JobFactory
    settings: RunSettings


@contextmanager
def hydra_composer(
    overrides: Iterable[Override], config_dirs: Sequence[str]
) -> Iterator["ConfigComposer"]:
    """Hydra with our files, the user's files, and the studies that the overrides mention."""
    for folder in config_dirs:
        if not Path(folder).is_dir():
            raise InputError(f"--config-dir {folder} is not a folder")
    store = ConfigStore.instance()
    plain = {"study", "launcher"}  # config groups
    schema = {
        name: value for name, value in _schema_defaults(RunConfig).items() if name not in plain
    }
    store.store(name="schema", node=schema)
    store.store(group="launcher", name="schema", node=_schema_defaults(LauncherConfig))
    for name in _referenced_studies(overrides, config_dirs) or studies():
        store.store(group="study", name=name, node=default_values(studies()[name]))
    GlobalHydra.instance().clear()
    try:
        for name, path in _user_files(config_dirs):
            _register_user_file(store, name, path)
        with hydra.initialize_config_dir(str(catalogue.CONF_DIR), "bythebook", version_base="1.3"):
            yield ConfigComposer(config_dirs)
    finally:
        store.repo.pop("experiment", None)


def _user_files(config_dirs: Sequence[str]) -> Iterator[tuple[str, Path]]:
    """The user's experiment files by name; the first folder with a name has precedence."""
    files: dict[str, Path] = {}
    for folder in config_dirs:
        root = Path(folder) / "experiment"
        for path in sorted(root.rglob("*.yaml")):
            files.setdefault(path.relative_to(root).with_suffix("").as_posix(), path)
            if len(files) > MAX_USER_FILES:
                raise InputError(
                    f"--config-dir {folder} has more than {MAX_USER_FILES:,} experiments"
                )
    yield from files.items()


def _register_user_file(store: ConfigStore, name: str, path: Path) -> None:
    """Register the content of a user's experiment file with Hydra.

    Hydra itself does not search the user's folders, where a file could replace a study or set the
    outputs folder. An invalid file is registered empty and reported when it is selected.
    """
    group, _, stem = f"experiment/{name}".rpartition("/")
    try:
        entry = load_user_file(path, name)
        node = {"defaults": [{"override /study": entry.study}, "_self_"], **entry.body}
        store.store(group=group, name=stem, node=OmegaConf.create(node), package="_global_")
    except (InputError, OmegaConfBaseException, ValueError):
        store.store(group=group, name=stem, node={}, package="_global_")


def _schema_defaults(kind: Any) -> dict[str, Any]:
    return dataclasses.asdict(kind())


def _referenced_studies(overrides: Iterable[Override], config_dirs: Sequence[str] = ()) -> set[str]:
    """The studies that the overrides mention; an empty set if they are not certain."""
    names: set[str] = set()
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
            names.add(name)
    return names


def _study_of(experiment: str, config_dirs: Sequence[str]) -> str:
    """The study of an experiment file of ours or of the user; empty if there is no such file."""
    if experiment in catalogue.experiment_names():
        return catalogue.load_heading(experiment).study
    for folder in config_dirs:
        path = Path(folder) / "experiment" / f"{experiment}.yaml"
        if path.is_file():
            return load_user_file(path, experiment).study
    return ""


def load_user_file(path: Path, name: str) -> catalogue.ExperimentFile:
    """An experiment file of the user, with the keys that our files have."""
    try:
        entry = catalogue.load_experiment_file(path, name)
        check_allowed_keys(entry.body)
    except InputError as error:
        raise InputError([f"experiment/{name}: {line}" for line in error.problems]) from error
    return entry


class ConfigComposer:
    """Composes configurations from overrides."""

    def __init__(self, config_dirs: Sequence[str]) -> None:
        self.config_dirs = config_dirs

    def config(self, overrides: list[str]) -> DictConfig:
        """The composed configuration, with Hydra's own section."""
        for word in overrides:
            if word.startswith("experiment="):
                _study_of(word.partition("=")[2], self.config_dirs)
        try:
            composed = hydra.compose(CONFIG, overrides, return_hydra_config=True)
        except (
            HydraException,
            OmegaConfBaseException,
            yaml.YAMLError,
            UnicodeDecodeError,
        ) as error:
            raise translate_error(error, overrides) from error
        except (OverflowError, TypeError, ValueError) as error:
            raise InputError(f"{' '.join(overrides)}: {error}".partition("\n")[0]) from error
        except RecursionError as error:
            raise InputError("the configuration is nested too deeply") from error
        except AssertionError as error:  # from Hydra, for a group without a name: `+@x=`
            raise InputError(
                f"{' '.join(overrides)}: invalid override; allowed: <name>=<value>"
            ) from error
        return composed

    def __call__(self, overrides: list[str]) -> ComposedConfig:
        """The validated configuration of some overrides."""
        config = self.config(overrides)
        choices = config.hydra.runtime.choices
        content: Any = OmegaConf.to_container(config, resolve=False)
        content.pop("hydra")
        study, experiment = choices.get("study"), choices.get("experiment")
        if study is None and experiment is not None:  # a file of equations
            study = _study_of(experiment, self.config_dirs) or None
            content.setdefault("study", {})
        if study is None:
            raise InputError(
                "there is nothing to run; allowed: experiment=<book>/<result>"
                f" (see `bythebook list`) or study=<name> with one of {', '.join(studies())}"
            )
        names = [entry.name for entry in dataclasses.fields(RunConfig)]
        removed = [name for name in names if name not in content]
        if removed:
            raise InputError(f"~{removed[0]}: a required setting cannot be removed")
        for name in content:
            if name == "_target_":
                raise InputError("_target_ is not allowed in a configuration")
            if name not in names:
                raise InputError(unknown_key_message(name, names))
        experiment_content = {
            name: content.pop(name) for name in ("study", "seed", "source", "let", "claims")
        }
        if isinstance(content["figures"], list | dict):
            experiment_content["figures"] = content["figures"]
            config.figures = content["figures"] = True
        else:  # whether to draw; the file says what
            experiment_content["figures"] = self._figures(experiment)
        problems = list(find_interpolations(_without_environment(content)))
        if problems:
            raise InputError(problems)
        settings = self._settings(config, list(content))
        try:
            job_factory = JobFactory(study, experiment_content, experiment, settings.data_dir)
        except InputError as error:
            if experiment is None or experiment in catalogue.experiment_names():
                raise
            lines = [f"experiment/{experiment}: {line}" for line in error.problems]
            raise InputError(lines) from error
        return ComposedConfig(job_factory, settings)

    def _figures(self, experiment: str | None) -> Any:
        """The figures that an experiment file names."""
        if experiment in catalogue.experiment_names():
            return catalogue.load_experiment(str(experiment)).body.get("figures")
        for folder in self.config_dirs:
            path = Path(folder) / "experiment" / f"{experiment}.yaml"
            if path.is_file():
                return load_user_file(path, str(experiment)).body.get("figures")
        return None

    @staticmethod
    def _settings(config: DictConfig, names: list[str]) -> RunSettings:
        try:
            part = OmegaConf.masked_copy(config, names)
            values: Any = OmegaConf.to_container(part, resolve=True)
        except OmegaConfBaseException as error:
            raise translate_error(error, []) from error
        values["data_dir"] = values["data_dir"] or data_dir_from_environment()
        if type(values["outputs"]) is int:  # a folder whose name is a number
            values["outputs"] = str(values["outputs"])
        settings = RunSettings(**validate_fields(RunSettings, values, ""))
        problems = list(check_bounds(settings))
        launcher = settings.launcher
        if launcher.kind == "dask" and launcher.address and ":" not in launcher.address:
            problems.append(
                f"launcher.address={launcher.address} is not an address;"
                " allowed: tcp://<host>:<port>"
            )
        for name, limit in dataclasses.asdict(settings.limits).items():
            if limit is not None and launcher.kind == "dask":
                problems.append(
                    f"limits.{name} cannot be enforced by Dask, which runs a study in a thread"
                )
        if problems:
            raise InputError(problems)
        return settings


def _without_environment(content: dict[str, Any]) -> dict[str, Any]:
    """The settings without the values that conf/ takes from the environment."""
    fixed = copy.deepcopy(content)
    for key, interpolation in _ENVIRONMENT_SETTINGS.items():
        part, _, name = key.rpartition(".")
        node = fixed[part] if part else fixed
        if isinstance(node, dict) and node.get(name) == interpolation:
            node[name] = None
    return fixed


def parse_overrides(words: list[str]) -> list[Override]:
    """The overrides of a command line; inside `hydra_composer`, `glob` is expanded."""
    instance = GlobalHydra.instance()
    loader = instance.config_loader() if instance.is_initialized() else None
    try:
        overrides: list[Override] = OverridesParser.create(loader).parse_overrides(words)
    except HydraException as error:
        raise translate_error(error, words) from error
    except RecursionError as error:
        raise InputError("the configuration is nested too deeply") from error
    return overrides
