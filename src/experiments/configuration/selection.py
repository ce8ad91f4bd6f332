"""Which results are meant: books, chapters, patterns, studies, topics, words.

    fcml  fcml/1  fcml/fig-1.15  fcml/fig-1.*  study:ridge_path  topic:chains  verdict:erratum

Places, studies and topics add up; `verdict:` and words to search for narrow down what these select.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from experiments.configuration import catalogue
from experiments.configuration.catalogue import BOOKS, Entry
from experiments.contract.errors import BadInput
from experiments.contract.places import places, topic
from experiments.contract.suggestions import meant
from experiments.contract.verdicts import STANDINGS

FORMS = (
    "a book (fcml), a chapter (fcml/1), a result (fcml/fig-1.15), a pattern ('fcml/fig-1.*'),"
    " study:<name>, topic:<name> or verdict:<verdict>"
)
VERDICT = "verdict:"
# One spelling for both: -isation and -ization, behaviour and behavior, modelling and modeling.
SPELLINGS = (("z", "s"), ("our", "or"), ("ll", "l"), ("tre ", "ter "))

Standings = Callable[[Sequence[str]], Mapping[str, Mapping[str, int] | None]]


def select(
    words: Sequence[str], search: str | None = None, standings: Standings | None = None
) -> list[str]:
    """Names from the words of a selection; all where there are none.

    `standings` tells how the last runs came out, for `verdict:`.
    """
    wanted = [_verdict(word) for word in words if word.startswith(VERDICT)]
    chosen: dict[str, None] = {}
    for word in words:
        if not word.startswith(VERDICT):
            chosen |= dict.fromkeys(_named(word))
    names = list(chosen) if len(wanted) < len(words) else catalogue.names()
    if wanted and standings is not None:
        last = standings(names)
        names = [name for name in names if any((last[name] or {}).get(v) for v in wanted)]
    if search:
        names = [name for name in names if found(search, catalogue.read(name))]
        if not names:
            raise BadInput(f"--search '{search}' finds nothing; fewer or other words may")
    return names


def found(search: str, entry: Entry) -> bool:
    """Are all the words in what the file says? British and American spellings are the same."""
    said = [str(claim.get("says", "")) for claim in entry.body.get("claims", [])]
    parts = [entry.name, entry.study, topic(entry.study), *map(str, entry.source.values()), *said]
    text = plain(" ".join(parts))
    return all(word in text for word in plain(search).split())


def plain(text: str) -> str:
    """Words as they are compared: small letters, no underscores, one spelling."""
    text = f"{text.lower().replace('_', ' ')} "
    for other, ours in SPELLINGS:
        text = text.replace(other, ours)
    return text


def _named(word: str) -> list[str]:
    kind, colon, value = word.partition(":")
    if colon and kind in ("study", "topic"):
        return _by_study(kind, value)
    names = catalogue.names()
    if word in names:
        return [word]
    book, _, rest = word.partition("/")
    chapter = re.fullmatch(r"(?:ch(?:apter)?[-.]?)?(\d*)/?", rest)
    if book in BOOKS and chapter:
        mine = [name for name in names if name.startswith(f"{book}/")]
        chosen = [name for name in mine if chapter[1] in ("", _chapter(name))]
    else:
        chosen = [name for name in names if fnmatchcase(name, word)] if _is_pattern(word) else []
    if not chosen:
        raise BadInput(f"'{word}' selects nothing{meant(word, names)}; allowed: {FORMS}")
    return chosen


def _by_study(kind: str, value: str) -> list[str]:
    known = list(places()) if kind == "study" else sorted({topic(study) for study in places()})
    if value not in known:
        near = meant(value, known) or _begins(value, known)
        raise BadInput(f"there is no {kind} '{value}'{near}; allowed: {', '.join(known)}")
    of = {name: catalogue.heading(name).study for name in catalogue.names()}
    return [n for n, study in of.items() if value == (study if kind == "study" else topic(study))]


def _begins(value: str, known: Iterable[str]) -> str:
    fits = [name for name in known if value and name.startswith(value)]
    return f" (did you mean '{fits[0]}'?)" if fits else ""


def _chapter(name: str) -> str:
    """The number that a result's section begins with."""
    stated = re.match(r"\d+", catalogue.heading(name).section)
    return stated[0] if stated else ""


def _is_pattern(word: str) -> bool:
    return bool(set(word) & set("*?["))


def _verdict(word: str) -> str:
    name = word.removeprefix(VERDICT).replace("-", " ")
    if name not in STANDINGS:
        allowed = ", ".join(standing.replace(" ", "-") for standing in STANDINGS)
        raise BadInput(f"there is no verdict '{name}'{meant(name, STANDINGS)}; allowed: {allowed}")
    return name
