"""`run` from Python: the same record, key and MLflow run as typed, and an object that shows it."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments import BadInput, run
from experiments.cli import main
from experiments.configuration.build import experiment_job
from experiments.drawing import registry
from experiments.records.store import RunStore

Kept = Callable[[Path], dict[str, Any]]


@pytest.mark.parametrize(
    ("typed", "what", "knobs"),
    [
        (["fcml/fig-1.15"], "fcml/fig-1.15", {}),
        (
            ["fcml/fig-1.15", "study.orders=[1,2,3]", "seed=4", "--tag", "paper=3"],
            "fcml/fig-1.15",
            {
                "orders": np.array([1, 2, 3]),
                "seed": 4,
                "tags": {"paper": 3},
            },
        ),
        (["study=ridge_path", "study.lambdas=[0,1]"], "ridge_path", {"lambdas": [0, 1]}),
    ],
)
def test_a_run_that_is_called_is_the_run_that_is_typed(
    typed: list[str], what: str, knobs: dict[str, Any], two: tuple[Path, Path], kept: Kept
) -> None:
    assert main(["run", *typed, "--outputs", str(two[0])]) == 0
    called = run(what, outputs=two[1], **knobs)
    theirs, ours = map(kept, two)
    assert len(ours["records"]) == len(ours["mlflow"]) == 1
    assert ours == theirs
    (record,) = ours["records"].values()
    assert (called.id, called.key, called.computed) == (record["id"], record["key"], True)
    assert not run(what, outputs=two[1], **knobs).computed
    assert kept(two[1]) == theirs
    assert run(what, outputs=two[1], fresh=True, **knobs).id == f"{called.key}-2"


def test_what_a_run_holds(outputs: Path) -> None:
    made = run("fcml/fig-1.15", track=False, figures=False)
    assert made.knobs["orders"] == list(range(1, 9))
    assert made.seed == 0
    assert made.error is None
    assert list(made.frame("loo_loss").index) == list(range(1, 9))
    assert made.frame("loo_loss")["loo_loss"].idxmin() == 3  # the book's own finding
    assert set(made.frame()["quantity"]) == set(made.outcome)
    assert made.metrics == RunStore(outputs).find(made.id).metrics
    assert list(made.claims["claim"]) == [verdict["says"] for verdict in made.verdicts]
    assert set(made.claims["experiment"]) == {"fcml/fig-1.15"}
    assert not (made.record.folder / "figures").exists()
    assert not (outputs / "mlflow.db").exists()
    with pytest.raises(BadInput, match=r"no quantity 'loo_los' \(did you mean 'loo_loss'\?\)"):
        made.frame("loo_los")


def test_figures_are_drawn_for_you_to_change(outputs: Path, tmp_path: Path) -> None:
    made = run("fcml/fig-1.15", track=False, figures=False)
    drawn = made.figures(style="print")
    assert list(drawn) == ["loo", "holdout"]
    (ax,) = drawn["loo"].axes
    assert list(ax.lines[0].get_xdata()) == list(range(1, 9))
    ax.set_title("mine")
    drawn["loo"].savefig(tmp_path / "mine.pdf")
    with pytest.raises(BadInput, match="style 'neon' is unknown"):
        made.figures(style="neon")


def test_how_a_run_is_shown(outputs: Path) -> None:
    made = run("fcml/fig-1.15", track=False)
    assert repr(made).startswith(f"fcml/fig-1.15: run {made.id}, computed in ")
    claims = len(experiment_job("fcml/fig-1.15").claims)
    assert f"{claims} claims: {claims} reproduced" in repr(made)
    assert "quantities: inputs, targets, held_out_error, loo_loss" in repr(made)
    page = made._repr_html_()
    assert page.count("<img") == page.count("data:image/png;base64,") == 2
    assert page.index("alt='loo'") < page.index("alt='holdout'")  # the headline first
    assert "min(loo_loss[6:8]) &gt; max(loo_loss[1:5])" in page
    assert "0.07819 &gt; 0.06412" in page

    other = run("fcml/fig-1.15", orders=[1, 2, 3], track=False, figures=False)
    assert "settings differ from the book's" in repr(other)
    assert "settings differ from the book" in other._repr_html_()
    assert "<img" in other._repr_html_()  # drawn when somebody looks
    alone = run("ridge_path", track=False, figures=False)
    assert "claims" not in repr(alone)
    assert "<th" in alone._repr_html_()


def test_a_figure_that_cannot_be_drawn_is_a_warning(
    outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("no room")

    monkeypatch.setattr(registry, "figures", broken)
    with pytest.warns(RuntimeWarning, match="cannot be drawn: ZeroDivisionError: no room"):
        made = run("fcml/fig-1.15", track=False)
    with pytest.warns(RuntimeWarning, match="cannot be drawn"):
        page = made._repr_html_()
    assert "<img" not in page
    assert "reproduced" in page


@pytest.mark.usefixtures("misbehaving")
def test_a_run_that_fails_says_so_and_has_no_numbers(outputs: Path) -> None:
    made = run("misbehaving", way="raise", track=False)
    assert made.error is not None
    assert made.error in repr(made)
    page = made._repr_html_()
    assert "failed" in page
    assert "<b>cannot</b>" not in page  # the study's own words are text
    for look in (lambda: made.outcome, made.frame, made.figures, lambda: made.metrics):
        with pytest.raises(RuntimeError, match="the run failed: "):
            look()
    assert made.verdicts == []
    assert made.claims.empty


@pytest.mark.parametrize(
    ("knobs", "line"),
    [
        ({"seed": range(3)}, "seed=[0,1,2] has several values: sweep() sweeps over them"),
        ({"orders": [[1], [2]]}, "orders=[[1],[2]] has several values"),
        ({"orders": ["a"]}, 'study.orders=["a"]: a is not allowed; allowed: list[int]'),
        ({"seed": -1}, "seed=-1 is not allowed; allowed: int, >= 0"),
        ({"data": "nope"}, "study.data=nope"),
        ({"data": "${oc.env:HOME}"}, "calls a resolver"),
        ({"tags": {"a b": 1}}, "--tag a b=1: allowed: NAME=VALUE"),
        ({"track": "cloud"}, "track='cloud' is not allowed"),
    ],
)
def test_what_is_wrong_is_one_line_and_leaves_nothing(
    knobs: dict[str, Any], line: str, tmp_path: Path
) -> None:
    with pytest.raises(BadInput) as told:
        run("fcml/fig-1.15", outputs=tmp_path / "out", **knobs)
    assert line in str(told.value)
    assert "\n" not in str(told.value)
    assert not list(tmp_path.glob("out/runs"))


def test_a_knob_that_is_called_like_a_setting(outputs: Path) -> None:
    made = run("state_space_em", **{"study.outputs": 2}, **SMALL)
    assert made.knobs["outputs"] == 2
    with pytest.raises(BadInput, match=r"outputs=2 is not a folder; .*'study.outputs'"):
        run("state_space_em", outputs=2, **SMALL)


SMALL: dict[str, Any] = {
    "steps": 20,
    "lags": 2,
    "repetitions": 2,
    "random_starts": 2,
    "iterations": 3,
    "track": False,
    "figures": False,
}


def test_it_works_where_an_event_loop_is_running(outputs: Path) -> None:
    async def cell() -> str:
        return run("fcml/fig-1.15", track=False, figures=False).id

    with ThreadPoolExecutor(1) as thread:  # this one's thread may have a loop of a browser's
        answer = thread.submit(lambda: asyncio.run(cell())).result()
    assert answer == run("fcml/fig-1.15", track=False, figures=False).id
