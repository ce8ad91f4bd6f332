"""`reproduce` and `results`: the same records and verdicts as from the command line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from bythebook import InputError, reproduce, results, run
from bythebook.experiments.cli.main import main
from bythebook.experiments.report.export import FIELD_DOCS

Capture = pytest.CaptureFixture[str]
ReadAll = Callable[[Path], dict[str, Any]]
SELECTED = ("fcml/fig-1.1*", "fcml/ex-1.12")


def test_the_call_and_the_command_line_give_the_same(
    folders: tuple[Path, Path], read_all: ReadAll, capsys: Capture
) -> None:
    words = ["reproduce", *SELECTED, "--json", "--jobs", "2", "--outputs", str(folders[0])]
    assert main(words) == 0
    records = json.loads(capsys.readouterr().out)
    counts: list[tuple[int, int]] = []
    called = reproduce(*SELECTED, jobs=2, outputs=folders[1], progress=lambda *c: counts.append(c))
    assert read_all(folders[1]) == read_all(folders[0])
    assert counts[-1] == (len(called.records), len(called.records))
    assert list(called.frame.columns) == list(FIELD_DOCS)
    assert len(called) == len(records) == len(called.frame)
    pd.testing.assert_frame_equal(called.frame, pd.DataFrame(records, columns=list(FIELD_DOCS)))
    assert called.unexpected.empty
    assert called.failed == {}

    found = results(*SELECTED, outputs=folders[1])  # reads the same from the records
    pd.testing.assert_frame_equal(found.frame, called.frame)
    pd.testing.assert_frame_equal(found.scoreboard, called.scoreboard)


def test_the_scoreboard_counts_the_claims(outputs: Path) -> None:
    made = reproduce("fcml/fig-1.15", tracking="off", jobs=1)
    printed = made.frame[made.frame["origin"] == "printed"]
    assert list(made.scoreboard.index) == ["fcml", "all"]
    score = made.scoreboard.loc["fcml"]
    assert int(score["reproduced"]) == (printed["standing"] == "reproduced").sum()
    assert score["results"] == "1"
    lines = repr(made).splitlines()
    assert lines[0] == "1 results"
    page = made._repr_html_()
    assert page.count("<table>") == 1
    derived = len(made) - len(printed)
    claims = (printed["kind"] != "equation").sum()
    for title in (f"Printed claims: {claims}", f"Derived checks: {derived}"):
        assert f"<details><summary>{title}</summary>" in page
    assert "min(loo_loss[6:8]) &gt; max(loo_loss[1:5])" in page


def test_results_computes_nothing(outputs: Path) -> None:
    run("fcml/fig-1.15", tracking="off", figures=False)
    run("fcml/fig-1.15", orders=[1, 2], seed=3, tracking="off", figures=False)
    run("ridge_path", tracking="off", figures=False)
    before = sorted(path for path in outputs.glob("runs/**/*"))
    found = results("fcml/1")
    assert list(found.records) == ["fcml/fig-1.15"]
    assert "fcml/fig-1.1" in found.missing
    assert set(found.frame["experiment"]) == {"fcml/fig-1.15"}
    assert f"{len(found.missing)} not recorded" in repr(found)
    assert len(found.runs) == 1
    assert len(results().runs) == 3
    of_study = results("study:polynomial_order").runs  # also with other knobs
    assert sorted(of_study["seed"]) == [0, 3]
    assert [1, 2] in list(of_study["orders"])
    assert sorted(path for path in outputs.glob("runs/**/*")) == before


def test_the_runs_of_a_sweep(outputs: Path) -> None:
    from bythebook import sweep

    made = sweep("ridge_path", seed=range(3), tracking="off")
    runs = results(f"sweep:{made.id}").runs
    assert sorted(runs["run"]) == sorted(made.cells["run"])
    assert sorted(runs["seed"]) == [0, 1, 2]


@pytest.mark.usefixtures("misbehaving")
def test_a_failed_run_is_reported(outputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bythebook.experiments.config.validation import load_job
    from bythebook.experiments.core.study import Study

    kind: type[Study] = type(load_job("fcml/fig-1.15").study)

    def broken(*_: object) -> None:
        raise ArithmeticError("<b>no</b>")

    monkeypatch.setattr(kind, "run", broken)
    made = reproduce("fcml/fig-1.15", tracking="off", jobs=1)
    assert made.failed == {"fcml/fig-1.15": "ArithmeticError: <b>no</b>"}
    assert "fcml/fig-1.15 failed: ArithmeticError" in repr(made)
    assert "<b>no</b>" not in made._repr_html_()


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda: reproduce("fcml/fig-1.51"), "matches no result (did you mean 'fcml/fig-1.5'?)"),
        (lambda: results("study:ridge_pth"), "there is no study 'ridge_pth' (did you mean"),
        (lambda: results("sweep:abc").runs, "there is no sweep 'abc'"),
        (lambda: reproduce("fcml/1", jobs=0), "jobs=0 is not allowed; allowed: int, >= 1"),
        (lambda: reproduce("fcml/1", search="xyzzy"), "--search 'xyzzy': no result"),
        (lambda: reproduce(1), "1 is not a selection; allowed: text such as 'fcml/1'"),
    ],
)
def test_invalid_arguments_are_rejected_in_one_line(
    call: Callable[[], object], line: str, outputs: Path
) -> None:
    with pytest.raises(InputError) as error:
        call()
    assert line in str(error.value)
    assert not list(outputs.iterdir())
