"""The experiment files: what there is, and what each says, read as plain YAML (no Hydra needed)."""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from experiments.contract.errors import BadInput
from experiments.contract.whole import content

BOOKS = {
    "fcml": "A First Course in Machine Learning",
    "prml": "Pattern Recognition and Machine Learning",
    "mlapp": "Machine Learning: a Probabilistic Perspective",
    "ghahramani": "Unsupervised Learning",
    "notes": "Notes of PRML",
}

LARGEST, ALIASES = 200_000, 20  # bytes and aliases of an experiment file
PARTS, DEPTH, NUMBER = 50_000, 40, 10**300  # of what it says: values, levels, the largest integer
SCIENCE = ("study", "seed", "source", "claims", "metric")  # what a file may state
_OF_THE_READER = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
_PLAIN = (str, int, float, bool, type(None))
# How our files begin, and the values in them that stand for themselves in YAML.
_HEAD = re.compile(
    r"# @package _global_\n(?:#.*\n)*"
    r"defaults:\n  - override /study: ([a-z]+(?:_\w+)*)\n\n?source:\n((?:  .*\n)+)"
)
_UNCLOSED = re.compile(r"""["'\[{](?!.*["'\]}]$)""")
_QUOTED, _WORDS = re.compile(r'"([^"\\]*)"'), re.compile(r"([A-Za-z\d][^:#]* [^:#]*[^:#\s])")
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Strict(_Loader):  # type: ignore[misc,valid-type]
    """A key given twice is a slip of the pen; YAML would silently keep the last."""

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        keys = Counter(str(key.value) for key, _ in node.value)
        twice = [key for key, times in keys.items() if times > 1]
        if twice:
            raise yaml.constructor.ConstructorError(
                None, None, f"key given twice: {', '.join(sorted(twice))}", node.start_mark
            )
        return super().construct_mapping(node, deep)


# YAML 1.1 reads 1e-3 as a string; Hydra reads a number, and so do we.
_Strict.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?(\d+(\.\d*)?|\.\d+)[eE][-+]?\d+$"),
    list("-+0123456789."),
)


def _root() -> Path:
    installed = Path(__file__).parents[1] / "conf"
    return installed if installed.is_dir() else Path(__file__).parents[3] / "conf"


ROOT = _root()


@dataclass
class Entry:
    """One experiment file."""

    name: str  # fcml/fig-1.15
    path: str
    study: str
    body: dict[str, Any]  # all but the defaults list

    @property
    def source(self) -> dict[str, Any]:
        return dict(self.body.get("source", {}))


@dataclass(frozen=True)
class Heading:
    """What a list tells of an experiment."""

    study: str
    section: str
    item: str
    title: str


@cache
def names() -> list[str]:
    """Every experiment, book by book, in the order of the books' numbering."""
    folder = ROOT / "experiment"
    found = [path.relative_to(folder).with_suffix("") for path in folder.glob("*/*.yaml")]
    return sorted((path.as_posix() for path in found), key=_book_order)


def _book_order(name: str) -> tuple[Any, ...]:
    book, _, result = name.partition("/")
    place = list(BOOKS).index(book) if book in BOOKS else len(BOOKS)
    # Numbers in numeric order, whatever stands before them: fig-1.9 comes before fig-1.10.
    numbers = [int(part) for part in re.findall(r"\d+", result)]
    numbered = re.search(r"\d+\.\d", result) is not None and not re.search(r"\b[a-z]\.\d", result)
    return (place, not numbered, numbers, result)  # appendices and the unnumbered come last


def read(name: str) -> Entry:
    """One of our files."""
    if name not in names():
        raise BadInput(f"there is no experiment '{name}'; `bythebook list` shows them all")
    return read_file(ROOT / "experiment" / f"{name}.yaml", name)


def heading(name: str) -> Heading:
    """The first lines of one of our files; all of it is only read where these leave any doubt."""
    if name in names():
        with suppress(OSError, UnicodeDecodeError):
            path = ROOT / "experiment" / f"{name}.yaml"
            found = _scanned(content(path, LARGEST).decode())
            if found is not None:
                return found
    entry = read(name)
    told = (str(entry.source.get(key, "")) for key in ("section", "item", "title"))
    return Heading(entry.study, *told)


def _scanned(text: str) -> Heading | None:
    """The heading as YAML would read it, or None: a list of hundreds has no time for YAML."""
    head = _HEAD.match(text)
    if head is None:
        return None
    lines = [line[2:].partition(": ") for line in head[2].splitlines()]
    if any(_UNCLOSED.match(value) for _, _, value in lines):
        return None
    keys, values = [key for key, _, _ in lines], []
    for wanted in ("section", "item", "title"):
        if keys.count(wanted) != 1:
            return None
        place = keys.index(wanted)
        value = lines[place][2]
        plain = _QUOTED.fullmatch(value) or _WORDS.fullmatch(value)
        goes_on = place + 1 < len(keys) and not keys[place + 1][:1].isalpha()
        if plain is None or goes_on or not value.isprintable():
            return None
        values.append(plain[1])
    return Heading(head[1], *values)


def strict_yaml(path: Path, opening: str = "") -> Any:
    """The content of a file that opens so: of bounded size and depth, no key twice, few aliases."""
    try:
        text = content(path, LARGEST).decode()
        if "&" in text:  # a few lines of aliases of aliases can stand for gigabytes
            events = yaml.parse(text, _Loader)
            if sum(isinstance(event, yaml.AliasEvent) for event in events) > ALIASES:
                raise BadInput(f"{path.name} has more than {ALIASES} aliases")
        body = yaml.load(text, Loader=_Strict)  # noqa: S506
    except OSError as error:
        raise BadInput(f"{path.name} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path.name} is not text in UTF-8: {error}") from error
    except (yaml.YAMLError, RecursionError, *_OF_THE_READER) as error:
        raise BadInput(f"{path.name}: {' '.join(str(error).split())}") from error
    for problem in _unbounded(body):
        raise BadInput(f"{path.name}: {problem}")
    if not text.startswith(opening):
        raise BadInput(f"{path.name} does not begin with `{opening.strip()}`")
    return body


def _unbounded(body: Any) -> Iterator[str]:
    """What is no plain value, or more than any result states; what aliases stand for counts."""
    left, level = [body], 0
    count = 0
    while left:
        count += len(left)
        if count > PARTS:
            yield f"it states more than {PARTS:,} values"
            return
        if level > DEPTH:
            yield f"it is nested more than {DEPTH} levels deep"
            return
        below: list[Any] = []
        for value in left:
            if isinstance(value, dict):
                below += [*value, *value.values()]
            elif isinstance(value, list):
                below += value
            elif type(value) is int and abs(value) >= NUMBER:
                yield "it states a number with more than 300 digits"
            elif not isinstance(value, _PLAIN):
                yield f"it states what is no plain value ({type(value).__name__})"
        left, level = below, level + 1


def read_file(path: Path, name: str) -> Entry:
    """A file, checked for the shape that every experiment file has."""
    body = strict_yaml(path, "# @package _global_\n")
    stated = body.pop("defaults", []) if isinstance(body, dict) else []
    defaults = stated if isinstance(stated, list) else []
    chosen = [d.get("override /study") for d in defaults if isinstance(d, dict)]
    if len(defaults) != 1 or len(chosen) != 1 or not isinstance(chosen[0], str):
        raise BadInput(f"{path.name}: defaults must be [override /study: <name>] and nothing else")
    return Entry(name, f"experiment/{name}.yaml", chosen[0], body)
