"""Results by their names: exact, a unique beginning, a former name, or another printed item.

prml/10.7.2          the result prml/10.7.2-ep-is-bp
prml/fig-10.10-tang  the result prml/fig-10.10, which had a longer name before
prml/ex-10.29        the result prml/fig-10.10, which covers Exercise 10.29 as well
"""

import logging
import re
from collections.abc import Iterator

from bythebook.experiments.config import catalogue
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.suggestions import did_you_mean

_LOG = logging.getLogger("bythebook")  # prints to standard error
_ITEMS = {
    "Figure": "fig",
    "Table": "tab",
    "Exercise": "ex",
    "Equation": "eq",
    "Algorithm": "alg",
    "Comment": "comment",
    "Listing": "listing",
}
MAX_NAMED = 8  # results in the message for an ambiguous beginning
_NUMBER = r"(?:[A-Z]\.)?\d+(?:\.\d+)*"


def find_result(word: str) -> str | None:
    """The result that a word names, if any; logs a line if the result has another name."""
    names = catalogue.experiment_names()
    if word in names:
        return word
    if not re.fullmatch(r"[a-z]+/[\w.-]+", word):
        return None
    name = _by_beginning(word, names) or _by_former_name(word, names) or _by_item(word, names)
    if name is not None:
        _LOG.warning("bythebook: %s is the result %s", word, name)
    return name


def require_result(word: str) -> str:
    """The result that a word names."""
    name = find_result(word)
    if name is None:
        raise InputError(unknown_result_message(word))
    return name


def unknown_result_message(word: str) -> str:
    """The message for a word that names no result."""
    names = catalogue.experiment_names()
    matches = [name for name in names if word and name.startswith(word)]
    if 1 < len(matches) <= MAX_NAMED:
        return f"'{word}' is the beginning of {len(matches)} results: {', '.join(matches)}"
    near = did_you_mean(word, names)
    return f"there is no result '{word}'{near}; `bythebook list` shows all {len(names)}"


def _by_beginning(word: str, names: list[str]) -> str | None:
    """The only result that begins with a word and has no digit after a final number of it.

    So fig-8.3 is not a beginning of fig-8.30.
    """
    rest = len(word) - 1
    matches = [n for n in names if n.startswith(word) and not re.match(r"\d.*?\d", n[rest:])]
    return matches[0] if len(matches) == 1 else None


def _by_former_name(word: str, names: list[str]) -> str | None:
    """The result of a former name, which had words after the item, or `table-` for `tab-`."""
    short = word.replace("/table-", "/tab-")
    while short not in names and "-" in short:
        short = short.rpartition("-")[0]
    return short if short in names else None


def _by_item(word: str, names: list[str]) -> str | None:
    book = word.partition("/")[0]
    covered = {
        name: [f"{book}/{item}" for item in printed_items(catalogue.load_heading(name).item)]
        for name in names
        if name.startswith(f"{book}/")
    }
    matches = [name for name, own in covered.items() if word in own]
    first = [name for name in matches if covered[name][0] == word]
    return next((group[0] for group in (first, matches) if len(group) == 1), None)


def printed_items(heading: str) -> Iterator[str]:
    """The items of a heading: fig-10.1 and fig-10.14 for "Figures 10.1 and 10.14"."""
    for kind, numbers in re.findall(
        rf"({'|'.join(_ITEMS)})s? \(?({_NUMBER}(?:(?:, | and | to |-){_NUMBER})*)", heading
    ):
        parts = re.findall(rf"({_NUMBER})|( to |-)", numbers)
        for index, (number, range_sign) in enumerate(parts):
            if number:
                yield f"{_ITEMS[kind]}-{number.lower()}"
            elif range_sign:
                yield from _between(_ITEMS[kind], parts[index - 1][0], parts[index + 1][0])


def _between(kind: str, first: str, last: str) -> Iterator[str]:
    """The items between two numbers of the same chapter."""
    chapter, _, low = first.rpartition(".")
    other, _, high = last.rpartition(".")
    if chapter == other:
        stem = f"{kind}-{chapter}." if chapter else f"{kind}-"
        for number in range(int(low) + 1, int(high)):
            yield f"{stem}{number}".lower()
