"""Names, headings and contents of the experiment files, read as plain YAML without Hydra."""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from bythebook.experiments.core.atomic_files import read_limited
from bythebook.experiments.core.errors import InputError

BOOKS = {
    "fcml": "A First Course in Machine Learning",
    "prml": "Pattern Recognition and Machine Learning",
    "mlapp": "Machine Learning: a Probabilistic Perspective",
    "ghahramani": "Unsupervised Learning",
    "notes": "Notes of PRML",
}

# Limits of an experiment file.
MAX_FILE_BYTES = 200_000
MAX_ALIASES = 20
MAX_VALUES = 50_000  # values that aliases repeat are counted each time
MAX_DEPTH = 40
MAX_INTEGER = 10**300
EQUATIONS = "equations"  # the study of a file without `defaults`
ALLOWED_KEYS = ("study", "seed", "source", "let", "figures", "claims", "metric")
_PARSER_ERRORS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
_PLAIN_TYPES = (str, int, float, bool, type(None))
# The first lines of our files, and the scalars that YAML would read as they are written.
_HEAD = re.compile(
    r"# @package _global_\n(?:#.*\n)*"
    r"(?:defaults:\n  - override /study: ([a-z]+(?:_\w+)*)\n\n?)?source:\n((?:  .*\n)+)"
)
_EQUATION_CLAIM = re.compile(r"(?m)^ *(?:- )?\{?(?:.*, )?equation: ([a-z]+\.\w+)")
_UNCLOSED = re.compile(r"""["'\[{](?!.*["'\]}]$)""")
_QUOTED, _WORDS = re.compile(r'"([^"\\]*)"'), re.compile(r"([A-Za-z\d][^:#]* [^:#]*[^:#\s])")
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class StrictLoader(_Loader):  # type: ignore[misc,valid-type]
    """A YAML loader that refuses duplicate keys, of which YAML would keep the last."""

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        keys = Counter(str(key.value) for key, _ in node.value)
        duplicates = [key for key, times in keys.items() if times > 1]
        if duplicates:
            raise yaml.constructor.ConstructorError(
                None, None, f"duplicate key: {', '.join(sorted(duplicates))}", node.start_mark
            )
        return super().construct_mapping(node, deep)


# YAML 1.1 reads 1e-3 as a string; Hydra and this loader read a number.
StrictLoader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?(\d+(\.\d*)?|\.\d+)[eE][-+]?\d+$"),
    list("-+0123456789."),
)


def _find_conf_dir() -> Path:
    installed = Path(__file__).parents[2] / "conf"
    return installed if installed.is_dir() else Path(__file__).parents[3] / "conf"


CONF_DIR = _find_conf_dir()


@dataclass
class ExperimentFile:
    """One experiment file."""

    name: str  # fcml/fig-1.15
    path: str
    study: str
    body: dict[str, Any]  # all keys except `defaults`

    @property
    def source(self) -> dict[str, Any]:
        """The fields of `source` as they are in the file."""
        return dict(self.body.get("source", {}))


@dataclass(frozen=True)
class ExperimentHeading:
    """The fields of an experiment that lists show."""

    study: str
    section: str
    item: str
    title: str


@cache
def experiment_names() -> list[str]:
    """The names of all experiments, by book and in the order of the book's numbering."""
    folder = CONF_DIR / "experiment"
    paths = [path.relative_to(folder).with_suffix("") for path in folder.glob("*/*.yaml")]
    return sorted((path.as_posix() for path in paths), key=_book_order)


def _book_order(name: str) -> tuple[Any, ...]:
    book, _, result = name.partition("/")
    book_index = list(BOOKS).index(book) if book in BOOKS else len(BOOKS)
    # Numbers are compared as numbers: fig-1.9 comes before fig-1.10.
    numbers = [int(part) for part in re.findall(r"\d+", result)]
    numbered = re.search(r"\d+\.\d", result) is not None and not re.search(r"\b[a-z]\.\d", result)
    return (book_index, not numbered, numbers, result)  # appendices and the unnumbered are last


def load_experiment(name: str) -> ExperimentFile:
    """One of our experiment files."""
    if name not in experiment_names():
        raise InputError(f"there is no result '{name}'; `bythebook list` shows all results")
    return load_experiment_file(CONF_DIR / "experiment" / f"{name}.yaml", name)


def load_heading(name: str) -> ExperimentHeading:
    """The heading of one of our files, from its first lines or, if need be, from all of it."""
    if name in experiment_names():
        with suppress(OSError, UnicodeDecodeError):
            path = CONF_DIR / "experiment" / f"{name}.yaml"
            heading = _scan_heading(read_limited(path, MAX_FILE_BYTES).decode())
            if heading is not None:
                return heading
    file = load_experiment(name)
    values = (str(file.source.get(key, "")) for key in ("section", "item", "title"))
    return ExperimentHeading(file.study, *values)


