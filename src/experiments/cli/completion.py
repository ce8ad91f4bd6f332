"""`bythebook completion`: the completion scripts for bash and zsh, and the completions."""

import argparse
import dataclasses
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bythebook.experiments.cli.exit_codes import OK
from bythebook.experiments.cli.parser import build_parser
from bythebook.experiments.config import catalogue
from bythebook.experiments.config.paths import resolve_output_dir
from bythebook.experiments.core.equations import book_equations, books
from bythebook.experiments.core.registry import study_topics
from bythebook.experiments.core.verdicts import CATEGORIES

if TYPE_CHECKING:
    from bythebook.experiments.core.study import Study

MAX_SCANNED = 10_000  # recorded folders that are sorted by time
MAX_FOLDERS = 500  # recorded folders among the completions
# Bash and zsh split words at = and :. The scripts therefore pass the complete line.
_BASH = r"""_bythebook() {
    local line="${COMP_LINE:0:COMP_POINT}" IFS=$'\n'
    local word="${line##* }" prefix=""
    COMPREPLY=($(bythebook complete "$line"))
    [[ "$word" == *[=:]* ]] && prefix="${word%"${word##*[=:]}"}"
    COMPREPLY=("${COMPREPLY[@]#"$prefix"}")
    [[ ${#COMPREPLY[@]} == 1 && "${COMPREPLY[0]}" == *= ]] && compopt -o nospace
}
complete -F _bythebook bythebook
"""
_ZSH = r"""_bythebook() {
    local -a completions
    completions=("${(@f)$(bythebook complete "${BUFFER[1,CURSOR]}")}")
    compadd -S '' -- $completions
}
compdef _bythebook bythebook
"""


def main(options: argparse.Namespace) -> int:
    """Print the script of a shell; `eval "$(bythebook completion bash)"` installs it."""
    print(_BASH if options.shell == "bash" else _ZSH, end="")
    return OK


def print_completions(arguments: list[str]) -> int:
    """Print the completions of the last word of a command line, one per line."""
    words = " ".join(arguments).split(" ")[1:]
    for completion in completions(words):
        print(completion)
    return OK


def completions(words: list[str]) -> list[str]:
    """The completions of the last word."""
    *before, last = words or [""]
    _, commands = build_parser()
    if not before:
        candidates = sorted(commands)
    elif before[0] == "run":
        candidates = _run_words(before[1:], last)
    elif before[0] in commands:
        candidates = _argument_words(commands[before[0]], before[0], before[-1], last)
    else:
        candidates = []
    return [candidate for candidate in candidates if candidate.startswith(last)]


def _argument_words(
    parser: argparse.ArgumentParser, command: str, previous: str, last: str
) -> list[str]:
    """Flags after a hyphen, the values of the previous flag, else the arguments of the command."""
    flags = {flag: action for action in parser._actions for flag in action.option_strings}
    if last.startswith("-"):
        return sorted(flag for flag in flags if flag.startswith("--"))
    if previous in flags and flags[previous].nargs != 0:
        return _FLAG_VALUES.get((command, previous), _FLAG_VALUES.get(("", previous), []))
    fixed = [choice for action in parser._actions[1:] for choice in action.choices or ()]
    kinds = _ARGUMENT_KINDS.get(command, ())
    return fixed + [word for kind in kinds for word in _KINDS[kind](last)]


_FLAG_VALUES = {
    ("figures", "--format"): ["png", "pdf", "svg"],
    ("report", "--format"): ["pdf,png", "pdf", "png"],
    ("tables", "--format"): ["csv", "md", "latex"],
    ("", "--style"): ["screen", "print"],
    ("", "--tracking"): ["local", "server", "off"],
}
_SELECTION = ("results", "prefixes")
_ARGUMENT_KINDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("reproduce", "robustness", "report", "explore"), _SELECTION),
    "list": (*_SELECTION, "sweeps"),
    "notebook": ("results",),
    "equations": ("equations",),
    "show": ("results", "studies", "sweep_ids", "equations"),
    "runs": (*_SELECTION, "sweep_ids"),
    "tables": (*_SELECTION, "sweep_ids"),
    "figures": (*_SELECTION, "sweep_ids", "prefixed_run_ids"),
    "verify": ("run_ids",),
    "diff": ("run_ids", "results"),
    "ui": ("study_names",),
}


def _result_words(last: str) -> list[str]:
    """Books and results; after a slash the chapters and results of a book."""
    if "/" not in last:
        return [*catalogue.BOOKS, *catalogue.experiment_names()]
    book = last.partition("/")[0]
    names = [name for name in catalogue.experiment_names() if name.startswith(f"{book}/")]
    chapters = dict.fromkeys(f"{book}/{chapter}" for chapter in map(_chapter, names) if chapter)
    return [*chapters, *names]


