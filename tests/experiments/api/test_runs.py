"""`run`: the same record and MLflow run as from the command line, and the object `Run`."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bythebook import InputError, run
from bythebook.experiments.cli.main import main
from bythebook.experiments.config.validation import load_job
from bythebook.experiments.plotting import registry
from bythebook.experiments.store.run_store import RunStore

ReadAll = Callable[[Path], dict[str, Any]]


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
def test_the_call_and_the_command_line_give_the_same_run(
    typed: list[str],
    what: str,
    knobs: dict[str, Any],
    folders: tuple[Path, Path],
    read_all: ReadAll,
) -> None:
    assert main(["run", *typed, "--outputs", str(folders[0])]) == 0
    called = run(what, outputs=folders[1], **knobs)
    from_command, from_call = map(read_all, folders)
    assert len(from_call["records"]) == len(from_call["mlflow"]) == 1
    assert from_call == from_command
    (record,) = from_call["records"].values()
    assert (called.id, called.key, called.computed) == (record["id"], record["key"], True)
    assert not run(what, outputs=folders[1], **knobs).computed
    assert read_all(folders[1]) == from_command
    assert run(what, outputs=folders[1], force=True, **knobs).id == f"{called.key}-2"


def test_the_attributes_of_a_run(outputs: Path) -> None:
    made = run("fcml/fig-1.15", tracking="off", figures=False)
    assert made.knobs["orders"] == list(range(1, 9))
    assert made.seed == 0
    assert made.error is None
    assert list(made.frame("loo_loss").index) == list(range(1, 9))
    assert made.frame("loo_loss")["loo_loss"].idxmin() == 3  # the printed result
    assert set(made.frame()["quantity"]) == set(made.outcome)
    assert made.metrics == RunStore(outputs).find(made.id).metrics
    assert list(made.claims["claim"]) == [verdict["says"] for verdict in made.verdicts]
    assert set(made.claims["experiment"]) == {"fcml/fig-1.15"}
    assert not (made.record.folder / "figures").exists()
    assert not (outputs / "mlflow.db").exists()
    with pytest.raises(InputError, match=r"no quantity 'loo_los' \(did you mean 'loo_loss'\?\)"):
        made.frame("loo_los")


def test_figures_can_be_changed(outputs: Path, tmp_path: Path) -> None:
    made = run("fcml/fig-1.15", tracking="off", figures=False)
    drawn = made.figures(style="print")
    assert list(drawn) == ["losses"]
    ax = drawn["losses"].axes[0]
    assert list(ax.lines[0].get_xdata()) == list(range(1, 9))
    ax.set_title("mine")
    drawn["losses"].savefig(tmp_path / "mine.pdf")
    with pytest.raises(InputError, match="style 'neon' is unknown"):
        made.figures(style="neon")


def test_the_text_and_the_page_of_a_run(outputs: Path) -> None:
    made = run("fcml/fig-1.15", tracking="off")
    assert repr(made).startswith(f"fcml/fig-1.15: run {made.id}, computed in ")
    claims = load_job("fcml/fig-1.15").claims
    origins = [claim.origin for claim in claims if claim.equation is None]
    printed, derived = origins.count("printed"), origins.count("derived")
    assert f"\nPrinted claims: {printed} reproduced\n" in repr(made)
    assert f"\nDerived checks: {derived} of {derived} hold\n" in repr(made)
    assert str(len(origins)) not in repr(made).split()  # they are not added up
    assert "quantities: targets, fitted, training_loss, loo_loss" in repr(made)
    page = made._repr_html_()
    assert page.count("<img") == page.count("data:image/png;base64,") == 1
    assert "alt='losses'" in page
    assert "min(loo_loss[6:8]) &gt; max(loo_loss[1:5])" in page
    assert "0.07819 &gt; 0.06412" in page

    other = run("fcml/fig-1.15", orders=[1, 2, 3], tracking="off", figures=False)
    assert "settings differ from the published ones" in repr(other)
    assert "settings differ from the published ones" in other._repr_html_()
    assert "<img" in other._repr_html_()  # drawn on demand
    alone = run("ridge_path", tracking="off", figures=False)
    assert "claims" not in repr(alone)
    assert "<th" in alone._repr_html_()


def test_a_figure_that_cannot_be_drawn_is_a_warning(
    outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("no room")

    monkeypatch.setattr(registry, "figures", broken)
    with pytest.warns(
        RuntimeWarning, match="could not draw the figures: ZeroDivisionError: no room"
    ):
        made = run("fcml/fig-1.15", tracking="off")
    with pytest.warns(RuntimeWarning, match="could not draw"):
        page = made._repr_html_()
    assert "<img" not in page
    assert "reproduced" in page


@pytest.mark.usefixtures("misbehaving")
def test_a_failed_run_has_an_error_and_no_numbers(outputs: Path) -> None:
    made = run("misbehaving", way="raise", tracking="off")
    assert made.error is not None
    assert made.error in repr(made)
    page = made._repr_html_()
    assert "failed" in page
    assert "<b>cannot</b>" not in page  # the message of the study is escaped
    for access in (lambda: made.outcome, made.frame, made.figures, lambda: made.metrics):
        with pytest.raises(RuntimeError, match="the run failed: "):
            access()
    assert made.verdicts == []
    assert made.claims.empty


@pytest.mark.parametrize(
    ("knobs", "line"),
    [
        ({"seed": range(3)}, "seed=[0,1,2] has several values; use sweep() to sweep"),
        ({"orders": [[1], [2]]}, "orders=[[1],[2]] has several values"),
        ({"orders": ["a"]}, 'study.orders=["a"]: a is not allowed; allowed: list[int]'),
        ({"seed": -1}, "seed=-1 is not allowed; allowed: int, >= 0"),
        ({"data": "nope"}, "study.data=nope"),
        ({"data": "${oc.env:HOME}"}, "interpolation (${...}) is not allowed"),
        ({"tags": {"a b": 1}}, "--tag a b=1: invalid tag; allowed: NAME=VALUE"),
        ({"tracking": "cloud"}, "tracking='cloud' is not allowed"),
    ],
)
def test_invalid_arguments_are_rejected_in_one_line(
    knobs: dict[str, Any], line: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as error:
        run("fcml/fig-1.15", outputs=tmp_path / "out", **knobs)
    assert line in str(error.value)
    assert "\n" not in str(error.value)
    assert not list(tmp_path.glob("out/runs"))


def test_a_knob_with_the_name_of_a_keyword(outputs: Path) -> None:
    made = run("state_space_em", **{"study.outputs": 2}, **SMALL)
    assert made.knobs["outputs"] == 2
    with pytest.raises(InputError, match=r"outputs=2 is not a folder; .*'study.outputs'"):
        run("state_space_em", outputs=2, **SMALL)


SMALL: dict[str, Any] = {
    "steps": 20,
    "lags": 2,
    "repetitions": 2,
    "random_starts": 2,
    "iterations": 3,
    "tracking": "off",
    "figures": False,
}


def test_run_works_inside_a_running_event_loop(outputs: Path) -> None:
    async def cell() -> str:
        return run("fcml/fig-1.15", tracking="off", figures=False).id

    with ThreadPoolExecutor(1) as thread:  # the main thread may have a loop of a browser test
        run_id = thread.submit(lambda: asyncio.run(cell())).result()
    assert run_id == run("fcml/fig-1.15", tracking="off", figures=False).id
