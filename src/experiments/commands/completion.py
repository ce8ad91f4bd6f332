"""`bythebook completion`: tab completion for bash and zsh."""

import argparse
import dataclasses
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from experiments.commands.codes import OK
from experiments.commands.parser import parser_and_verbs
from experiments.configuration import catalogue
from experiments.configuration.paths import outputs_folder
from experiments.contract.places import places
from experiments.contract.verdicts import STANDINGS

if TYPE_CHECKING:
    from experiments.contract.study import Study

# The shells cut words at = and :, so both are handed the whole line and cut the answer back.
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
    local -a found
    found=("${(@f)$(bythebook complete "${BUFFER[1,CURSOR]}")}")
    compadd -S '' -- $found
}
compdef _bythebook bythebook
"""


def main(options: argparse.Namespace) -> int:
    """Print the script; `eval "$(bythebook completion bash)"` installs it."""
    print(_BASH if options.shell == "bash" else _ZSH, end="")
    return OK


def answer(arguments: list[str]) -> int:
    """The candidates for the last word of a line, one a line."""
    words = " ".join(arguments).split(" ")[1:]
    for candidate in candidates(words):
        print(candidate)
    return OK


def candidates(words: list[str]) -> list[str]:
    """What may stand in place of the last word."""
    *before, last = words or [""]
    _, verbs = parser_and_verbs()
    if not before:
        options = sorted(verbs)
    elif before[0] == "run":
        options = _run_words(before[1:], last)
    elif before[0] in verbs:
        options = _words(verbs[before[0]], before[0], before[-1], last)
    else:
        options = []
    return [option for option in options if option.startswith(last)]


def _words(parser: argparse.ArgumentParser, verb: str, previous: str, last: str) -> list[str]:
    """Flags where one is begun, the values of the flag before, else what is selected."""
    flags = {flag: action for action in parser._actions for flag in action.option_strings}
    if last.startswith("-"):
        return sorted(flag for flag in flags if flag.startswith("--"))
    if previous in flags and flags[previous].nargs != 0:
        return _VALUES.get((verb, previous), _VALUES.get(("", previous), []))
    fixed = [choice for action in parser._actions[1:] for choice in action.choices or ()]
    kinds = _SELECTED.get(verb, ())
    return fixed + [word for kind in kinds for word in _KINDS[kind](last)]


_VALUES = {
    ("figures", "--format"): ["png", "pdf", "svg"],
    ("report", "--format"): ["pdf,png", "pdf", "png"],
    ("tables", "--format"): ["csv", "md", "latex"],
    ("", "--style"): ["screen", "print"],
    ("", "--tracking"): ["local", "server", "off"],
}
_RESULTS = ("places", "prefixed")
_SELECTED: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("reproduce", "robustness", "report", "explore"), _RESULTS),
    "list": (*_RESULTS, "sweeps"),
    "notebook": ("places",),
    "show": ("places", "studies", "swept"),
    "runs": (*_RESULTS, "swept"),
    "tables": (*_RESULTS, "swept"),
    "figures": (*_RESULTS, "swept", "recorded"),
    "verify": ("runs",),
    "diff": ("runs", "places"),
    "ui": ("bare_studies",),
}


def _places(last: str) -> list[str]:
    """Books, then their chapters and results once a book is begun."""
    if "/" not in last:
        return [*catalogue.BOOKS, *catalogue.names()]
    book = last.partition("/")[0]
    mine = [name for name in catalogue.names() if name.startswith(f"{book}/")]
    chapters = dict.fromkeys(f"{book}/{chapter}" for chapter in map(_chapter, mine) if chapter)
    return [*chapters, *mine]


def _chapter(name: str) -> str:
    stated = re.match(r"\d+", catalogue.heading(name).section)
    return stated[0] if stated else ""


def _prefixed(last: str) -> list[str]:
    """`study:`, `topic:` and `verdict:`, with their names once they are begun."""
    kind, colon, _ = last.partition(":")
    if not colon:
        return ["study:", "topic:", "verdict:"]
    names = {
        "study": list(places()),
        "topic": sorted(set(places().values())),
        "verdict": [standing.replace(" ", "-") for standing in STANDINGS],
    }
    return [f"{kind}:{name}" for name in names.get(kind, [])]


def _folders(pattern: str, prefix: str, most: int = 500) -> list[str]:
    """The names of recorded folders, the newest first."""
    found = list(outputs_folder(None).glob(pattern))[: 20 * most]
    newest = sorted(found, key=lambda path: -path.stat().st_mtime_ns)
    return [f"{prefix}{path.parent.name}" for path in newest[:most]]


_KINDS: dict[str, Callable[[str], list[str]]] = {
    "places": _places,
    "prefixed": _prefixed,
    "studies": lambda _: [f"study:{name}" for name in places()],
    "bare_studies": lambda _: list(places()),
    "sweeps": lambda _: ["sweeps"],
    "swept": lambda _: _folders("sweeps/*/sweep.json", "sweep:"),
    "runs": lambda _: _folders("runs/*/*/[!.]*/run.json", ""),
    "recorded": lambda last: (
        _folders("runs/*/*/[!.]*/run.json", "run:") if last.startswith("run:") else ["run:"]
    ),
}


def _run_words(before: list[str], last: str) -> list[str]:
    name, equals, _ = last.partition("=")
    if name == "experiment" and equals:
        return [f"experiment={name}" for name in catalogue.names()]
    if name == "tracking" and equals:
        return [f"tracking={kind}" for kind in ("local", "server", "off")]
    if name == "study" and equals:
        return [f"study={name}" for name in places()]
    if last.startswith("-"):
        return ["-m", "--multirun", "--dry-run", "--outputs", "--tag", "--cfg", "--config-dir"]
    from experiments.configuration.schema import Root
    from experiments.contract.study import studies

    known = catalogue.names()
    chosen = [word.partition("=")[2] for word in before if word.startswith("study=")]
    stated = [word.removeprefix("experiment=") for word in before]
    chosen += [catalogue.heading(word).study for word in stated if word in known]
    study = studies().get(chosen[0]) if chosen else None
    knobs = dataclasses.fields(study) if study is not None else ()
    if name == "metric" and equals and study is not None:
        return [f"metric={quantity}" for quantity in _metrics(study)]
    for knob in knobs:
        if name == f"study.{knob.name}" and equals:
            return [f"{name}={choice}" for choice in _choices(knob)]
    settings = [field.name for field in dataclasses.fields(Root)]
    plain = [s for s in settings if s not in ("source", "claims", "data")]
    named = [] if chosen else [*_places(last), "experiment="]
    return [*named, *(f"{s}=" for s in plain), *(f"study.{k.name}=" for k in knobs)]


def _choices(knob: "dataclasses.Field[Any]") -> list[str]:
    """What a knob may be, where that is a list: its choices, the data sets of its kind."""
    kind = knob.metadata.get("dataset")
    if kind:
        from models import datasets

        return datasets.names(kind if isinstance(kind, str) else None)
    return [str(choice) for choice in knob.metadata.get("choices") or ()]


def _metrics(study: "type[Study]") -> list[str]:
    """What a list of its runs shows first, and the quantities of a run that is there."""
    from experiments.records.store import RunStore

    store = RunStore(outputs_folder(None))
    of_study = (name for name in catalogue.names() if catalogue.heading(name).study == study.name)
    found = next(filter(None, map(store.latest, of_study)), None)
    return [*study.headline, *(found.outcome if found is not None else ())]
