"""Tables of a record as CSV with all digits, and as Markdown and LaTeX with six digits."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bythebook.experiments.core import summaries
from bythebook.experiments.core.atomic_files import write_text_atomic
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.slugs import unique_file_names
from bythebook.experiments.core.summaries import Table
from bythebook.experiments.store.record import Record

FORMATS = {"csv": "csv", "md": "md", "latex": "tex"}


def write_tables(record: Record, folder: Path, formats: Sequence[str]) -> list[Path]:
    """Write the outcome's tables and a table of the claims."""
    check_formats(formats)
    tables = summaries.result_tables(record.outcome)
    if record.verdicts:
        tables["claims"] = claims_table(record.verdicts)
    paths = []
    for name, table in zip(unique_file_names(tables), tables.values(), strict=True):
        paths += write_table(table, folder, name, formats)
    return paths


def write_table(table: Table, folder: Path, name: str, formats: Sequence[str]) -> list[Path]:
    """Write one table in some formats."""
    paths = []
    folder.mkdir(parents=True, exist_ok=True)
    for style in formats:
        path = folder / f"{name}.{FORMATS[style]}"
        paths.append(write_text_atomic(path, _RENDER[style](table)))
    return paths


def claims_table(verdicts: Sequence[dict[str, Any]]) -> Table:
    """A table with one row for each claim."""
    columns = [
        "says",
        "origin",
        "expression",
        "printed",
        "computed",
        "evidence",
        "verdict",
        "grade",
        "judged",
    ]
    return {name: [verdict[name] for verdict in verdicts] for name in columns}


def check_formats(formats: Sequence[str]) -> None:
    """Refuse unknown formats."""
    for name in formats:
        if name not in FORMATS:
            raise InputError(f"format '{name}' is unknown; allowed: {', '.join(FORMATS)}")


def to_csv(table: Table) -> str:
    """The table as CSV with all digits."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(table)
    writer.writerows(_rows(table))
    return stream.getvalue()


def to_markdown(table: Table) -> str:
    """The table as Markdown with six digits."""
    lines = ["| " + " | ".join(table) + " |", "|" + " --- |" * len(table)]
    for row in _rows(table):
        lines.append(
            "| " + " | ".join(format_cell(cell).replace("|", "\\|") for cell in row) + " |"
        )
    return "\n".join(lines) + "\n"


def to_latex(table: Table) -> str:
    """The table as LaTeX with six digits; requires the package booktabs."""
    columns = "".join(
        "l" if any(isinstance(v, str) for v in values) else "r" for values in table.values()
    )
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule"]
    lines += [" & ".join(_escape_latex(name) for name in table) + r" \\", r"\midrule"]
    lines += [
        " & ".join(_escape_latex(format_cell(cell)) for cell in row) + r" \\"
        for row in _rows(table)
    ]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


_RENDER = {"csv": to_csv, "md": to_markdown, "latex": to_latex}


def format_cell(cell: Any) -> str:
    """A cell as text with six digits."""
    if cell is None:
        return ""
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)


def _rows(table: Table) -> list[tuple[Any, ...]]:
    return list(zip(*table.values(), strict=True))


_SPECIAL = {c: f"\\{c}" for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}


def _escape_latex(text: str) -> str:
    return "".join(_SPECIAL.get(character, character) for character in text)
