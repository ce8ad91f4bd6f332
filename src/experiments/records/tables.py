"""Tables of a record as text: CSV with every digit, Markdown and LaTeX for reading."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.contract import views
from experiments.contract.errors import BadInput
from experiments.contract.slugs import file_names
from experiments.contract.views import Table
from experiments.contract.whole import replaced_text
from experiments.records.record import Record

FORMATS = {"csv": "csv", "md": "md", "latex": "tex"}


def write_tables(record: Record, folder: Path, formats: Sequence[str]) -> list[Path]:
    """The outcome's tables, and the claims as a table of their own."""
    check_formats(formats)
    tables = views.tables(record.outcome)
    if record.verdicts:
        tables["claims"] = claims_table(record.verdicts)
    paths = []
    for name, table in zip(file_names(tables), tables.values(), strict=True):
        paths += write_table(table, folder, name, formats)
    return paths


def write_table(table: Table, folder: Path, name: str, formats: Sequence[str]) -> list[Path]:
    """One table in some formats."""
    paths = []
    folder.mkdir(parents=True, exist_ok=True)
    for style in formats:
        path = folder / f"{name}.{FORMATS[style]}"
        paths.append(replaced_text(path, _RENDER[style](table)))
    return paths


def claims_table(verdicts: Sequence[dict[str, Any]]) -> Table:
    """One row a claim."""
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
    for name in formats:
        if name not in FORMATS:
            raise BadInput(f"format '{name}' is unknown; allowed: {', '.join(FORMATS)}")


def as_csv(table: Table) -> str:
    """Every digit."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(table)
    writer.writerows(_rows(table))
    return stream.getvalue()


def as_markdown(table: Table) -> str:
    """Six digits, for reading."""
    lines = ["| " + " | ".join(table) + " |", "|" + " --- |" * len(table)]
    for row in _rows(table):
        lines.append("| " + " | ".join(shown(cell).replace("|", "\\|") for cell in row) + " |")
    return "\n".join(lines) + "\n"


def as_latex(table: Table) -> str:
    """Six digits, for booktabs."""
    columns = "".join(
        "l" if any(isinstance(v, str) for v in values) else "r" for values in table.values()
    )
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule"]
    lines += [" & ".join(_tex(name) for name in table) + r" \\", r"\midrule"]
    lines += [" & ".join(_tex(shown(cell)) for cell in row) + r" \\" for row in _rows(table)]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


_RENDER = {"csv": as_csv, "md": as_markdown, "latex": as_latex}


def shown(cell: Any) -> str:
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


def _tex(text: str) -> str:
    return "".join(_SPECIAL.get(character, character) for character in text)
