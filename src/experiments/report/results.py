"""results.json and results.csv: one record a claim, for programs.

The field names are stable: a field may be added, none changes its name or meaning. `FIELDS` below
documents every one of them and is what the page fields.html shows. The JSON is an array of flat
objects and strict: what is not a finite number (NaN, infinity) is null. The CSV has the same fields
in the same order, with `true` and `false` for truth values and nothing for null.
"""

import csv
import io
import json
import math
from typing import Any

from experiments.contract.verdicts import ORIGINS, VERDICTS
from experiments.report.scoreboard import Claims
from models.datasets import GRADES

FIELDS = {
    "experiment": (
        "text",
        "the experiment, <book>/<result>; with its claim's place, the record's key",
    ),
    "book": ("text", "the text that makes the claim: fcml, prml, mlapp, ghahramani or notes"),
    "place": ("text", "where, if it is not the experiment's own text that makes it"),
    "item": ("text", "the figure, table or equation as the book numbers it"),
    "topic": ("text", "the topic the result belongs to"),
    "claim": ("text", "what is claimed, in our words"),
    "origin": ("text", f"{' or '.join(ORIGINS)}: the text says it, or it is a check of our own"),
    "kind": ("text", "number, statement or draw: which rule judges it"),
    "by": ("text", "construction: it cannot fail; counted apart"),
    "expression": ("text", "what was tested, over the quantities of the study"),
    "evidence": ("text", "its evaluated sides"),
    "because": ("text", "where a tolerance or a bound in the expression comes from"),
    "printed": ("text or null", "the value as the book prints it; null for statements"),
    "computed": ("text", "the computed value for people, two digits more than the book prints"),
    "value": ("number, boolean, text or null", "the computed value in full; a draw's median"),
    "verdict": ("text", f"{', '.join(VERDICTS[:-1])} or {VERDICTS[-1]}"),
    "standing": ("text", "where it is counted: the verdict, or `by construction`"),
    "weak": ("boolean", "a draw that nearly any printed value would have passed"),
    "expected": ("text", "the verdict that the experiment's file expects"),
    "as_expected": ("boolean", "whether the two agree"),
    "judged": ("text", "the rule in words, with the numbers that entered it"),
    "corrected": ("text or null", "erratum: what the book should have printed"),
    "instead": ("text or null", "erratum: what was tested of that, beside the expression"),
    "cause": ("text or null", "erratum: its entry in the ledger, shared by all its places"),
    "why": ("text", "erratum, differs, untested: what is known of the reason"),
    "changed": ("text", "what was changed in the claim after a first look at the values, and why"),
    "data_grade": ("text", f"{', '.join(GRADES[:-1])} or {GRADES[-1]}: where the data came from"),
    "run_id": ("text", "the recorded run; `bythebook verify <run_id>` recomputes it bit by bit"),
}


def as_json(claims: Claims) -> str:
    """Strict JSON."""
    return json.dumps(_finite(claims), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def as_csv(claims: Claims) -> str:
    """The same records as lines."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(FIELDS)
    for claim in _finite(claims):
        writer.writerow([_text(claim[name]) for name in FIELDS])
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
    # A carriage return alone is not quoted, and would end the row.
    return value.replace("\r", " ") if isinstance(value, str) else value
