"""Templates and their filters. Autoescape is on for every one of them."""

import re
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from experiments.configuration.catalogue import BOOKS
from experiments.contract.verdicts import ORIGINS, STANDINGS
from experiments.report import provenance
from experiments.report.formulas import begins_with_formula, formulas
from experiments.report.spelling import humanised

HERE = Path(__file__).parent

# A sign beside every word and colour, so that neither eyesight nor the printer matters.
SIGNS = dict(zip(STANDINGS, ("✓", "≈", "†", "≠", "○", "="), strict=True)) | {"not run": "–"}
MEANINGS = {
    "reproduced": "the computed value rounds to the printed digits, or the statement holds",
    "consistent": "the book's random draw is not improbable among ours; weak if hardly any is",
    "erratum": "the book is wrong, and the run shows what is right",
    "differs": "it did not come out, and the reason is given as far as it is known",
    "untested": "the data that would test it cannot be had here; what would is named",
    "by construction": "it holds whatever the data, and is no evidence; counted apart",
}
GRADES = {
    "book": "data or generator as the book prints it",
    "original": "the authors' own file, supplied by the user",
    "stand-in": "generated in place of data that could not be had",
}


def environment() -> Environment:
    """The templates with all that every page may use."""
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        cell=cell,
        sentence=sentence,
        formulas=formulas,
        humanised=humanised,
        when=provenance.when,
        duration=provenance.duration,
        commit=provenance.commit,
    )
    made.globals.update(
        BOOKS=BOOKS,
        ORIGINS=ORIGINS,
        STANDINGS=STANDINGS,
        SIGNS=SIGNS,
        MEANINGS=MEANINGS,
        GRADES=GRADES,
    )
    return made


def cell(value: Any) -> str:
    """A value for reading: six digits, no Python about it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | tuple):
        return ", ".join(f"[{cell(v)}]" if isinstance(v, list | tuple) else cell(v) for v in value)
    if isinstance(value, dict):
        return ", ".join(f"{name}: {cell(entry)}" for name, entry in value.items())
    return str(value)


def sentence(text: str) -> str:
    """A claim or a reason as a sentence. A symbol at its beginning (w, k-fold, gamma = 1) stays."""
    if re.match(r"([a-z]{2,}(-[a-z]+)*|a)[ ,]", text) and not begins_with_formula(text):
        text = text[0].upper() + text[1:]
    return text + "." if text and text[-1] not in ".!?" else text
