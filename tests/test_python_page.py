"""All lines of code of docs/python.md run, in their order."""

import re
import shlex
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from bythebook.experiments.api import claims, runs, sweeps
from bythebook.experiments.cli.main import main

PAGE = (Path(__file__).parents[1] / "docs" / "python.md").read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.usefixtures("tracked")
def test_every_line_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    given: dict[str, Any] = {}
    for language, block in BLOCKS:
        if language == "python":
            exec(compile(block, "docs/python.md", "exec"), given)
            continue
        for line in block.splitlines():
            assert main(shlex.split(line)[1:]) == 0, line
    printed = capsys.readouterr()
    assert "has no knob 'ordrs' (did you mean 'orders'?)" in printed.out
    assert "1 of 2\n2 of 2\n" in printed.out
    assert "10 runs: 0 computed, 10 cached, 0 failed" in printed.out  # the same sweep, typed
    assert (tmp_path / "mine.pdf").exists()
    assert (tmp_path / "mine.ipynb").exists()
    assert list(given["noise"].frame["noise"]) == [0.1, 0.3]
    assert list(given["noise"].frame["runs"]) == [5, 5]
    assert isinstance(given["chapter"].frame, pd.DataFrame)
    assert given["known"].missing
    assert given["loo"].frame("loo_loss")["loo_loss"].idxmin() == 3
    assert "order  1, 2, 3, 4, 5, 6, ... 8  polynomial order" in printed.out
    assert "loo_loss(order: 1): 0.0624318  mean squared error of points left out" in printed.out
    assert round(given["line"]["loo_loss"].item, 6) == 0.062432  # as in exact rational arithmetic


def test_the_table_has_every_setting() -> None:
    stated = {
        name: set(re.findall(r"\w+", of))
        for names, of in re.findall(r"^\| (`.*`) \| (.*?) \|", PAGE, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", names)
    }
    taken = {
        "run": set(runs.run.__kwdefaults__ or ()),
        "sweep": set(sweeps.sweep.__kwdefaults__ or ()),
        "reproduce": set(claims.reproduce.__kwdefaults__ or ()),
        "results": set(claims.results.__kwdefaults__ or ()),
    }
    for call, keywords in taken.items():
        assert {name for name, of in stated.items() if of & {call, "all"}} == keywords, call