def _scan_heading(text: str) -> ExperimentHeading | None:
    """The heading as YAML would read it, or None if a regular expression cannot read it.

    A list of all experiments would take too long with a YAML parser.
    """
    head = _HEAD.match(text)
    if head is None:
        return None
    lines = [line[2:].partition(": ") for line in head[2].splitlines()]
    if any(_UNCLOSED.match(value) for _, _, value in lines):
        return None
    keys, values = [key for key, _, _ in lines], []
    for key in ("section", "item", "title"):
        if keys.count(key) != 1:
            return None
        index = keys.index(key)
        value = lines[index][2]
        plain = _QUOTED.fullmatch(value) or _WORDS.fullmatch(value)
        continues = index + 1 < len(keys) and not keys[index + 1][:1].isalpha()
        if plain is None or continues or not value.isprintable():
            return None
        values.append(plain[1])
    return ExperimentHeading(head[1] or EQUATIONS, *values)


def load_yaml_safely(path: Path, first_line: str = "") -> Any:
    """The content of a YAML file of bounded size and depth, without duplicate keys."""
    try:
        text = read_limited(path, MAX_FILE_BYTES).decode()
        if "&" in text:  # nested aliases can expand to gigabytes
            events = yaml.parse(text, _Loader)
            if sum(isinstance(event, yaml.AliasEvent) for event in events) > MAX_ALIASES:
                raise InputError(f"{path.name}: the file has more than {MAX_ALIASES} aliases")
        body = yaml.load(text, Loader=StrictLoader)  # noqa: S506
    except OSError as error:
        raise InputError(f"{path.name} could not be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path.name} is not text in UTF-8: {error}") from error
    except (yaml.YAMLError, RecursionError, *_PARSER_ERRORS) as error:
        raise InputError(f"{path.name}: {' '.join(str(error).split())}") from error
    for problem in _check_size(body):
        raise InputError(f"{path.name}: {problem}")
    if not text.startswith(first_line):
        raise InputError(f"{path.name} does not begin with `{first_line.strip()}`")
    return body


def _check_size(body: Any) -> Iterator[str]:
    """One line for each value of an unsupported type and each exceeded limit."""
    values, depth = [body], 0
    count = 0
    while values:
        count += len(values)
        if count > MAX_VALUES:
            yield f"the file has more than {MAX_VALUES:,} values"
            return
        if depth > MAX_DEPTH:
            yield f"the file is nested more than {MAX_DEPTH} levels deep"
            return
        children: list[Any] = []
        for value in values:
            if isinstance(value, dict):
                children += [*value, *value.values()]
            elif isinstance(value, list):
                children += value
            elif type(value) is int and abs(value) >= MAX_INTEGER:
                yield "the file has a number with more than 300 digits"
            elif not isinstance(value, _PLAIN_TYPES):
                yield f"the file has a value of unsupported type {type(value).__name__}"
        values, depth = children, depth + 1


def load_experiment_file(path: Path, name: str) -> ExperimentFile:
    """An experiment file: its study from `defaults`, and all other keys.

    A file whose claims all name equations, or are errata by reading, has neither `defaults` nor
    `study`.
    """
    body = load_yaml_safely(path, "# @package _global_\n")
    if isinstance(body, dict) and not {"defaults", "study"} & body.keys():
        claims = [claim for claim in body.get("claims") or () if isinstance(claim, dict)]
        named = ["equation" in claim or claim.get("by") == "reading" for claim in claims]
        if named and all(named) and any("equation" in claim for claim in claims):
            return ExperimentFile(name, f"experiment/{name}.yaml", EQUATIONS, body)
    entries = body.pop("defaults", []) if isinstance(body, dict) else []
    defaults = entries if isinstance(entries, list) else []
    names = [entry.get("override /study") for entry in defaults if isinstance(entry, dict)]
    if len(defaults) != 1 or len(names) != 1 or not isinstance(names[0], str):
        raise InputError(f"{path.name}: defaults must be [override /study: <name>]")
    return ExperimentFile(name, f"experiment/{name}.yaml", names[0], body)


def equation_claims() -> dict[str, list[str]]:
    """The results whose claims name an equation, by the equation's name.

    The files are searched as text: parsing all of them would take seconds.
    """
    found: dict[str, list[str]] = {}
    for name in experiment_names():
        text = (CONF_DIR / "experiment" / f"{name}.yaml").read_text(encoding="utf-8")
        if "equation: " in text:
            for equation in dict.fromkeys(_EQUATION_CLAIM.findall(text)):
                found.setdefault(equation, []).append(name)
    return found
