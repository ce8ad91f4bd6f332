"""The settings of a run: the files in conf/ and the types agree."""

import dataclasses

import yaml

from bythebook.experiments.config import catalogue, schema
from bythebook.experiments.config.schema import LauncherConfig, RunConfig, RunSettings
from bythebook.experiments.config.validation import check_bounds
from bythebook.experiments.core.type_check import build_dataclass


def test_every_launcher_has_a_file_whose_keys_are_fields() -> None:
    files = {path.stem: path for path in (catalogue.CONF_DIR / "launcher").glob("*.yaml")}
    assert set(files) == set(schema.LAUNCHERS)
    for kind, path in files.items():
        content = {k: v for k, v in yaml.safe_load(path.read_text()).items() if k != "defaults"}
        plain = {k: v for k, v in content.items() if "${" not in str(v)}
        assert build_dataclass(LauncherConfig, plain).kind == kind  # every value has its type
        assert content.keys() <= {field.name for field in dataclasses.fields(LauncherConfig)}


def test_the_main_file_sets_fields_only() -> None:
    content = yaml.safe_load((catalogue.CONF_DIR / "config.yaml").read_text())
    names = {field.name for field in dataclasses.fields(RunConfig)}
    assert content.keys() - {"defaults", "hydra"} <= names


def test_the_defaults_are_within_their_bounds() -> None:
    assert list(check_bounds(RunSettings())) == []


def test_a_command_line_sets_experiment_keys_and_settings() -> None:
    experiment_keys = {"study", "seed", "source", "claims", "let"}
    names = [field.name for field in dataclasses.fields(RunConfig)]
    assert len(names) == len(set(names))
    assert set(names) == experiment_keys | {field.name for field in dataclasses.fields(RunSettings)}
