"""The words of `bythebook run`: flags, overrides, and what is refused before Hydra sees it."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.cli import main
from experiments.configuration.arguments import LONGEST, read
from experiments.contract.errors import BadInput

Capture = pytest.CaptureFixture[str]


def test_flags_and_overrides_in_any_order() -> None:
    found = read(["seed=3", "--cfg", "job", "study=ridge_path", "-m", "--dry-run"])
    assert found.words == ["seed=3", "study=ridge_path"]
    assert [override.key_or_group for override in found.overrides] == ["seed", "study"]
    assert (found.sweep, found.dry_run, found.cfg, found.info) == (True, True, "job", None)


def test_an_option_may_stand_between_overrides(outputs: Path, capsys: Capture) -> None:
    plans = set()
    words = ["study=ridge_path", "seed=1,2", "tracking=off"]
    for place in (0, 1):
        assert main(["run", *words[:place], "-m", *words[place:], "--dry-run"]) == 0
        plans.add(capsys.readouterr().out)
    assert len(plans) == 1
    assert "2 cells" in plans.pop()


def test_an_experiment_may_stand_for_itself() -> None:
    assert read(["fcml/fig-1.15"]).words == ["experiment=fcml/fig-1.15"]


def test_a_password_in_an_address_goes_to_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "the word sets it")
    address = "http://me:secret@host:5000"
    assert "secret" not in " ".join(read(["study=ridge_path", f"tracking.uri={address}"]).words)
    assert os.environ["MLFLOW_TRACKING_URI"] == address
    with pytest.raises(BadInput, match=r"outputs=http://\*\*\*@host' holds a password"):
        read([f"outputs={address.removesuffix(':5000')}"])


OVERRIDES = {
    "study=1": "there is no study '1'; `bythebook run --help` shows all",
    "experiment=": "there is no experiment ''; `bythebook list` shows all",
    "experiment": "'experiment' is not understood; allowed: key=value",
    "=1": "'=1' names no key",
    f"seed={'9' * 5000}": "'seed=99999999999999999999999999999999999...' has more than 300 digits",
    "~foo": "there is no 'foo'; allowed here: tracking, data",
    "hydra/launcher=nope": "'hydra/launcher=nope' has no effect: Hydra only composes",
    "--dryrun": "'--dryrun' is not understood (did you mean '--dry-run'?)",
    "hydra.run.dir=x": "'hydra.run.dir=x' has no effect: Hydra only composes here; outputs=",
    "experiment=[a,b]": "'experiment=[a,b]': one name is allowed; -m with a,b sweeps over several",
    "study=/etc/passwd": "there is no study '/etc/passwd': a name is allowed, not a path",
    "--config-name=x": "--config-name: not allowed, --config-dir adds files",
    f"seed={'x' * LONGEST}": "'seed=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...' has 100,005 characters",
    "seed=\0": r"'seed=\x00' is not text in UTF-8",
}


@pytest.mark.parametrize("typed", OVERRIDES)
def test_overrides(typed: str, outputs: Path, refused: Callable[..., str]) -> None:
    assert refused("run", "study=ridge_path", typed).startswith(OVERRIDES[typed])
    assert not list(outputs.iterdir())


def test_a_knob_without_its_study_is_understood(refused: Callable[..., str]) -> None:
    line = refused("run", "study=polynomial_order", "holdout_from=1980")
    assert "there is no 'holdout_from' (did you mean 'study.holdout_from'?)" in line


@given(st.lists(st.text(max_size=30), max_size=4))
def test_whatever_is_typed_is_read_or_refused(words: list[str]) -> None:
    """No word of a command line leads to a traceback."""
    with suppress(BadInput):
        found = read(words)
        assert len(found.words) == len(found.overrides) <= len(words)
