"""`bythebook completion`: tab completion for bash and zsh."""

import argparse
import dataclasses

from experiments.commands.codes import OK
from experiments.configuration import catalogue

_VERBS = (
    "completion",
    "diff",
    "figures",
    "list",
    "report",
    "reproduce",
    "robustness",
    "run",
    "runs",
    "server",
    "show",
    "sync",
    "tables",
    "ui",
    "verify",
)

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
    if not before:
        options = list(_VERBS)
    elif before[0] == "run":
        options = _run_words(before[1:], last)
    elif before[0] in ("figures", "list", "reproduce", "report", "show", "tables"):
        options = [*catalogue.BOOKS, *catalogue.names()]
    elif before[0] == "completion":
        options = ["bash", "zsh"]
    else:
        options = []
    return [option for option in options if option.startswith(last)]


def _run_words(before: list[str], last: str) -> list[str]:
    name, equals, _ = last.partition("=")
    if name == "experiment" and equals:
        return [f"experiment={name}" for name in catalogue.names()]
    if name == "tracking" and equals:
        return [f"tracking={kind}" for kind in ("local", "server", "off")]
    from experiments.configuration.schema import Root
    from experiments.contract.study import studies

    if name == "study" and equals:
        return [f"study={name}" for name in studies()]
    chosen = [word.partition("=")[2] for word in before if word.startswith("study=")]
    chosen += [
        catalogue.read(word.partition("=")[2]).study
        for word in before
        if word.startswith("experiment=") and word.partition("=")[2] in catalogue.names()
    ]
    knobs = dataclasses.fields(studies()[chosen[0]]) if chosen and chosen[0] in studies() else ()
    for knob in knobs:
        if name == f"study.{knob.name}" and equals:
            return [f"{name}={choice}" for choice in knob.metadata["choices"]]
    settings = [field.name for field in dataclasses.fields(Root)]
    plain = [s for s in settings if s not in ("source", "claims", "data")]
    return ["-m", "experiment=", *(f"{s}=" for s in plain), *(f"study.{k.name}=" for k in knobs)]
