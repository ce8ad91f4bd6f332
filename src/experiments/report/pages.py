"""The template environment of the report, its filters and the texts that explain verdicts."""

import re
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from bythebook.experiments.config.catalogue import BOOKS
from bythebook.experiments.core.claim_blocks import block_of
from bythebook.experiments.core.verdicts import CATEGORIES, DEFINITIONS, ORIGINS
from bythebook.experiments.report import provenance
from bythebook.experiments.report.display_names import display_name
from bythebook.experiments.report.latex import latex_to_mathml
from bythebook.experiments.report.mathml import formulas, starts_with_formula

TEMPLATE_DIR = Path(__file__).parent

# Symbols repeat what the colour of a verdict shows, for colour-blind readers and grey printers.
VERDICT_SYMBOLS = dict(
    zip(CATEGORIES, ("✓", "≈", "†", "≠", "○", "=", "¶", "≡", "‡"), strict=True)
) | {"not run": "–"}
GRADE_HELP = {
    "book": "all inputs are printed in the text",
    "original": "the authors' file or published script",
    "stand-in": "generated or invented by us, because the authors' data are not available",
}


def environment() -> Environment:
    """The templates, with autoescape for every one, and the names that all of them use."""
    templates = Environment(
        loader=FileSystemLoader(TEMPLATE_DIR / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(
        cell=format_cell,
        sentence=as_sentence,
        block=block_of,
        formulas=formulas,
        latex=latex_to_mathml,
        humanised=display_name,
        when=provenance.format_time,
        duration=provenance.format_duration,
        commit=provenance.format_commit,
    )
    templates.globals.update(
        BOOKS=BOOKS,
        ORIGINS=ORIGINS,
        CATEGORIES=CATEGORIES,
        SYMBOLS=VERDICT_SYMBOLS,
        DEFINITIONS=DEFINITIONS,
        GRADES=GRADE_HELP,
    )
    return templates


def format_cell(value: Any) -> str:
    """A value as text: numbers with six digits, lists and mappings without Python syntax."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | tuple):
        return ", ".join(
            f"[{format_cell(v)}]" if isinstance(v, list | tuple) else format_cell(v) for v in value
        )
    if isinstance(value, dict):
        return ", ".join(f"{name}: {format_cell(entry)}" for name, entry in value.items())
    return str(value)


def as_sentence(text: str) -> str:
    """A text as a sentence. A symbol at the beginning (w, k-fold, gamma = 1) gets no capital."""
    if re.match(r"([a-z]{2,}(-[a-z]+)*|a)[ ,]", text) and not starts_with_formula(text):
        text = text[0].upper() + text[1:]
    return text + "." if text and text[-1] not in ".!?" else text
