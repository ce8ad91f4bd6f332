"""`bythebook notebook`: write a Jupyter notebook for a result, from its file.

The notebook has the claims, a cell with the knobs, the run with its figure and verdicts, and an
example of a sweep. The format is nbformat 4.5; equal files give bitwise identical notebooks.
"""

import argparse
import ast
import dataclasses
import json
import math
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bythebook.experiments.cli import console
from bythebook.experiments.cli.exit_codes import OK
from bythebook.experiments.config import catalogue
from bythebook.experiments.config.job import Job
from bythebook.experiments.config.result_names import require_result
from bythebook.experiments.config.validation import check_parameters, load_job
from bythebook.experiments.core.claims import Claim
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.expressions import quantity_names
from bythebook.experiments.core.knobs import describe_constraints
from bythebook.experiments.core.let import expand
from bythebook.experiments.core.markdown import escape_markdown, inline_code
from bythebook.models import datasets

KEYWORDS = (  # of `run` and `sweep`; a knob with such a name needs its full name
    *("outputs", "data_dir", "force", "tracking", "tracking_uri", "figures", "tags", "jobs"),
    *("metric", "progress", "max_cells", "seed"),
)
MARKDOWN_CELLS = ("says", "sweeping")  # ids of the cells with text
WIDTH = 96  # characters of a line of code
MAX_VALUES = 3  # of the example sweep
_LOW_PRIORITY = (  # knobs of the method, which are less interesting to vary
    *("tol", "iterations", "max_iter", "repetitions", "restarts", "draws", "samples", "show"),
    *("low", "high", "shift", "scale"),
)


def main(options: argparse.Namespace) -> int:
    """Write the notebook; a different existing file is replaced only with `--force`."""
    name = require_result(options.name)
    text = build_notebook(name, options.outputs)
    if options.output == "-":
        sys.stdout.write(text)
        return OK
    file_name = f"{name.replace('/', '-')}.ipynb"
    path = Path(options.output or file_name).expanduser()
    if path.is_dir():
        path /= file_name
    if path.exists() and path.read_bytes() != text.encode() and not options.force:
        raise InputError(
            f"{path} exists and differs; use -o FILE for another file or --force to replace it"
        )
    path.write_text(text, encoding="utf-8")
    console.print_text(f"{path}\n")
    return OK


def build_notebook(name: str, outputs: str | None = None) -> str:
    """The text of a result's notebook, whose runs are recorded in the `outputs` folder."""
    check_parameters(name)
    parts = _cells(name, load_job(name), outputs)
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
    if cell_id in MARKDOWN_CELLS:
        return {**cell, "cell_type": "markdown"}
    return {**cell, "cell_type": "code", "execution_count": None, "outputs": []}


def _cells(name: str, job: Job, outputs: str | None) -> Iterator[tuple[str, str]]:
    outputs_argument = f", outputs={outputs!r}" if outputs else ""
    yield "says", _intro_text(name, job)
    yield "import", "from bythebook import run, sweep"
    yield "knobs", _knobs(job)
    yield "run", f'result = run("{name}", seed=seed, **knobs{outputs_argument})\nresult'
    yield "claims", 'result.claims[["claim", "printed", "computed", "evidence", "verdict"]]'
    yield "numbers", "result.frame()  # all quantities; result.frame(name) is one of them"
    knob, values = suggest_sweep(job)
    over = f"the knob `{_key(knob)}`" if knob != "seed" else "the seed"
    yield (
        "sweeping",
        f"## A sweep\n\nA knob with a list of values is swept. This cell sweeps over {over}."
        " With `seed=range(20)` each combination is run 20 times, and the table has standard"
        " errors.",
    )
    metric = _metric(job)
    assignment = f"metric = {_literal(metric)}\n" if metric else ""
    arguments = (", metric=metric" if metric else "") + outputs_argument
    if knob == "seed":
        call = _sweep_call(name, f"seed={_literal(values)}, **knobs{arguments}")
        yield "sweep", f"{assignment}{call}"
        return
    begin = f'values = {{"{_key(knob)}": '
    swept = f"{begin}{_literal(values, len(begin))}}}\n"
    call = _sweep_call(name, f"seed=seed, **knobs | values{arguments}")
    yield "sweep", f"{swept}{assignment}{call}"


def _sweep_call(name: str, arguments: str) -> str:
    """The lines that run a sweep and display it."""
    line = f'swept = sweep("{name}", {arguments})'
    if len(line) > WIDTH:
        line = f'swept = sweep(\n    "{name}", {arguments}\n)'
    return f"{line}\nswept"


def _intro_text(name: str, job: Job) -> str:
    """Title, source and claims in Markdown."""
    source = job.source
    book = catalogue.BOOKS.get(source.book, source.book)
    section = f", section {escape_markdown(source.section)}" if source.section else ""
    lines = [
        f"# {escape_markdown(source.item or name)}: {escape_markdown(source.title)}",
        "",
        f"*{escape_markdown(book)}*{section} (`{name}`)",
        "",
    ]
    for other in source.also:
        title = ", ".join(filter(None, [catalogue.BOOKS[other.book], other.section, other.item]))
        lines += [f"Also in {escape_markdown(title)}.", ""]
    if source.note:
        lines += [escape_markdown(source.note), ""]
    study = type(job.study)
    lines += [f"Computed by the study `{study.name}`: {escape_markdown(study.__doc__ or '')}", ""]
    if job.claims:
        lines += ["## Claims", ""]
        lines += [f"- {_claim(claim)}" for claim in job.claims]
    return "\n".join(lines).rstrip()


