"""Runs in an older format and corrupt packs: reported in one line and not changed."""

from pathlib import Path

import pytest

from bythebook.experiments.cli.main import main
from bythebook.experiments.store import packed

Capture = pytest.CaptureFixture[str]


def test_runs_in_an_older_format_are_not_changed(outputs: Path, capsys: Capture) -> None:
    old = outputs / "runs" / "fcml" / "fig-1.15" / "0123456789abcdef-1"
    old.mkdir(parents=True)
    (old / "run.json").write_text('{\n"format": 1,\n"id": "0123456789abcdef-1"\n}\n')
    folder = outputs / "runs"
    line = f"bythebook: ignored 1 runs in an older format in {folder}; the files are unchanged\n"
    for command in (["reproduce", "--jobs", "1"], ["report"]):
        assert main([*command, "fcml/fig-1.15"]) == 0
        assert capsys.readouterr().err.count(line) == 1
    for command in (["sync"], ["list", "fcml"], ["show", "fcml/fig-1.15"]):
        assert main(command) == 0
    assert (old / "run.json").exists()


@pytest.mark.usefixtures("misbehaving")
def test_a_corrupt_pack_is_reported_and_its_valid_runs_are_read(
    outputs: Path, capsys: Capture
) -> None:
    sweep = ["run", "-m", "study=misbehaving", "study.level=range(0,6)", "tracking=off"]
    assert main(sweep) == 0
    (pack,) = outputs.rglob("*.pack")
    content = pack.read_bytes()
    pack.write_bytes(content[:30] + b"\0" * 8 + content[38:] + content)
    packed.at.cache_clear()
    capsys.readouterr()
    for command in (["runs", "--csv"], ["sync"], sweep):
        assert main(command) == 0
        captured = capsys.readouterr()
        assert captured.err.count("is damaged") == 1
        if command[0] == "runs":
            assert len(captured.out.splitlines()) == 7  # the head and six runs
    assert "6 runs: 0 computed, 6 cached, 0 failed" in captured.out
