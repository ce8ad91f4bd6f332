"""`bythebook diff`: the differences between two runs, and nothing else."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bythebook.experiments.cli import run
from bythebook.experiments.cli.diff import quantities, settings, verdicts
from bythebook.experiments.cli.main import main
from bythebook.experiments.store.record import Record
from bythebook.experiments.store.run_store import RunStore

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def other(outputs: Path, recorded: Record, capsys: Capture) -> Record:
    """The same result with fewer orders."""
    words = ["fcml/fig-1.15", "study.orders=[1,2,3]", "tracking=off", "figures=false"]
    assert run.main(words) == 0
    capsys.readouterr()
    (found,) = [f for f in RunStore(outputs).folders() if f.name != recorded.id]
    return RunStore(outputs).find(found.name)


def test_a_run_does_not_differ_from_itself(recorded: Record, capsys: Capture) -> None:
    assert main(["diff", recorded.id, "fcml/fig-1.15"]) == 0
    assert "are identical" in capsys.readouterr().out


def test_knobs_quantities_and_verdicts(recorded: Record, other: Record, capsys: Capture) -> None:
    changed = {row[0]: row[1:] for row in settings(recorded, other)}
    assert changed == {"orders": ["[1, 2, 3, 4, 5, 6, 7, 8]", "[1, 2, 3]"]}
    arrays = {row[0] for row in quantities(recorded, other)}
    assert {"loo_loss", "axis order"} <= arrays
    assert "inputs" not in arrays
    assert any("missing" in row for row in verdicts(recorded, other))
    assert main(["diff", recorded.id[:8], other.id[:8], "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["first"], found["second"]) == (recorded.id, other.id)
    assert [entry["what"] for entry in found["settings"]] == ["orders"]
    assert main(["diff", recorded.id, other.id]) == 0
    assert "orders" in capsys.readouterr().out


def test_a_reworded_claim_is_no_difference(recorded: Record) -> None:
    first, *others = recorded.published.claims
    reworded = Record(recorded.folder, recorded.content, recorded.arrays)
    claims = (replace(first, says="the same in other words"), *others)
    reworded.published = replace(recorded.published, claims=claims)  # type: ignore[misc]
    assert verdicts(recorded, reworded) == []
    other = replace(first, value=None, printed=None, holds="1 > 0")
    changed = Record(recorded.folder, recorded.content, recorded.arrays)
    changed.published = replace(recorded.published, claims=(other, *others))  # type: ignore[misc]
    before, after = verdicts(recorded, changed)
    assert (before[0], before[2]) == (first.says, "missing")
    assert (after[0], after[1]) == (first.says, "missing")


def test_bad_input_is_one_line(recorded: Record, refused: Callable[..., str]) -> None:
    assert "no run id begins with 'ffff'" in refused("diff", recorded.id, "ffff")
    assert "has no recorded run" in refused("diff", "fcml/fig-1.1", recorded.id)
