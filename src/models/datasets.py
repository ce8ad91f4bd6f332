"""Data sets: embedded or the authors' originals, with provenance and checksum.

An *embedded* set is small and part of the package: a table printed in a book, or a public set.
An *original* is a file that a book's authors published: it is used where the user has it below a
folder (`data_dir`, `BYTHEBOOK_DATA`), after its SHA-256 was checked; without it a generated
*stand-in* replaces it, and the data grade is then stand-in. `bythebook.models.data_sets` has the
registries of both.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path

from bythebook.models.data_sets.embedded import EMBEDDED, load_embedded
from bythebook.models.data_sets.kinds import (
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
from bythebook.models.data_sets.originals import ORIGINALS, load_original

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
    """The names of all data sets, or of all of a kind: see `KINDS`."""
    if kind is not None and kind not in KINDS:
        raise DataError(f"there is no kind of data '{kind}'; there are: {', '.join(KINDS)}")
    kinds = {name: entry.kinds for name, entry in EMBEDDED.items()}
    kinds |= {name: entry.kinds for name, entry in ORIGINALS.items()}
    return sorted(name for name in kinds if kind in (None, *kinds[name]))


def load(name: str) -> DataSet:
    """A data set by name; damaged files are refused."""
    drawn = name in ORIGINALS  # an embedded set is the same in every draw
    return _load(name, _directory.get(), _draw.get() if drawn else 0)


def is_drawn(name: str) -> bool:
    """Whether a randomly drawn stand-in replaces the set in the current context."""
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
        array.setflags(write=False)  # shared by all callers
    return data


@contextmanager
def originals_in(directory: str | Path | None, draw: int = 0) -> Iterator[None]:
    """Use the authors' original files below this folder within the `with` block.

    Where a file is missing, this draw of its stand-in replaces it.
    """
    if directory is not None and not Path(directory).is_dir():
        raise DataError(f"data_dir={directory} is not a folder")
    tokens = _directory.set(Path(directory) if directory is not None else None), _draw.set(draw)
    try:
        yield
    finally:
        _directory.reset(tokens[0])
        _draw.reset(tokens[1])
