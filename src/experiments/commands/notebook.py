"""`bythebook notebook`: a Jupyter notebook for a result, made of its file alone.

What the book says, the knobs as one cell to edit, the run with its figure and claims, and a sweep
to begin with. The format is nbformat 4.5; equal results give equal bytes.
"""

import argparse
import dataclasses
import json
import math
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from experiments.commands import console
from experiments.commands.codes import OK
from experiments.configuration import catalogue
from experiments.configuration.build import experiment_job
from experiments.configuration.errors import no_choice
from experiments.configuration.jobs import Job
from experiments.contract.claims import Claim
from experiments.contract.errors import BadInput
from experiments.contract.expressions import names
from experiments.contract.knobs import allowed
from experiments.contract.markdown import code, words
from models import datasets

SETTINGS = (  # of `run` and `sweep`: a knob of such a name goes by its full one
    *("outputs", "data_dir", "fresh", "track", "figures", "tags", "jobs", "metric", "progress"),
    *("most_cells", "seed"),
)
WORDS = ("says", "sweeping")  # cells that are no code
WIDTH = 96  # characters of a line of code
MOST = 3  # values of the sweep to begin with
_LAST = (  # how, and not what: of less interest to vary
    *("tol", "iterations", "max_iter", "repetitions", "restarts", "draws", "samples", "show"),
    *("low", "high", "shift", "scale"),
)


def main(options: argparse.Namespace) -> int:
    """Write it; what somebody may have worked on is not overwritten."""
    if options.name not in catalogue.names():
        raise BadInput(no_choice("experiment", options.name))
    text = written(options.name, options.outputs)
    if options.output == "-":
        sys.stdout.write(text)
        return OK
    path = Path(options.output or f"{options.name.replace('/', '-')}.ipynb").expanduser()
    if path.is_dir():
        path /= f"{options.name.replace('/', '-')}.ipynb"
    if path.exists() and path.read_bytes() != text.encode() and not options.force:
        raise BadInput(f"{path} is there and differs; -o names another file, --force replaces it")
    path.write_text(text, encoding="utf-8")
    console.plain(f"{path}\n")
    return OK


