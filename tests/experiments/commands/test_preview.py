"""`bythebook run --dry-run`: what would run and why; nothing is."""

from pathlib import Path

import pytest

from experiments.cli import main
from experiments.commands import preview
from experiments.records import seal

pytestmark = pytest.mark.usefixtures("misbehaving")
Capture = pytest.CaptureFixture[str]
ONE = ["run", "study=misbehaving", "tracking=off", "figures=false"]


def foretold(capsys: Capture, *words: str) -> list[str]:
    """The lines that a dry run prints below its table's head."""
    capsys.readouterr()
    assert main([*ONE, "--dry-run", *words]) == 0
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()[1:]]


def test_a_dry_run_writes_nothing_and_knows_what_is_done(outputs: Path, capsys: Capture) -> None:
    row, total, _ = foretold(capsys)
    assert row.split()[2:] == ["to", "run"]
    assert total == "1 cells, 0 done, 1 to run"
    assert not list(outputs.iterdir())
    assert main(ONE) == 0
    (folder,) = (outputs / "runs" / "study" / "misbehaving").glob("[!.]*")
    row, total = foretold(capsys)
    assert row.split()[1:] == [folder.name.removesuffix("-1"), "done"]
    assert total == "1 cells, 1 done, 0 to run"


@pytest.mark.parametrize(
    ("field", "reason"),
    [("code", "the code has changed"), ("data", "the data have changed")],
)
def test_a_run_of_other_code_or_data_runs_again(
    outputs: Path, capsys: Capture, field: str, reason: str
) -> None:
    """As an older checkout or another file would have recorded it."""
    assert main(ONE) == 0
    (path,) = outputs.rglob("run.json")
    record = seal.opened(path.read_bytes())
    other = {"sha256": "feed", "grade": "book", "origin": "elsewhere"}
    record["provenance"][field] = "feed" if field == "code" else {"x": other}
    record["id"] = "feedfeedfeedfeed-1"  # its key was another
    path.write_text(seal.sealed(record))
    path.parent.rename(path.parent.with_name(record["id"]))
    assert f"to run again: {reason}" in foretold(capsys)[0]


def test_what_failed_and_what_is_forced_runs_again(outputs: Path, capsys: Capture) -> None:
    assert main([*ONE, "study.way=raise"]) == 1
    assert "to run again: it failed (ArithmeticError)" in foretold(capsys, "study.way=raise")[0]
    assert main(ONE) == 0
    assert "to run again: fresh=true" in foretold(capsys, "fresh=true")[0]


def test_a_long_plan_is_cut_and_counted(outputs: Path, capsys: Capture) -> None:
    assert main([*ONE, "study.level=3"]) == 0
    cells = preview.SHOWN + 5
    *rows, more, total, left = foretold(capsys, "-m", f"study.level=range(0,{cells})")
    assert len(rows) == preview.SHOWN
    assert [row.split()[0] for row in rows if row.endswith("done")] == ["level=3"]
    assert (more, total) == ("... and 5 more", f"{cells} cells, 1 done, {cells - 1} to run")
    assert left == f"  {cells - 1} to run"