def _chapter(name: str) -> str:
    match = re.match(r"\d+", catalogue.load_heading(name).section)
    return match[0] if match else ""


def _prefix_words(last: str) -> list[str]:
    """`study:`, `topic:` and `verdict:`; after a colon the names of that kind."""
    kind, colon, _ = last.partition(":")
    if not colon:
        return ["study:", "topic:", "verdict:"]
    names = {
        "study": list(study_topics()),
        "topic": sorted(set(study_topics().values())),
        "verdict": [standing.replace(" ", "-") for standing in CATEGORIES],
    }
    return [f"{kind}:{name}" for name in names.get(kind, [])]


def _equation_words(last: str) -> list[str]:
    """Books with equations; after a point or a slash the names or sections of a book."""
    book = re.match(r"[a-z]*", last)[0]  # type: ignore[index]
    if book == last or book not in books():
        return list(books())
    entries = book_equations(book).values()
    return [e.name for e in entries] + sorted({f"{book}/{e.section}" for e in entries})


def _folders(pattern: str, prefix: str) -> list[str]:
    """The names of recorded folders, the newest first."""
    paths = list(resolve_output_dir(None).glob(pattern))[:MAX_SCANNED]
    newest = sorted(paths, key=lambda path: -path.stat().st_mtime_ns)
    return [f"{prefix}{path.parent.name}" for path in newest[:MAX_FOLDERS]]


_KINDS: dict[str, Callable[[str], list[str]]] = {
    "results": _result_words,
    "prefixes": _prefix_words,
    "studies": lambda _: [f"study:{name}" for name in study_topics()],
    "equations": _equation_words,
    "study_names": lambda _: list(study_topics()),
    "sweeps": lambda _: ["sweeps"],
    "sweep_ids": lambda _: _folders("sweeps/*/sweep.json", "sweep:"),
    "run_ids": lambda _: _folders("runs/*/*/[!.]*/run.json", ""),
    "prefixed_run_ids": lambda last: (
        _folders("runs/*/*/[!.]*/run.json", "run:") if last.startswith("run:") else ["run:"]
    ),
}


def _run_words(before: list[str], last: str) -> list[str]:
    """Flags, results, settings and knobs for `run`; after `=` the values of a setting."""
    name, equals, _ = last.partition("=")
    if name == "experiment" and equals:
        return [f"experiment={name}" for name in catalogue.experiment_names()]
    if name == "tracking" and equals:
        return [f"tracking={kind}" for kind in ("local", "server", "off")]
    if name == "study" and equals:
        return [f"study={name}" for name in study_topics()]
    if last.startswith("-"):
        flags = ["-m", "--multirun", "--dry-run", "--verbose", "--outputs", "--tag"]
        return [*flags, "--cfg", "--config-dir"]
    from bythebook.experiments.config.schema import RunConfig
    from bythebook.experiments.core.study import studies

    known = catalogue.experiment_names()
    chosen = [word.partition("=")[2] for word in before if word.startswith("study=")]
    results = [word.removeprefix("experiment=") for word in before]
    chosen += [catalogue.load_heading(name).study for name in results if name in known]
    study = studies().get(chosen[0]) if chosen else None
    knobs = dataclasses.fields(study) if study is not None else ()
    if name == "metric" and equals and study is not None:
        return [f"metric={quantity}" for quantity in _metrics(study)]
    for knob in knobs:
        if name == f"study.{knob.name}" and equals:
            return [f"{name}={choice}" for choice in _choices(knob)]
    settings = [field.name for field in dataclasses.fields(RunConfig)]
    usable = [s for s in settings if s not in ("source", "claims")]
    names = [] if chosen else [*_result_words(last), "experiment="]
    return [*names, *(f"{s}=" for s in usable), *(f"study.{k.name}=" for k in knobs)]


def _choices(knob: "dataclasses.Field[Any]") -> list[str]:
    """The allowed values of a knob that has a list of them: choices, or data sets of a kind."""
    kind = knob.metadata.get("dataset")
    if kind:
        from bythebook.models import datasets

        return datasets.names(kind if isinstance(kind, str) else None)
    return [str(choice) for choice in knob.metadata.get("choices") or ()]


def _metrics(study: "type[Study]") -> list[str]:
    """The main metrics of a study, and the quantities of a recorded run."""
    from bythebook.experiments.store.run_store import RunStore

    store = RunStore(resolve_output_dir(None))
    of_study = (
        name
        for name in catalogue.experiment_names()
        if catalogue.load_heading(name).study == study.name
    )
    record = next(filter(None, map(store.latest_run, of_study)), None)
    return [*study.headline, *(record.outcome if record is not None else ())]
