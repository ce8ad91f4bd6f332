"""`bythebook run --dry-run`: cached runs and runs to compute; nothing is run."""

from pathlib import Path

import pytest

from bythebook.experiments.cli import dry_run
from bythebook.experiments.cli.main import main
from bythebook.experiments.store import run_json

pytestmark = pytest.mark.usefixtures("misbehaving")
Capture = pytest.CaptureFixture[str]
ONE = ["run", "study=misbehaving", "tracking=off", "figures=false"]


def dry_run_lines(capsys: Capture, *words: str) -> list[str]:
    """The lines of a dry run below the head of its table."""
    capsys.readouterr()
    assert main([*ONE, "--dry-run", *words]) == 0
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()[1:]]


def test_a_dry_run_writes_nothing_and_finds_cached_runs(outputs: Path, capsys: Capture) -> None:
    row, total, _ = dry_run_lines(capsys)
    assert row.split()[2:] == ["to", "compute"]
    assert total == "1 runs: 0 cached, 1 to compute"
    assert not list(outputs.iterdir())
    assert main(ONE) == 0
    (folder,) = (outputs / "runs" / "study" / "misbehaving").glob("[!.]*")
    row, total = dry_run_lines(capsys)
    assert row.split()[1:] == [folder.name.removesuffix("-1"), "cached"]
    assert total == "1 runs: 1 cached, 0 to compute"


@pytest.mark.parametrize(
    ("field", "reason"),
    [("code", "the code has changed"), ("data", "the data have changed")],
)
def test_a_run_with_other_code_or_data_is_computed_again(
    outputs: Path, capsys: Capture, field: str, reason: str
) -> None:
    """As recorded with an older version or another file."""
    assert main(ONE) == 0
    (path,) = outputs.rglob("run.json")
    record = run_json.verify_and_parse(path.read_bytes())
    other = {"sha256": "feed", "grade": "book", "origin": "another"}
    record["provenance"][field] = "feed" if field == "code" else {"x": other}
    record["id"] = "feedfeedfeedfeed-1"  # the key of the other code
    path.write_text(run_json.add_checksum(record))
    path.parent.rename(path.parent.with_name(record["id"]))
    assert f"to compute: {reason}" in dry_run_lines(capsys)[0]


def test_failed_and_forced_runs_are_computed_again(outputs: Path, capsys: Capture) -> None:
    assert main([*ONE, "study.way=raise"]) == 1
    assert (
        "to compute: the recorded run failed (ArithmeticError)"
        in dry_run_lines(capsys, "study.way=raise")[0]
    )
    assert main(ONE) == 0
    assert "to compute: force=true" in dry_run_lines(capsys, "force=true")[0]


def test_a_long_table_is_shortened(outputs: Path, capsys: Capture) -> None:
    assert main([*ONE, "study.level=3"]) == 0
    n_runs = dry_run.MAX_ROWS + 5
    *rows, more, total, left = dry_run_lines(capsys, "-m", f"study.level=range(0,{n_runs})")
    assert len(rows) == dry_run.MAX_ROWS
    assert [row.split()[0] for row in rows if row.endswith("cached")] == ["level=3"]
    assert (more, total) == ("... and 5 more", f"{n_runs} runs: 1 cached, {n_runs - 1} to compute")
    assert left == f"  {n_runs - 1} to compute"
