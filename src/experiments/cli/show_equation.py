"""`bythebook show prml:10.222`: the formula of an equation, its gaps, source and results."""

import json

from rich.markup import escape

from bythebook.experiments.api.equations import equation_rows
from bythebook.experiments.cli import console
from bythebook.experiments.cli.exit_codes import OK
from bythebook.experiments.config import catalogue, errata
from bythebook.experiments.core.equations import describe_gap, select_equations
from bythebook.experiments.core.exact_json import dumps
from bythebook.experiments.core.latex_text import latex_to_text


def show(word: str, *, as_json: bool) -> int:
    """Show the equations of a number (`prml:10.222`) or a name (`prml.expected_mixing`)."""
    entries = select_equations([word])
    rows = equation_rows(entries)
    if as_json:
        content = [{**row, "source": e.source} for row, e in zip(rows, entries, strict=True)]
        print(json.dumps(json.loads(dumps(content)), indent=1, ensure_ascii=False))
        return OK
    out = console.out
    for entry, row in zip(entries, rows, strict=True):
        book = escape(catalogue.BOOKS[entry.book])
        out.print(f"[bold]({escape(entry.number)})[/bold], {book}, section {entry.section}")
        out.print(f"{escape(entry.says)}\n")
        printed = f"{describe_gap(row['gap'])} in {row['cases']} cases"
        out.print(f"printed    {escape(latex_to_text(entry.latex))}  [dim]{printed}[/dim]")
        if entry.corrected is not None:
            gap = row["corrected_gap"]
            corrected = "" if gap is None else describe_gap(gap)
            text = escape(latex_to_text(entry.corrected))
            out.print(f"corrected  {text}  [dim]{corrected}[/dim]")
        verdict = console.colour_verdict(row["verdict"])
        out.print(f"verdict    {verdict} (tolerance: a relative gap of {entry.within:.0e})")
        if row["reason"]:
            out.print(f"reason     {escape(row['reason'])}")
        if entry.cause is not None:
            cause = errata.load_erratum(entry.book, entry.cause).cause
            out.print(f"cause      {escape(cause)}")
        out.print(f"results    {', '.join(row['results']) or 'none'}")
        out.print(f"\n[dim]{entry.name}, {escape(str(entry.path))}:{entry.line}[/dim]")
        console.print_text(f"{entry.source}\n\n")
    return OK
