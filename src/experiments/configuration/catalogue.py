"""The experiment files: what there is, and what each says, read as plain YAML (no Hydra needed)."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from experiments.contract.errors import BadInput

BOOKS = {
    "fcml": "A First Course in Machine Learning",
    "prml": "Pattern Recognition and Machine Learning",
    "mlapp": "Machine Learning: a Probabilistic Perspective",
    "ghahramani": "Unsupervised Learning",
    "notes": "Notes of PRML",
}

LARGEST, ALIASES = 200_000, 20  # bytes and aliases of an experiment file
SCIENCE = ("study", "seed", "source", "claims", "metric")  # what a file may state
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Strict(_Loader):  # type: ignore[misc,valid-type]
    """A key given twice is a slip of the pen; YAML would silently keep the last."""

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        keys = [key.value for key, _ in node.value]
        twice = {key for key in keys if keys.count(key) > 1}
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


def strict_yaml(path: Path, opening: str = "") -> Any:
    """The content of a file that opens so: of bounded size, no key twice, few aliases."""
    try:
        if path.stat().st_size > LARGEST:
            raise BadInput(f"{path.name} has more than {LARGEST:,} bytes")
        text = path.read_text(encoding="utf-8")
        if "&" in text:  # a few lines of aliases of aliases can stand for gigabytes
            events = yaml.parse(text, _Loader)
            if sum(isinstance(event, yaml.AliasEvent) for event in events) > ALIASES:
                raise BadInput(f"{path.name} has more than {ALIASES} aliases")
        body = yaml.load(text, Loader=_Strict)  # noqa: S506
    except (yaml.YAMLError, RecursionError) as error:
        raise BadInput(f"{path.name}: {' '.join(str(error).split())}") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path.name} is not text in UTF-8: {error}") from error
    if not text.startswith(opening):
        raise BadInput(f"{path.name} does not begin with `{opening.strip()}`")
    return body


def read_file(path: Path, name: str) -> Entry:
    """A file, checked for the shape that every experiment file has."""
    body = strict_yaml(path, "# @package _global_\n")
    defaults = body.pop("defaults", []) if isinstance(body, dict) else []
    chosen = [d.get("override /study") for d in defaults if isinstance(d, dict)]
    if len(defaults) != 1 or len(chosen) != 1 or not isinstance(chosen[0], str):
        raise BadInput(f"{path.name}: defaults must be [override /study: <name>] and nothing else")
    return Entry(name, f"experiment/{name}.yaml", chosen[0], body)
