"""Data sets: embedded or the authors' own, with provenance and checksum.

An *embedded* set is small and travels with the package: a table printed in a book, or a public set.
An *original* is a file that a book's authors published: it is used where the user has it below a
folder (`data.dir`, `BOOK_DATA`), after its SHA-256 was checked; without it a generated *stand-in*
takes its place, and the data grade says so. `models.data_sets` has the registries of both.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path

from models.data_sets.embedded import EMBEDDED, load_embedded
from models.data_sets.kinds import (
    BOOK,
    GRADES,
    KINDS,
    ORIGINAL,
    STANDIN,
    TABLE,
    DataError,
    DataSet,
    Graph,
    Images,
)
from models.data_sets.originals import ORIGINALS, load_original

__all__ = [
    "BOOK",
    "GRADES",
    "KINDS",
    "ORIGINAL",
    "STANDIN",
    "TABLE",
    "DataError",
    "DataSet",
    "Graph",
    "Images",
    "is_drawn",
    "load",
    "names",
    "originals_in",
]

_HERE = Path(__file__).parent / "data"
_directory: ContextVar[Path | None] = ContextVar("directory of original files", default=None)
_draw: ContextVar[int] = ContextVar("which draw of the stand-ins", default=0)


def names(kind: str | None = None) -> list[str]:
    """Every data set there is, or every one of a kind: see `KINDS`."""
    if kind is not None and kind not in KINDS:
        raise DataError(f"there is no kind of data '{kind}'; there are: {', '.join(KINDS)}")
    kinds = {name: entry.kinds for name, entry in EMBEDDED.items()}
    kinds |= {name: entry.kinds for name, entry in ORIGINALS.items()}
    return sorted(name for name in kinds if kind in (None, *kinds[name]))


def load(name: str) -> DataSet:
    """A data set by name; damaged files are refused."""
    drawn = name in ORIGINALS  # what travels with the package is the same in every draw
    return _load(name, _directory.get(), _draw.get() if drawn else 0)


def is_drawn(name: str) -> bool:
    """Does a stand-in that is drawn at random take its place, here and now?"""
    return name in ORIGINALS and load(name).grade == STANDIN


@lru_cache(maxsize=256)
def _load(name: str, directory: Path | None, draw: int) -> DataSet:
    if name in EMBEDDED:
        data = load_embedded(name, _HERE)
    elif name in ORIGINALS:
        data = load_original(name, directory, draw)
    else:
        raise DataError(f"there is no data set '{name}'; there are: {', '.join(names())}")
    for array in data.content.arrays:
        array.setflags(write=False)  # shared by everyone who loads it
    return data


@contextmanager
def originals_in(directory: str | Path | None, draw: int = 0) -> Iterator[None]:
    """Look for the authors' original files below this folder, for the length of the block.

    Where there is none, this draw of its stand-in takes its place.
    """
    if directory is not None and not Path(directory).is_dir():
        raise DataError(f"data.dir={directory} is not a folder")
    tokens = _directory.set(Path(directory) if directory is not None else None), _draw.set(draw)
    try:
        yield
    finally:
        _directory.reset(tokens[0])
        _draw.reset(tokens[1])
