"""The shape of a configuration: the files of conf/ and the types here say the same."""

import dataclasses

import pytest
import yaml

from experiments.configuration import catalogue, schema
from experiments.configuration.build import bounded
from experiments.configuration.schema import Launch, Root, Settings, Tracking
from experiments.contract.type_check import built


@pytest.mark.parametrize(
    ("group", "kinds", "part"),
    [("tracking", schema.TRACKING, Tracking), ("launch", schema.LAUNCHERS, Launch)],
)
def test_there_is_a_file_for_every_kind(group: str, kinds: tuple[str, ...], part: type) -> None:
    files = {path.stem: path for path in (catalogue.ROOT / group).glob("*.yaml")}
    assert set(files) == set(kinds)
    for kind, path in files.items():
        stated = {k: v for k, v in yaml.safe_load(path.read_text()).items() if k != "defaults"}
        plain = {k: v for k, v in stated.items() if "${" not in str(v)}
        assert built(part, plain).kind == kind  # every key is a field, of its type
        assert stated.keys() <= {field.name for field in dataclasses.fields(part)}


def test_the_defaults_are_within_their_bounds() -> None:
    assert list(bounded(Settings())) == []


def test_a_command_line_sets_science_and_settings_and_nothing_twice() -> None:
    science = {"study", "seed", "source", "claims"}
    names = [field.name for field in dataclasses.fields(Root)]
    assert len(names) == len(set(names))
    assert set(names) == science | {field.name for field in dataclasses.fields(Settings)}
