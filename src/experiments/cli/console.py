"""Lines, tables and progress bars in the terminal."""

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from rich.progress import Progress

COLOURS = {
    "reproduced": "green",
    "consistent": "cyan",
    "erratum": "yellow",
    "differs": "red",
    "untested": "magenta",
    "failed": "bold red",
}

COLUMN_GAP = 2  # spaces between columns
PIPE_WIDTH = 500  # characters of a line in a pipe: one line per row, for `grep`


class _Console(Console):
    """A console that raises `BrokenPipeError` for `main` to handle instead of exiting."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


out = _Console(highlight=False, emoji=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)
err = Console(stderr=True, highlight=False, emoji=False, soft_wrap=True)


def notify(line: str) -> None:
    """Print a line for the user to standard error."""
    err.print(f"bythebook: {escape(line)}")


def print_text(text: str) -> None:
    """Print text without markup and without wrapping."""
    out.print(text, markup=False, soft_wrap=True, end="")


def colour_verdict(verdict: str) -> str:
    colour = COLOURS.get(verdict, "default")
    return f"[{colour}]{escape(verdict)}[/{colour}]"


def table(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], *, title: str | None = None
) -> None:
    """Print a plain table; cells are text or markup from `colour_verdict`."""
    cells = [[str(cell) for cell in row] for row in rows]
    lines = None if title or out.is_terminal else _aligned([list(columns), *cells])
    if lines is not None:
        print_text("".join(lines))
        return
    view = Table(
        *columns, title=title, title_justify="left", box=None, pad_edge=False, header_style="bold"
    )
    for row in cells:
        view.add_row(*row)
    out.print(view)


def _aligned(rows: list[list[str]]) -> list[str] | None:
    """The lines of a table in a pipe, without colours; None if a row does not fit into a line.

    `rich` lays out the same lines but needs longer for hundreds of rows than the rest of a command.
    """
    texts = [[_without_markup(cell) for cell in row] for row in rows]
    if not all(text.isprintable() for row in texts for text in row):
        return None
    if any(len(row) != len(texts[0]) for row in texts):
        return None
    lengths = [[cell_len(text) for text in row] for row in texts]
    widths = [max(column) for column in zip(*lengths, strict=True)]
    if sum(widths) + COLUMN_GAP * (len(widths) - 1) > out.width:
        return None
    lines = []
    for row, used in zip(texts, lengths, strict=True):
        padded = [t + " " * (w - n) for t, w, n in zip(row, widths, used, strict=True)]
        lines.append((" " * COLUMN_GAP).join(padded) + "\n")
    return lines


def _without_markup(cell: str) -> str:
    """The text of a cell without its markup."""
    return out.render_str(cell).plain if "[" in cell else cell


def claims_table(
    verdicts: Sequence[dict[str, Any]], agreement: Sequence[str] | None = None
) -> None:
    """Print claims with printed value, computed value and verdict, one per row.

    `agreement` has a text for each verdict: the seeds with the expected verdict, if it is known.
    """
    rows = []
    for v, seeds in zip(verdicts, agreement or [""] * len(verdicts), strict=True):
        verdict = colour_verdict(v["standing"]) + (" [dim](weak)[/dim]" if v["weak"] else "")
        if not v["as_expected"]:
            verdict += f" [red](expected {escape(v['expected'])})[/red]"
        says = escape(v["says"]) + (" [dim](derived)[/dim]" if v["origin"] == "derived" else "")
        computed = escape(v["evidence"] or v["computed"])
        row = [says, escape(v["expression"]), escape(v["printed"] or ""), computed, verdict]
        rows.append([*row, seeds] if agreement else row)
    columns = ["claim", "tested", "printed", "computed", "verdict"]
    table([*columns, "agreement over seeds"] if agreement else columns, rows)


def progress_bar() -> "Progress":
    """A progress bar with a count, which disappears at the end."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, TimeElapsedColumn(), console=err, transient=True)
