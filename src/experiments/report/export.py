"""The files results.json and results.csv: one record per claim, for programs.

The field names are stable: fields may be added, but no field changes its name or meaning.
`FIELD_DOCS` documents every field, and the page fields.html shows it. The JSON is a strict array
of flat objects, in which NaN and infinity are null. The CSV has the same fields in the same order,
with `true` and `false` for booleans and an empty cell for null.
"""

import csv
import io
import json
import math
from typing import Any

from bythebook.experiments.core.quantifiers import WORDS
from bythebook.experiments.core.verdicts import (
    BY_CONSTRUCTION,
    BY_READING,
    CONSTRUCTION,
    DEFINITIONS,
    ORIGINS,
    READING,
    VERDICTS,
)
from bythebook.experiments.report.scoreboard import Claims
from bythebook.models.datasets import GRADES

FIELD_DOCS = {
    "experiment": (
        "text",
        "the result, <book>/<name>, which the command line accepts",
    ),
    "book": ("text", "the text that the claim is about: fcml, prml, mlapp, ghahramani or notes"),
    "place": ("text", "another text that makes the claim, with its section; else empty"),
    "item": ("text", "the figure, table, equation, section or exercise, as the book numbers it"),
    "topic": ("text", "the topic of the study"),
    "claim": ("text", "the claim, in our words"),
    "origin": (
        "text",
        f"{' or '.join(ORIGINS)}: a number or sentence of the text, or a check that we added",
    ),
    "kind": (
        "text",
        "number, statement, draw, table, equation or reading: the rule that gives the verdict",
    ),
    "by": (
        "text",
        f"{CONSTRUCTION} for {DEFINITIONS[BY_CONSTRUCTION].partition(',')[0]}; {READING} for"
        f" {DEFINITIONS[BY_READING].partition(',')[0]}; else empty",
    ),
    "expression": ("text", "the tested expression over the quantities of the study"),
    "let": (
        "text",
        "the named parts of the expression, `name: expression`, separated by semicolons",
    ),
    "in": (
        "text or null",
        f"{', '.join(WORDS[:-1])} or {WORDS[-1]}: in how many draws the expression must be true",
    ),
    "reading": ("text", "the reading of the text under which the claim was judged; else empty"),
    "evidence": ("text", "the values of the sides of the expression"),
    "because": ("text", "the source of the tolerance, bound or reference value"),
    "printed": ("text or null", "the value as the book prints it; null for a statement"),
    "computed": ("text", "the computed value as text, with two digits more than the printed value"),
    "value": (
        "number, boolean, text or null",
        "the computed value with all digits; of a draw, the median of the repetitions",
    ),
    "verdict": ("text", f"{', '.join(VERDICTS[:-1])} or {VERDICTS[-1]}"),
    "standing": (
        "text",
        f"the category in which the claim is counted: the verdict, or `{BY_CONSTRUCTION}`",
    ),
    "weak": ("boolean", "true if nearly any printed value would pass; only for draws"),
    "expected": ("text", "the verdict that the experiment file expects"),
    "as_expected": ("boolean", "true if verdict and expected are equal"),
    "judged": ("text", "the rule in words, with its numbers"),
    "corrected": (
        "text or null",
        "the value or sentence that is correct instead; null if the file gives none",
    ),
    "instead": (
        "text or null",
        "the expression that tests the correction; null if the file gives none",
    ),
    "cause": (
        "text or null",
        "the entry of the errata ledger, the same for all places of an erratum; else null",
    ),
    "why": ("text", "erratum, differs, untested: the reason, as far as it is known"),
    "changed": ("text", "changes of the claim after its values were known, and their reasons"),
    "data_grade": ("text", f"{', '.join(GRADES[:-1])} or {GRADES[-1]}: the source of the data"),
    "run_id": ("text", "the recorded run; `bythebook verify <run_id>` recomputes and compares it"),
}


def to_json(claims: Claims) -> str:
    """The records as strict JSON."""
    return json.dumps(_finite(claims), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def to_csv(claims: Claims) -> str:
    """The records as CSV, one line per claim."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(FIELD_DOCS)
    for claim in _finite(claims):
        writer.writerow([_text(claim[name]) for name in FIELD_DOCS])
    return stream.getvalue()


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_finite(entry) for entry in value]
    return value


def _text(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    # csv.writer does not quote a lone carriage return, which would end the row.
    return value.replace("\r", " ") if isinstance(value, str) else value
