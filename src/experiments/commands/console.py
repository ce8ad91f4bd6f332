"""Words and tables for the terminal."""

import sys
from collections.abc import Iterable, Mapping, Sequence
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

GAP = 2  # spaces between columns
PIPED = 500  # columns: one line a row, for grep


class _Console(Console):
    """A console that leaves a broken pipe to the command line: the reader has seen enough."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


out = _Console(highlight=False, emoji=False, width=None if sys.stdout.isatty() else PIPED)
err = Console(stderr=True, highlight=False, emoji=False, soft_wrap=True)


def tell(line: str) -> None:
    """A line for the user beside the results."""
    err.print(f"bythebook: {escape(line)}")


def plain(text: str) -> None:
    """Text as it stands: no markup, no wrapping."""
    out.print(text, markup=False, soft_wrap=True, end="")


def coloured(verdict: str) -> str:
    colour = COLOURS.get(verdict, "default")
    return f"[{colour}]{escape(verdict)}[/{colour}]"


def table(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], *, title: str | None = None
) -> None:
    """A plain table; cells are text, or markup made by `coloured`."""
    cells = [[str(cell) for cell in row] for row in rows]
    lines = None if title or out.is_terminal else _aligned([list(columns), *cells])
    if lines is not None:
        plain("".join(lines))
        return
    view = Table(
        *columns, title=title, title_justify="left", box=None, pad_edge=False, header_style="bold"
    )
    for row in cells:
        view.add_row(*row)
    out.print(view)


def _aligned(rows: list[list[str]]) -> list[str] | None:
    """The lines that a pipe gets of a table without colours, where each row fits into one.

    They are the same as `rich` lays out, which takes longer for hundreds of rows than all else.
    """
    texts = [[_uncoloured(cell) for cell in row] for row in rows]
    if not all(text.isprintable() for row in texts for text in row):
        return None
    if any(len(row) != len(texts[0]) for row in texts):
        return None
    lengths = [[cell_len(text) for text in row] for row in texts]
    widths = [max(column) for column in zip(*lengths, strict=True)]
    if sum(widths) + GAP * (len(widths) - 1) > out.width:
        return None
    lines = []
    for row, taken in zip(texts, lengths, strict=True):
        filled = [t + " " * (w - n) for t, w, n in zip(row, widths, taken, strict=True)]
        lines.append((" " * GAP).join(filled) + "\n")
    return lines


def _uncoloured(cell: str) -> str:
    """The words of a cell, without its markup."""
    return out.render_str(cell).plain if "[" in cell else cell


def claims_table(
    verdicts: Iterable[dict[str, Any]], seeds: Mapping[str, str] | None = None
) -> None:
    """Printed against computed, claim by claim; in how many seeds, where that is known."""
    rows = []
    for v in verdicts:
        verdict = coloured(v["standing"]) + (" [dim](weak)[/dim]" if v["weak"] else "")
        if not v["as_expected"]:
            verdict += f" [red](expected {escape(v['expected'])})[/red]"
        says = escape(v["says"]) + (" [dim](derived)[/dim]" if v["origin"] == "derived" else "")
        computed = escape(v["evidence"] or v["computed"])
        row = [says, escape(v["expression"]), escape(v["printed"] or ""), computed, verdict]
        rows.append([*row, seeds.get(v["says"], "")] if seeds else row)
    columns = ["claim", "tested", "printed", "computed", "verdict"]
    table([*columns, "as expected in"] if seeds else columns, rows)


def counting() -> "Progress":
    """A bar that counts, and leaves nothing behind."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, TimeElapsedColumn(), console=err, transient=True)
