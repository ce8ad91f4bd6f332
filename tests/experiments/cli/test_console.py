"""Lines and tables in the terminal: no markup in user input, one line per row."""

import io
import re

import pytest
from rich.console import Console
from rich.table import Table
from sample_verdicts import ALL, CHECK, ERRATUM, FAILED_CHECK, STATEMENT, verdict

from bythebook.experiments.cli import console
from bythebook.experiments.core.claim_blocks import claim_blocks
from bythebook.experiments.core.verdicts import VERDICTS

Capture = pytest.CaptureFixture[str]


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


def test_a_claim_in_a_pipe_is_one_line_without_padding(capsys: Capture) -> None:
    console.print_claims(claim_blocks(ALL))
    assert capsys.readouterr().out.splitlines() == [
        "Printed claims: 1 reproduced, 1 erratum",
        "the loss\t3\t3.00\terratum\tCorrected: 0.5\tExplanation: a wrong digit",
        "it falls\t\tholds\treproduced",
        "Equations: 1 holds, 1 erratum",
        "the update\t\tgap 9e-15 in 20 cases\tholds",
        "the update\t\tgap 9e-15 in 20 cases\terratum",
        "By construction: 1",
        "it adds up\t3\t3.00\tby construction",
        "Errata by reading: 1",
        "a hat is missing\t3\t3.00\tby reading",
        "Derived checks: 1 of 2 hold (--verbose lists them)",
        "the limit agrees\t3\t3.00\tdiffers (expected reproduced)\tComputed: 1 == 2",
    ]


def test_verbose_lists_every_claim_with_its_expression(capsys: Capture) -> None:
    console.print_claims(claim_blocks([CHECK, STATEMENT]), verbose=True)
    rule = "Rule: rounds to the printed digits\tData: book"
    assert capsys.readouterr().out.splitlines() == [
        "Printed claims: 1 reproduced",
        f"it falls\t\tholds\treproduced\tTested: argmin(loss)\tComputed: 1 < 2\t{rule}",
        "Derived checks: 1 of 1 hold",
        f"the library agrees\t3\t3.00\treproduced\tTested: argmin(loss)\t{rule}",
    ]


def terminal(monkeypatch: pytest.MonkeyPatch, width: int) -> io.StringIO:
    """A terminal of some width, without colours."""
    screen = io.StringIO()
    view = Console(file=screen, width=width, force_terminal=True, no_color=True, highlight=False)
    monkeypatch.setattr(console, "out", view)
    return screen


@pytest.mark.parametrize("width", [60, 80, 120])
def test_claims_in_a_terminal_fit_its_width(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    words = " ".join(f"word{number}" for number in range(60))
    listed = [verdict(words, expression="a" * 300), ERRATUM | {"why": words}, FAILED_CHECK]
    screen = terminal(monkeypatch, width)
    console.print_claims(claim_blocks(listed), verbose=True)
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in screen.getvalue().splitlines()]
    assert max(map(len, lines)) <= width
    text = " ".join(" ".join(lines).split())
    assert text.count("word59") == 2
    assert text.replace(" ", "").count("a" * 300) == 1
    assert lines[0].split() == ["claim", "printed", "computed", "verdict"]
    # The columns are aligned.
    start = lines[0].index("verdict")
    assert [line[start:].strip() for line in lines if line[start:].startswith("reprod")]


def test_the_sentence_uses_the_width_that_the_numbers_leave(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    screen = terminal(monkeypatch, 60)
    console.print_claims(claim_blocks([verdict("long " * 20)]))
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in screen.getvalue().splitlines()]
    assert lines[:3] == [
        "  claim                       printed  computed  verdict",
        "Printed claims: 1 reproduced",
        "  long long long long long    3        3.00      reproduced",
    ]


def test_brackets_in_a_claim_are_not_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal(monkeypatch, 100)
    claim = verdict("[red]loss[1] falls[/]", computed="[/] 3", why="[bold]", expression="a[1]")
    console.print_claims(claim_blocks([claim]), verbose=True)
    for text in ("[red]loss[1] falls[/]", "[/] 3", "Explanation: [bold]", "Tested: a[1]"):
        assert text in screen.getvalue()


def test_derived_checks_alone_are_one_line(capsys: Capture) -> None:
    console.print_claims(claim_blocks([CHECK]))
    assert capsys.readouterr().out == "Derived checks: 1 of 1 hold (--verbose lists them)\n"
