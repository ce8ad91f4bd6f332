"""Selections of results by book, chapter, pattern, study, topic, verdict and search words.

    fcml  fcml/1  fcml/fig-1.15  fcml/fig-1.*  study:ridge_path  topic:chains  verdict:erratum

Books, chapters, results, studies and topics are combined by union; verdicts and search words then
restrict the union.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from bythebook.experiments.config import catalogue
from bythebook.experiments.config.catalogue import BOOKS, ExperimentFile
from bythebook.experiments.config.result_names import find_result
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.registry import study_topics, topic_of
from bythebook.experiments.core.suggestions import did_you_mean
from bythebook.experiments.core.verdicts import CATEGORIES

SYNTAX_HELP = (
    "a book (fcml), a chapter (fcml/1), a result (fcml/fig-1.15), a pattern ('fcml/fig-1.*'),"
    " study:<name>, topic:<name> or verdict:<verdict>"
)
VERDICT = "verdict:"
# American and British spelling: -ization and -isation, behavior and behaviour, modeling, center.
SPELLING_VARIANTS = (("z", "s"), ("our", "or"), ("ll", "l"), ("tre ", "ter "))

VerdictLookup = Callable[[Sequence[str]], Mapping[str, Mapping[str, int] | None]]


def select_experiments(
    words: Sequence[str], search: str | None = None, verdict_lookup: VerdictLookup | None = None
) -> list[str]:
    """The names of the selected results; all results for an empty selection.

    `verdict_lookup` returns the verdict counts of the latest runs, for `verdict:`.
    """
    wanted = [_verdict(word) for word in words if word.startswith(VERDICT)]
    chosen: dict[str, None] = {}
    for word in words:
        if not word.startswith(VERDICT):
            chosen |= dict.fromkeys(_expand_term(word))
    names = list(chosen) if len(wanted) < len(words) else catalogue.experiment_names()
    if wanted and verdict_lookup is not None:
        counts = verdict_lookup(names)
        names = [name for name in names if any((counts[name] or {}).get(v) for v in wanted)]
    if search:
        names = [name for name in names if search_results(search, catalogue.load_experiment(name))]
        if not names:
            raise InputError(f"--search '{search}': no result contains all of these words")
    return names


def search_results(search: str, entry: ExperimentFile) -> bool:
    """Whether a file contains all words, in British or American spelling."""
    sentences = [str(claim.get("says", "")) for claim in entry.body.get("claims", [])]
    parts = [
        entry.name,
        entry.study,
        topic_of(entry.study),
        *map(str, entry.source.values()),
        *sentences,
    ]
    text = normalise_text(" ".join(parts))
    return all(word in text for word in normalise_text(search).split())


def normalise_text(text: str) -> str:
    """The text in lower case, without underscores and in one spelling."""
    text = f"{text.lower().replace('_', ' ')} "
    for variant, replacement in SPELLING_VARIANTS:
        text = text.replace(variant, replacement)
    return text


def _expand_term(word: str) -> list[str]:
    kind, colon, value = word.partition(":")
    if colon and kind in ("study", "topic"):
        return _select_by_study(kind, value)
    names = catalogue.experiment_names()
    if word in names:
        return [word]
    book, _, rest = word.partition("/")
    chapter = re.fullmatch(r"(?:ch(?:apter)?[-.]?)?(\d*)/?", rest)
    if book in BOOKS and chapter:
        in_book = [name for name in names if name.startswith(f"{book}/")]
        selected = [name for name in in_book if chapter[1] in ("", _chapter(name))]
    else:
        selected = [name for name in names if fnmatchcase(name, word)] if _is_pattern(word) else []
    if selected:
        return selected
    result = find_result(word)
    if result is None:
        raise InputError(
            f"'{word}' matches no result{did_you_mean(word, names)}; allowed: {SYNTAX_HELP}"
        )
    return [result]


def _select_by_study(kind: str, value: str) -> list[str]:
    known = (
        list(study_topics())
        if kind == "study"
        else sorted({topic_of(study) for study in study_topics()})
    )
    if value not in known:
        hint = did_you_mean(value, known) or _prefix_hint(value, known)
        raise InputError(f"there is no {kind} '{value}'{hint}; allowed: {', '.join(known)}")
    by_name = {name: catalogue.load_heading(name).study for name in catalogue.experiment_names()}
    return [
        name
        for name, study in by_name.items()
        if value == (study if kind == "study" else topic_of(study))
    ]


def _prefix_hint(value: str, known: Iterable[str]) -> str:
    matches = [name for name in known if value and name.startswith(value)]
    return f" (did you mean '{matches[0]}'?)" if matches else ""


def _chapter(name: str) -> str:
    """The leading number of a result's section; empty for an appendix."""
    number = re.match(r"\d+", catalogue.load_heading(name).section)
    return number[0] if number else ""


def _is_pattern(word: str) -> bool:
    return bool(set(word) & set("*?["))


def _verdict(word: str) -> str:
    name = word.removeprefix(VERDICT).replace("-", " ")
    if name not in CATEGORIES:
        allowed = ", ".join(category.replace(" ", "-") for category in CATEGORIES)
        raise InputError(
            f"there is no verdict '{name}'{did_you_mean(name, CATEGORIES)}; allowed: {allowed}"
        )
    return name