def _claim(claim: Claim) -> str:
    """A claim with its expression, printed value, expected verdict and explanation."""
    derived = claim.origin == "derived"
    origin, word = (" (derived check)", "reference") if derived else ("", "printed")
    printed = f"; {word} {escape_markdown(claim.printed)}" if claim.printed else ""
    expected = f" **{escape_markdown(claim.expect)}**" if claim.expect else ""
    why = f": {escape_markdown(claim.why)}" if claim.expect and claim.why else ""
    expression = inline_code(claim.expression)
    return f"{escape_markdown(claim.says)}{origin}: {expression}{printed}{expected}{why}"


def _knobs(job: Job) -> str:
    """The knobs as a dict to edit, each below a comment with its meaning."""
    lines = ["# The published settings. Change them and run the cells below again."]
    values = dataclasses.asdict(job.study)
    if not all(math.isfinite(number) for number in _numbers(values)):
        lines.append("from math import inf, nan\n")
    lines.append("knobs = {")
    for entry in dataclasses.fields(job.study):
        meaning = f"{entry.metadata['doc']} ({describe_constraints(entry)})"
        comment = textwrap.wrap(" ".join(meaning.split()), WIDTH - 6, break_on_hyphens=False)
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
    """The name of a knob in the call: its full name if the short one is a keyword."""
    return f"study.{knob}" if knob in KEYWORDS else knob


def _literal(value: Any, indent: int = 0) -> str:
    """A value as a Python literal; a list that is too long for a line is wrapped."""
    text = _on_a_line(value)
    if len(text) + indent <= WIDTH or not isinstance(value, list | dict | str):
        return text
    if isinstance(value, str):
        return _wrap_string(value, indent + 1)
    inner, lines = indent + 1, [""]
    for name, entry in _entries(value):
        part = name + _on_a_line(entry)
        if lines[-1] and inner + len(lines[-1]) + len(part) > WIDTH:
            lines.append("")
        if inner + len(part) > WIDTH:  # the entry itself is too long for a line
            part = name + _literal(entry, inner + len(name))
        lines[-1] += f"{part}, "
    inside = f"\n{' ' * inner}".join(line.rstrip() for line in lines).removesuffix(",")
    return text[0] + inside + text[-1]


def _wrap_string(text: str, indent: int) -> str:
    """A text as adjacent string literals, which Python concatenates."""
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
    """Each entry of a list or mapping with the text before it: the key, or nothing."""
    if isinstance(value, list):
        return [("", entry) for entry in value]
    return [(f"{_on_a_line(key)}: ", entry) for key, entry in value.items()]


def _expanded(text: str, claim: Claim) -> str:
    """The expression with the names of the file's `let` replaced: a sweep has no `let`."""
    return ast.unparse(expand(text, claim.let)) if claim.let else text


def _metric(job: Job) -> str | None:
    """The metric of the sweep: the first claimed number, else a claimed condition.

    None selects the study's main metric. It is used if there is no claimed number and the claims
    use the quantities of a main metric; with some knobs a study does not compute all quantities.
    """
    numbers = [_expanded(claim.value, claim) for claim in job.claims if claim.value]
    claims = [claim for claim in job.claims if claim.equation is None]
    claimed = {name for claim in claims for name in claim.quantities}
    if not numbers and any(
        quantity_names(metric) <= claimed for metric in job.study.headline.values()
    ):
        return None
    conditions = [claim for claim in job.claims if claim.holds and not claim.quantifier]
    expressions = numbers or [_expanded(claim.holds or "", claim) for claim in conditions]
    return next((text for text in expressions if len(text) < WIDTH - 10), None)


def suggest_sweep(job: Job) -> tuple[str, list[Any]]:
    """A knob to sweep and some valid values near the published one; else the seed.

    The knobs that the result's file sets are important for the result and come first.
    """
    body = catalogue.load_experiment(job.experiment).body if job.experiment else {}
    file_knobs = body.get("study", {})

    def rank(entry: "dataclasses.Field[Any]") -> tuple[bool, bool, int]:
        return entry.name not in file_knobs, entry.name in _LOW_PRIORITY, _type_rank(entry)

    for entry in sorted(dataclasses.fields(job.study), key=rank):
        near = _nearby_values(entry, getattr(job.study, entry.name))
        values = [value for value in near if _is_valid(job, entry.name, value)][:MAX_VALUES]
        if len(values) > 1:
            return entry.name, values
    return "seed", [0, 1, 2]


def _type_rank(entry: "dataclasses.Field[Any]") -> int:
    """Numbers first, then choices, then data sets."""
    kinds = (float, int)
    return kinds.index(entry.type) if entry.type in kinds else 3 if entry.metadata["dataset"] else 2


def _nearby_values(entry: "dataclasses.Field[Any]", value: Any) -> list[Any]:
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


def _is_valid(job: Job, knob: str, value: Any) -> bool:
    try:
        dataclasses.replace(job.study, **{knob: value})
    except InputError:
        return False
    return True
