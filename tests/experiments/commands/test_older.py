"""Runs of an older format: told about in a line, and left alone."""

from pathlib import Path

import pytest

from experiments.cli import main
from experiments.records import packed

Capture = pytest.CaptureFixture[str]


def test_runs_of_an_older_format_are_left_alone(outputs: Path, capsys: Capture) -> None:
    old = outputs / "runs" / "fcml" / "fig-1.15" / "0123456789abcdef-1"
    old.mkdir(parents=True)
    (old / "run.json").write_text('{\n"format": 1,\n"id": "0123456789abcdef-1"\n}\n')
    line = f"bythebook: 1 runs of an older format are left alone in {outputs / 'runs'}\n"
    for command in (["reproduce", "--jobs", "1"], ["report"]):
        assert main([*command, "fcml/fig-1.15"]) == 0
        assert capsys.readouterr().err.count(line) == 1
    for command in (["sync"], ["list", "fcml"], ["show", "fcml/fig-1.15"]):
        assert main(command) == 0
    assert (old / "run.json").exists()


@pytest.mark.usefixtures("misbehaving")
def test_a_damaged_pack_is_told_of_and_the_rest_of_it_read(outputs: Path, capsys: Capture) -> None:
    sweep = ["run", "-m", "study=misbehaving", "study.level=range(0,6)", "tracking=off"]
    assert main(sweep) == 0
    (pack,) = outputs.rglob("*.pack")
    content = pack.read_bytes()
    pack.write_bytes(content[:30] + b"\0" * 8 + content[38:] + content)
    packed.at.cache_clear()
    capsys.readouterr()
    for command in (["runs", "--csv"], ["sync"], sweep):
        assert main(command) == 0
        told = capsys.readouterr()
        assert told.err.count("is damaged") == 1
        if command[0] == "runs":
            assert len(told.out.splitlines()) == 7  # the head, and six runs
    assert "6 cells: 0 computed, 6 found, 0 failed" in told.out
