"""`reproduce` and `results` from Python: the records of the command line, judged the same."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from experiments import BadInput, reproduce, results, run
from experiments.cli import main
from experiments.report.results import FIELDS

Capture = pytest.CaptureFixture[str]
Kept = Callable[[Path], dict[str, Any]]
SELECTED = ("fcml/fig-1.1*", "fcml/ex-1.12")


def test_what_is_called_is_what_is_typed(
    two: tuple[Path, Path], kept: Kept, capsys: Capture
) -> None:
    words = ["reproduce", *SELECTED, "--json", "--jobs", "2", "--outputs", str(two[0])]
    assert main(words) == 0
    told = json.loads(capsys.readouterr().out)
    counts: list[tuple[int, int]] = []
    called = reproduce(*SELECTED, jobs=2, outputs=two[1], progress=lambda *c: counts.append(c))
    assert kept(two[1]) == kept(two[0])
    assert counts[-1] == (len(called.records), len(called.records))
    assert list(called.frame.columns) == list(FIELDS)
    assert len(called) == len(told) == len(called.frame)
    pd.testing.assert_frame_equal(called.frame, pd.DataFrame(told, columns=list(FIELDS)))
    assert called.surprises.empty
    assert called.failed == {}

    found = results(*SELECTED, outputs=two[1])  # and looked up it is the same
    pd.testing.assert_frame_equal(found.frame, called.frame)
    pd.testing.assert_frame_equal(found.scoreboard, called.scoreboard)


def test_the_score_is_counted_from_the_claims(outputs: Path) -> None:
    made = reproduce("fcml/fig-1.15", track=False, jobs=1)
    printed = made.frame[made.frame["origin"] == "printed"]
    assert list(made.scoreboard.index) == ["fcml", "all"]
    score = made.scoreboard.loc["fcml"]
    assert int(score["reproduced"]) == (printed["standing"] == "reproduced").sum()
    assert score["results"] == "1"
    lines = repr(made).splitlines()
    assert lines[0] == f"1 results, {len(made)} claims"
    page = made._repr_html_()
    assert page.count("<table>") == 2
    assert "min(loo_loss[6:8]) &gt; max(loo_loss[1:5])" in page


def test_nothing_is_computed_to_look_up_results(outputs: Path) -> None:
    run("fcml/fig-1.15", track=False, figures=False)
    run("fcml/fig-1.15", orders=[1, 2], seed=3, track=False, figures=False)
    run("ridge_path", track=False, figures=False)
    before = sorted(path for path in outputs.glob("runs/**/*"))
    found = results("fcml/1")
    assert list(found.records) == ["fcml/fig-1.15"]
    assert "fcml/fig-1.1" in found.missing
    assert set(found.frame["experiment"]) == {"fcml/fig-1.15"}
    assert f"{len(found.missing)} not recorded" in repr(found)
    assert len(found.runs) == 1
    assert len(results().runs) == 3
    of_study = results("study:polynomial_order").runs  # with other knobs than the book's too
    assert sorted(of_study["seed"]) == [0, 3]
    assert [1, 2] in list(of_study["orders"])
    assert sorted(path for path in outputs.glob("runs/**/*")) == before


def test_the_runs_of_a_sweep(outputs: Path) -> None:
    from experiments import sweep

    made = sweep("ridge_path", seed=range(3), track=False)
    runs = results(f"sweep:{made.id}").runs
    assert sorted(runs["run"]) == sorted(made.cells["run"])
    assert sorted(runs["seed"]) == [0, 1, 2]


@pytest.mark.usefixtures("misbehaving")
def test_a_surprise_and_a_failure_are_told(outputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from experiments.configuration.build import experiment_job
    from experiments.contract.study import Study

    kind: type[Study] = type(experiment_job("fcml/fig-1.15").study)

    def broken(*_: object) -> None:
        raise ArithmeticError("<b>no</b>")

    monkeypatch.setattr(kind, "run", broken)
    made = reproduce("fcml/fig-1.15", track=False, jobs=1)
    assert made.failed == {"fcml/fig-1.15": "ArithmeticError: <b>no</b>"}
    assert "fcml/fig-1.15 failed: ArithmeticError" in repr(made)
    assert "<b>no</b>" not in made._repr_html_()


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda: reproduce("fcml/fig-1.51"), "selects nothing (did you mean 'fcml/fig-1.5'?)"),
        (lambda: results("study:ridge_pth"), "there is no study 'ridge_pth' (did you mean"),
        (lambda: results("sweep:abc").runs, "there is no sweep 'abc'"),
        (lambda: reproduce("fcml/1", jobs=0), "jobs=0 is not allowed; allowed: int, >= 1"),
        (lambda: reproduce("fcml/1", search="xyzzy"), "--search 'xyzzy' finds nothing"),
        (lambda: reproduce(1), "1 is not a selection; allowed: text such as 'fcml/1'"),
    ],
)
def test_a_slip_is_told_with_what_was_meant(
    call: Callable[[], object], line: str, outputs: Path
) -> None:
    with pytest.raises(BadInput) as told:
        call()
    assert line in str(told.value)
    assert not list(outputs.iterdir())
