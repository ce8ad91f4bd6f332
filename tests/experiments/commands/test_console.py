"""Words for the terminal: as they stand, a row a line."""

from typing import Any

import pytest
from rich.table import Table

from experiments.commands import console
from experiments.contract.verdicts import VERDICTS

Capture = pytest.CaptureFixture[str]
CLAIM: dict[str, Any] = {
    "says": "a best order",
    "expression": "argmin(loss[1:8])",
    "printed": "3",
    "computed": "3",
    "evidence": "",
    "verdict": "reproduced",
    "standing": "reproduced",
    "weak": False,
    "expected": "reproduced",
    "as_expected": True,
    "origin": "printed",
}


def test_what_a_user_typed_is_not_markup(capsys: Capture) -> None:
    """Brackets are everywhere in overrides: [red] is a list, and [/] would be an error."""
    console.tell("study.orders=[red] [/] [bold]x[/bold] :x:")
    console.plain("[1,2] [/] :x:\n")
    told = capsys.readouterr()
    assert told.err == "bythebook: study.orders=[red] [/] [bold]x[/bold] :x:\n"
    assert told.out == "[1,2] [/] :x:\n"


def test_a_long_line_stays_one(capsys: Capture) -> None:
    words = "word " * 200
    console.tell(words)
    assert capsys.readouterr().err.count("\n") == 1


def test_a_row_is_a_line(capsys: Capture) -> None:
    console.table(["name", "meaning"], [["a", "x" * 200], ["b", 7]])
    head, first, second = capsys.readouterr().out.splitlines()
    assert head.split() == ["name", "meaning"]
    assert first.split() == ["a", "x" * 200]
    assert second.split() == ["b", "7"]


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [["", ""], ["a", "word"], ["longer than its head", "b "]],
        [["[red]a[/red]", "[dim](weak)[/dim]"], [r"x\[1]", "a: b :smile: [bold]c[/bold]"]],
        [["\u6f22\u5b57", "wide"], ["e\u0301", "accent"], ["naïve", "Å"]],
        [["two\nlines", "b"], ["a", "b"]],
        [["tab\tbed", "b"]],
        [["a", "word " * 120], ["b", "c"]],
        [["a", "x" * console.PIPED]],
        [["a", "x" * (console.PIPED - 4 - console.GAP)], ["abcd", ""]],
        [["a", "x" * (console.PIPED - 3 - console.GAP)], ["abcd", ""]],
        [["a"], ["b", "c"]],
    ],
)
def test_a_pipe_gets_what_rich_would_lay_out(rows: list[list[str]], capsys: Capture) -> None:
    view = Table("name", "x", box=None, pad_edge=False)
    for row in rows:
        view.add_row(*row)
    console.out.print(view)
    wanted = capsys.readouterr().out
    console.table(["name", "x"], rows)
    assert capsys.readouterr().out == wanted


@pytest.mark.parametrize("verdict", [*VERDICTS, "failed"])
def test_every_verdict_has_its_colour(verdict: str) -> None:
    others = {console.coloured(other).partition("]")[0] for other in VERDICTS if other != verdict}
    assert console.coloured(verdict).partition("]")[0] not in {*others, "[default"}


def test_claims_tell_surprises_and_checks_of_our_own(capsys: Capture) -> None:
    surprise = {**CLAIM, "as_expected": False, "standing": "differs", "evidence": "4 > 3"}
    console.claims_table([CLAIM, surprise, {**CLAIM, "origin": "derived"}])
    _, plain, other, own = capsys.readouterr().out.splitlines()
    assert "expected" not in plain
    assert "argmin(loss[1:8])" in plain
    assert other.endswith("differs (expected reproduced)")
    assert "4 > 3" in other
    assert own.startswith("a best order (derived)")
