"""What Hydra and OmegaConf raise, told in one line that names it and what is allowed."""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hydra.errors import HydraException

from experiments.configuration import catalogue
from experiments.configuration.errors import LONG, explained, no_choice, no_such, unreadable
from experiments.contract.places import places

OVERRIDES = {
    "study.orders.x=1": "study=ridge_path study.orders.x=1: ",
    "tracking=cloud": "there is no tracking 'cloud'; allowed: local, off, server",
    "tracking=servr": "there is no tracking 'servr' (did you mean 'server'?); allowed: local",
    "seed=[1": "'seed=[1' cannot be read as key=value; brackets and quotes come in pairs",
}


@pytest.mark.parametrize("typed", OVERRIDES)
def test_overrides(typed: str, outputs: Path, refused: Callable[..., str]) -> None:
    assert refused("run", "study=ridge_path", typed).startswith(OVERRIDES[typed])
    assert not list(outputs.iterdir())


def test_a_key_that_is_not_there_is_told_with_those_that_are() -> None:
    names = ["seed", "study"]
    assert no_such("seeed", names) == (
        "there is no 'seeed' (did you mean 'seed'?); allowed here: seed, study"
    )
    assert no_such("x", names) == "there is no 'x'; allowed here: seed, study"


def test_long_lists_are_pointed_to_and_short_ones_told() -> None:
    for group, number in (("experiment", len(catalogue.names())), ("study", len(places()))):
        assert no_choice(group, "zzz").endswith(f"shows all {number}")
    assert no_choice("colour", "zzz", ["red", "blue"]).endswith("; allowed: red, blue")


def test_a_word_is_repeated_no_longer_than_a_line() -> None:
    assert len(unreadable("x" * 5 * LONG)) < 2 * LONG
    assert "did you mean 'fcml/fig-1.15'" in unreadable("fcml/fig-1.15x")


def test_the_first_cause_is_what_is_told() -> None:
    """Hydra wraps what went wrong, sometimes twice."""
    try:
        try:
            yaml.safe_load("a: [")
        except yaml.YAMLError as error:
            raise HydraException("an error occurred") from error
    except HydraException as wrapped:
        told = explained(wrapped, ["seed=1"])
    assert "while parsing a flow" in str(told)
    assert "an error occurred" not in str(told)
    plain = explained(HydraException("one\ntwo"), ["seed=1"])
    assert plain.problems == ["seed=1: one"]
