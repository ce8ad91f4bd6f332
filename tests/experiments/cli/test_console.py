"""Lines and tables in the terminal: no markup in user input, one line per row."""

from typing import Any

import pytest
from rich.table import Table

from bythebook.experiments.cli import console
from bythebook.experiments.core.verdicts import VERDICTS

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


def test_user_input_is_not_read_as_markup(capsys: Capture) -> None:
    """Overrides contain brackets: [red] is a list, and [/] is an error in markup."""
    console.notify("study.orders=[red] [/] [bold]x[/bold] :x:")
    console.print_text("[1,2] [/] :x:\n")
    captured = capsys.readouterr()
    assert captured.err == "bythebook: study.orders=[red] [/] [bold]x[/bold] :x:\n"
    assert captured.out == "[1,2] [/] :x:\n"


def test_a_long_line_is_not_wrapped(capsys: Capture) -> None:
    words = "word " * 200
    console.notify(words)
    assert capsys.readouterr().err.count("\n") == 1


def test_a_row_is_one_line(capsys: Capture) -> None:
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
        [["a", "x" * console.PIPE_WIDTH]],
        [["a", "x" * (console.PIPE_WIDTH - 4 - console.COLUMN_GAP)], ["abcd", ""]],
        [["a", "x" * (console.PIPE_WIDTH - 3 - console.COLUMN_GAP)], ["abcd", ""]],
        [["a"], ["b", "c"]],
    ],
)
def test_a_table_in_a_pipe_equals_the_layout_of_rich(
    rows: list[list[str]], capsys: Capture
) -> None:
    view = Table("name", "x", box=None, pad_edge=False)
    for row in rows:
        view.add_row(*row)
    console.out.print(view)
    expected = capsys.readouterr().out
    console.table(["name", "x"], rows)
    assert capsys.readouterr().out == expected


@pytest.mark.parametrize("verdict", [*VERDICTS, "failed"])
def test_every_verdict_has_a_colour_of_its_own(verdict: str) -> None:
    others = {
        console.colour_verdict(other).partition("]")[0] for other in VERDICTS if other != verdict
    }
    assert console.colour_verdict(verdict).partition("]")[0] not in {*others, "[default"}


def test_the_table_of_claims_marks_unexpected_verdicts_and_derived_checks(capsys: Capture) -> None:
    unexpected = {**CLAIM, "as_expected": False, "standing": "differs", "evidence": "4 > 3"}
    console.claims_table([CLAIM, unexpected, {**CLAIM, "origin": "derived"}])
    _, plain, other, derived = capsys.readouterr().out.splitlines()
    assert "expected" not in plain
    assert "argmin(loss[1:8])" in plain
    assert other.endswith("differs (expected reproduced)")
    assert "4 > 3" in other
    assert derived.startswith("a best order (derived)")


def test_the_table_of_claims_shows_the_agreement_over_seeds(capsys: Capture) -> None:
    console.claims_table([CLAIM, CLAIM], ["19 of 20 seeds", ""])
    head, first, second = capsys.readouterr().out.splitlines()
    assert head.rstrip().endswith("agreement over seeds")
    assert first.rstrip().endswith("19 of 20 seeds")
    assert second.rstrip().endswith("reproduced")