def written(name: str, outputs: str | None = None) -> str:
    """The notebook of a result; with an outputs folder, its runs are kept there."""
    parts = _cells(name, experiment_job(name), outputs)
    cells = [_cell(cell_id, text) for cell_id, text in parts]
    language = {"name": "python", "file_extension": ".py", "mimetype": "text/x-python"}
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    content = {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": language},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(content, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def _cell(cell_id: str, text: str) -> dict[str, Any]:
    cell = {"id": cell_id, "metadata": {}, "source": text.splitlines(keepends=True)}
    if cell_id in WORDS:
        return {**cell, "cell_type": "markdown"}
    return {**cell, "cell_type": "code", "execution_count": None, "outputs": []}


def _cells(name: str, job: Job, outputs: str | None) -> Iterator[tuple[str, str]]:
    where = f", outputs={outputs!r}" if outputs else ""
    yield "says", _says(name, job)
    yield "import", "from experiments import run, sweep"
    yield "knobs", _knobs(job)
    yield "run", f'result = run("{name}", seed=seed, **knobs{where})\nresult'
    yield "claims", 'result.claims[["claim", "printed", "computed", "evidence", "verdict"]]'
    yield "numbers", "result.frame()  # every quantity; result.frame(name) is one of them"
    knob, values = suggestion(job)
    over = f"`{_key(knob)}`" if knob != "seed" else "the seed"
    yield (
        "sweeping",
        f"## Over several values\n\nA knob that is given a list of values is swept: here {over}."
        " With `seed=range(20)` each combination is run twenty times, and the table has standard"
        " errors.",
    )
    metric = _metric(job)
    shown, of = (f"metric = {_literal(metric)}\n", ", metric=metric") if metric else ("", "")
    if knob == "seed":
        yield "sweep", f"{shown}{_called(name, f'seed={_literal(values)}, **knobs{of}{where}')}"
        return
    begin = f'several = {{"{_key(knob)}": '
    several = f"{begin}{_literal(values, len(begin))}}}\n"
    call = _called(name, f"seed=seed, **knobs | several{of}{where}")
    yield "sweep", f"{several}{shown}{call}"


def _called(name: str, words: str) -> str:
    """The lines that sweep a result and show what came of it."""
    line = f'swept = sweep("{name}", {words})'
    if len(line) > WIDTH:
        line = f'swept = sweep(\n    "{name}", {words}\n)'
    return f"{line}\nswept"


def _says(name: str, job: Job) -> str:
    """Title, source and claims, in our words."""
    source = job.source
    book = catalogue.BOOKS.get(source.book, source.book)
    section = f", section {words(source.section)}" if source.section else ""
    lines = [
        f"# {words(source.item or name)}: {words(source.title)}",
        "",
        f"*{words(book)}*{section} (`{name}`)",
        "",
    ]
    for also in source.also:
        told = ", ".join(filter(None, [catalogue.BOOKS[also.book], also.section, also.item]))
        lines += [f"Also told by {words(told)}.", ""]
    if source.note:
        lines += [words(source.note), ""]
    study = type(job.study)
    lines += [f"Computed by the study `{study.name}`: {words(study.__doc__ or '')}", ""]
    if job.claims:
        lines += ["## What is claimed", ""]
        lines += [f"- {_claim(claim)}" for claim in job.claims]
    return "\n".join(lines).rstrip()


def _claim(claim: Claim) -> str:
    """In our words, with what is tested, and what we know where the book is not borne out."""
    derived = claim.origin == "derived"
    ours, word = (" (a check of our own)", "should be") if derived else ("", "printed")
    printed = f"; {word} {words(claim.printed)}" if claim.printed else ""
    expected = f" **{words(claim.expect)}**" if claim.expect else ""
    why = f": {words(claim.why)}" if claim.expect and claim.why else ""
    return f"{words(claim.says)}{ours}: {code(claim.expression)}{printed}{expected}{why}"


def _knobs(job: Job) -> str:
    """The knobs as a dict to edit, what each means above it."""
    lines = ["# The book's settings: change what you like, and run the cells below again."]
    values = dataclasses.asdict(job.study)
    if not all(math.isfinite(number) for number in _numbers(values)):
        lines.append("from math import inf, nan\n")
    lines.append("knobs = {")
    for entry in dataclasses.fields(job.study):
        words = f"{entry.metadata['doc']} ({allowed(entry)})"
        comment = textwrap.wrap(" ".join(words.split()), WIDTH - 6, break_on_hyphens=False)
        lines += [f"    # {line}" for line in comment]
        begin = f'    "{_key(entry.name)}": '
        lines.append(begin + _literal(values[entry.name], len(begin)) + ",")
    return "\n".join([*lines, "}", f"seed = {job.seed}"])


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for entry in value:
            yield from _numbers(entry)
    elif isinstance(value, float):
        yield value


def _key(knob: str) -> str:
    """A knob that is called like a setting goes by its full name."""
    return f"study.{knob}" if knob in SETTINGS else knob


def _literal(value: Any, indent: int = 0) -> str:
    """Python for a value; a list that is too long for its line goes on below itself."""
    text = _on_a_line(value)
    if len(text) + indent <= WIDTH or not isinstance(value, list | dict | str):
        return text
    if isinstance(value, str):
        return _broken(value, indent + 1)
    inner, lines = indent + 1, [""]
    for name, entry in _entries(value):
        part = name + _on_a_line(entry)
        if lines[-1] and inner + len(lines[-1]) + len(part) > WIDTH:
            lines.append("")
        if inner + len(part) > WIDTH:  # too long for any line
            part = name + _literal(entry, inner + len(name))
        lines[-1] += f"{part}, "
    inside = f"\n{' ' * inner}".join(line.rstrip() for line in lines).removesuffix(",")
    return text[0] + inside + text[-1]


def _broken(text: str, indent: int) -> str:
    """A text in pieces, which Python puts together."""
    pieces = [""]
    for word in re.findall(r"\S+\s*|\s+", text):
        if pieces[-1] and indent + len(_on_a_line(pieces[-1] + word)) >= WIDTH:
            pieces.append("")
        pieces[-1] += word
    below = "\n" + " " * indent
    return f"({below.join(map(_on_a_line, pieces))})"


def _on_a_line(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list | dict):
        inside = ", ".join(name + _on_a_line(entry) for name, entry in _entries(value))
        return f"[{inside}]" if isinstance(value, list) else f"{{{inside}}}"
    return repr(value)


def _entries(value: list[Any] | dict[str, Any]) -> list[tuple[str, Any]]:
    """What stands before each entry, and the entry."""
    if isinstance(value, list):
        return [("", entry) for entry in value]
    return [(f"{_on_a_line(key)}: ", entry) for key, entry in value.items()]


def _metric(job: Job) -> str | None:
    """What the sweep is to show: the first number that is claimed, or a statement for want of any.

    None leaves it to the study's headline, if that is of quantities which the claims speak of: a
    study need not give all of them with all knobs.
    """
    numbers = [claim.value for claim in job.claims if claim.value]
    spoken = {name for claim in job.claims for name in names(claim.expression)}
    if not numbers and any(names(shown) <= spoken for shown in job.study.headline.values()):
        return None
    stated = numbers or [claim.holds for claim in job.claims if claim.holds]
    short = [expression for expression in stated if len(expression) < WIDTH - 10]
    return short[0] if short else None


def suggestion(job: Job) -> tuple[str, list[Any]]:
    """A knob to sweep, and a few values around the book's that the study takes; else the seed.

    What the result's file states matters to it, and is looked at first.
    """
    stated = catalogue.read(job.experiment).body.get("study", {}) if job.experiment else {}

    def rank(entry: "dataclasses.Field[Any]") -> tuple[bool, bool, int]:
        return entry.name not in stated, entry.name in _LAST, _rank(entry)

    for entry in sorted(dataclasses.fields(job.study), key=rank):
        near = _around(entry, getattr(job.study, entry.name))
        values = [value for value in near if _taken(job, entry.name, value)][:MOST]
        if len(values) > 1:
            return entry.name, values
    return "seed", [0, 1, 2]


def _rank(entry: "dataclasses.Field[Any]") -> int:
    """Numbers first, then words to choose from, then data."""
    kinds = (float, int)
    return kinds.index(entry.type) if entry.type in kinds else 3 if entry.metadata["dataset"] else 2


def _around(entry: "dataclasses.Field[Any]", value: Any) -> list[Any]:
    choices = list(entry.metadata["choices"])
    if entry.metadata["dataset"]:
        choices = datasets.names(entry.metadata["dataset"])
    if isinstance(value, bool):
        return [False, True]
    if isinstance(value, str) and value in choices:
        return [value, *(choice for choice in choices if choice != value)]
    if isinstance(value, int):
        near = [value // 4, value // 2, value] if value >= 12 else [value - 1, value, value + 1]
        return [number for number in near if number > 0]
    if entry.type is float and math.isfinite(value):
        return [value / 2, value, 2 * value] if value else [0.0, 0.5, 1.0]
    return []


def _taken(job: Job, knob: str, value: Any) -> bool:
    try:
        dataclasses.replace(job.study, **{knob: value})
    except BadInput:
        return False
    return True
