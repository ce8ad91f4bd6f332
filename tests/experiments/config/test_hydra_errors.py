"""One-line messages for errors of Hydra and OmegaConf."""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hydra.errors import HydraException

from bythebook.experiments.config import catalogue
from bythebook.experiments.config.hydra_errors import (
    MAX_MESSAGE_CHARS,
    invalid_override_message,
    translate_error,
    unknown_choice_message,
    unknown_key_message,
)
from bythebook.experiments.core.registry import study_topics

OVERRIDES = {
    "study.orders.x=1": "study=ridge_path study.orders.x=1: ",
    "launcher=cloud": "there is no launcher 'cloud'; allowed: dask, local, slurm",
    "launcher=slrm": "there is no launcher 'slrm' (did you mean 'slurm'?); allowed: dask",
    "seed=[1": "'seed=[1' is not a valid setting; allowed: <name>=<value> with balanced brackets",
}


@pytest.mark.parametrize("typed", OVERRIDES)
def test_overrides(typed: str, outputs: Path, refused: Callable[..., str]) -> None:
    assert refused("run", "study=ridge_path", typed).startswith(OVERRIDES[typed])
    assert not list(outputs.iterdir())


def test_an_unknown_key_is_reported_with_the_known_ones() -> None:
    names = ["seed", "study"]
    assert unknown_key_message("seeed", names) == (
        "there is no 'seeed' (did you mean 'seed'?); allowed here: seed, study"
    )
    assert unknown_key_message("x", names) == "there is no 'x'; allowed here: seed, study"


def test_short_lists_of_choices_are_shown_and_long_ones_referred_to() -> None:
    for group, number in (
        ("experiment", len(catalogue.experiment_names())),
        ("study", len(study_topics())),
    ):
        assert unknown_choice_message(group, "zzz").endswith(f"shows all {number}")
    assert unknown_choice_message("colour", "zzz", ["red", "blue"]).endswith("; allowed: red, blue")


def test_a_long_argument_is_truncated() -> None:
    assert len(invalid_override_message("x" * 5 * MAX_MESSAGE_CHARS)) < 2 * MAX_MESSAGE_CHARS
    assert "did you mean 'fcml/fig-1.15'" in invalid_override_message("fcml/fig-1.15x")


def test_the_message_is_that_of_the_first_cause() -> None:
    """Hydra wraps exceptions, sometimes twice."""
    try:
        try:
            yaml.safe_load("a: [")
        except yaml.YAMLError as error:
            raise HydraException("an error occurred") from error
    except HydraException as wrapped:
        translated = translate_error(wrapped, ["seed=1"])
    assert "while parsing a flow" in str(translated)
    assert "an error occurred" not in str(translated)
    plain = translate_error(HydraException("one\ntwo"), ["seed=1"])
    assert plain.problems == ["seed=1: one"]
