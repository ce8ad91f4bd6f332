"""Lines, tables and progress bars in the terminal."""

import sys
import textwrap
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bythebook.experiments.core.claim_blocks import DERIVED, Block, Detail, Row

if TYPE_CHECKING:
    from rich.progress import Progress

COLOURS = {
    "reproduced": "green",
    "consistent": "cyan",
    "erratum": "yellow",
    "differs": "red",
    "untested": "magenta",
    "equation holds": "green",
    "equation erratum": "yellow",
    "failed": "bold red",
}

COLUMN_GAP = 2  # spaces between columns
INDENT = "  "
MAX_WIDTHS = (14, 24, 24)  # of the columns printed, computed and verdict of a claim
MIN_SENTENCE = 20  # characters of a line of its sentence
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


def print_not_converged(lines: Iterable[str]) -> None:
    """Name the fits that stopped at their limit of iterations."""
    for line in lines:
        out.print(f"[yellow]not converged:[/yellow] {escape(line)}")


def print_claims(blocks: Iterable[Block], *, verbose: bool = False) -> None:
    """Print claims by block: sentence, printed value, computed value and verdict.

    Derived checks are counted in a line, and those that fail are listed. With `verbose` every
    claim is listed with its expression, evidence, tolerance and history. In a pipe a claim is one
    line, with tabs between its cells.
    """
    shown = [
        (block, block.rows if verbose or block.name != DERIVED else block.failed)
        for block in blocks
    ]
    widths = _column_widths([row for _, rows in shown for row in rows])
    if out.is_terminal and any(widths[1:]):
        heads = _columns(("claim", "printed", "computed", "verdict"), widths)
        out.print(f"[dim]{INDENT}{heads[0]}[/dim]", soft_wrap=True)
    for block, rows in shown:
        note = " [dim](--verbose lists them)[/dim]" if len(rows) < len(block.rows) else ""
        out.print(f"[bold]{escape(block.title)}[/bold]{note}", soft_wrap=True)
        for row in rows:
            if out.is_terminal:
                _print_row(row, widths, verbose=verbose)
            else:
                out.file.write(_tab_separated(row, verbose=verbose))  # `print` expands tabs


def _tab_separated(row: Row, *, verbose: bool) -> str:
    texts = [f"{entry.label}: {entry.text}" for entry in _below(row, verbose=verbose)]
    cells = [row.says, row.printed, row.computed, row.verdict_text, *texts]
    return "\t".join(" ".join(cell.split()) for cell in cells).rstrip("\t") + "\n"


def _below(row: Row, *, verbose: bool) -> Sequence[Detail]:
    """The texts below a claim."""
    return (*row.notes, *row.details) if verbose else row.notes


def _column_widths(rows: Sequence[Row]) -> list[int]:
    """The widths of sentence, printed value, computed value and verdict; 0 for an empty column."""
    cells = [(row.printed, row.computed, row.verdict_text) for row in rows]
    columns = zip(*cells, strict=True) if cells else [()] * len(MAX_WIDTHS)
    longest = [max(map(cell_len, column), default=0) for column in columns]
    heads = zip(longest, map(len, ("printed", "computed", "verdict")), MAX_WIDTHS, strict=True)
    widths = [min(limit, max(length, head)) if length else 0 for length, head, limit in heads]
    used = len(INDENT) + sum(width + COLUMN_GAP for width in widths if width)
    return [max(MIN_SENTENCE, out.width - 1 - used), *widths]


def _columns(texts: Sequence[str], widths: Sequence[int]) -> list[str]:
    """The lines of a row whose texts are wrapped in their columns."""
    wrapped = [
        textwrap.wrap(text, width) or [""]
        for text, width in zip(texts, widths, strict=True)
        if width
    ]
    shown = [width for width in widths if width]
    return [
        (" " * COLUMN_GAP)
        .join(part.ljust(width) for part, width in zip(parts, shown, strict=True))
        .rstrip()
        for parts in zip_longest(*wrapped, fillvalue="")
    ]


def _print_row(row: Row, widths: Sequence[int], *, verbose: bool) -> None:
    """Print a claim in columns, and the texts below it in the full width."""
    colour = COLOURS.get(row.category, "default")
    start = out.width - 1 - widths[-1]  # of the last column
    for line in _columns((row.says, row.printed, row.computed, row.verdict_text), widths):
        text = INDENT + line
        verdict = f"[{colour}]{escape(text[start:])}[/{colour}]" if text[start:] else ""
        out.print(escape(text[:start]) + verdict, soft_wrap=True)
    for entry in _below(row, verbose=verbose):
        lines = textwrap.wrap(
            f"{entry.label}: {entry.text}",
            out.width - 1,
            initial_indent=2 * INDENT,
            subsequent_indent=3 * INDENT,
        )
        out.print("\n".join(f"[dim]{escape(line)}[/dim]" for line in lines), soft_wrap=True)


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
