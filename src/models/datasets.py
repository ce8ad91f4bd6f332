"""Data sets: embedded, typed, with provenance and checksum.

Two kinds. An *embedded* set is a small table printed in a book (or public and named by it) and
travels with the package. An *original* is a file that a book's authors published: it is used where
the user has it below a folder (`data.dir`, `BOOK_DATA`), after its SHA-256 was checked; without it
a generated *stand-in* takes its place, and the data grade says so.
"""

import hashlib
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from models import standins
from models.types import Floats

BOOK, ORIGINAL, STANDIN = GRADES = ("book", "original", "stand-in")
ANY = ""  # a file that everyone makes for himself has no known digest, and as many rows as it has

_HERE = Path(__file__).parent / "data"
_directory: ContextVar[Path | None] = ContextVar("directory of original files", default=None)


class DataError(ValueError):
    """A data file is missing, damaged or not what it should be."""


@dataclass(frozen=True)
class DataSet:
    """Columns by name, and where they come from."""

    name: str
    columns: dict[str, Floats]
    grade: str  # book, original or stand-in
    origin: str
    sha256: str

    @property
    def matrix(self) -> Floats:
        """All columns side by side, shape (N, D)."""
        return np.column_stack(list(self.columns.values()))

    @property
    def xt(self) -> tuple[Floats, Floats]:
        """Input and target of a regression set: the first and the last column."""
        columns = list(self.columns.values())
        return columns[0], columns[-1]


@dataclass(frozen=True)
class _Embedded:
    sha256: str
    rows: int
    origin: str


@dataclass(frozen=True)
class _Original:
    path: str
    sha256: str
    shape: tuple[int, int]
    standin: Callable[[], Floats]  # of the same shape, or smaller where the original is large
    origin: str
    words: tuple[str, ...] = ()  # a file of words: each is the number of its place here, else len
    targets: tuple[str, str] | None = None  # path and SHA-256 of a second file, the last column t


_EMBEDDED = {
    "coin-tosses": _Embedded(
        "08bb53303141fa3f699985d2441f92ec1d7f8c2b08887cfbd4117fdbeb24b05a",
        30,
        "FCML 3.1.1 and 3.3.1: ten tosses by each of three customers, head = 1",
    ),
    "curve-fitting": _Embedded(
        "406b41834528353022fc30026d96474cf6e2169331c81e35eb54d4a49f81d613",
        10,
        "PRML chapter 1: ten noisy points of sin(2 pi x), x = 0, 1/9, ..., 1, from the book's site",
    ),
    "fcml-toy-regression": _Embedded(
        "21a4a50c3ac651170ff475d89d914557192a4cc4bdf2624e2e8732da02a5de1f",
        3,
        "FCML Table 1.1",
    ),
    "old-faithful": _Embedded(
        "1eb750d82b66d29f653d3ae1c7ff6444b3375c9141073f57c9939eb6adeaf73b",
        272,
        "PRML appendix A: eruption and waiting time in minutes (the 272-row set, R's `faithful`)",
    ),
    "olympics-100m-men": _Embedded(
        "84fbd11f0200a29eb8bde3e74ad29a090b664ee083eee44a42be8ceff38d35cf",
        27,
        "FCML Table 1.2: winning times in seconds, 1896-2008 with the games of 1906",
    ),
    "olympics-100m-women": _Embedded(
        "f61599c149ce051deddf80be8626edc88c94f865980df836a5441d81e543d261",
        19,
        "FCML Table 1.3: winning times in seconds, 1928-2008",
    ),
}

_ORIGINALS = {
    "fcml-coin-1000": _Original(
        "fcml/coin_data/big_data.csv",
        "1f48a743f3db298335f2e2ddb8aa5d0c9f0536e3b36aac2c7345e6a6c67d2fec",
        (1000, 1),
        standins.coin_tosses,
        "the authors' file coin_data, FCML 3.3.5: a thousand tosses, head = 1",
    ),
    "fcml-kmeans": _Original(
        "fcml/kmeansdata/X.csv",
        "1fed3fcee4e98e7eab7dfafb7bb50aa166fbb6b99f9568a860fe0f7e3673c8cd",
        (100, 2),
        standins.three_clusters,
        "the authors' file kmeansdata, FCML chapter 6",
    ),
    "fcml-logistic": _Original(
        "fcml/logregdata/X.csv",
        "163c035166a9a8444938d0b8e03ef6a8a00f5b94d6d40826a8043644366bbb40",
        (40, 3),
        standins.two_classes,
        "the authors' files logregdata, FCML chapter 4: two attributes and a binary response",
        targets=(
            "fcml/logregdata/t.csv",
            "0230598088d250304f3cc0c9857e4519a4338df58ff804ec62a17959ed7fac65",
        ),
    ),
    "fcml-rings": _Original(
        "fcml/kmeansnonlindata/X.csv",
        "61d92ec3208d2351f6bb307798b26c12c1e38359945733e9436274897fffe02f",
        (1492, 2),
        standins.ring_around_disc,
        "the authors' file kmeansnonlindata, FCML 6.2.2",
    ),
    "fcml-votes": _Original(
        "fcml/parliament1997/X.csv",
        "be76eced30029c50f8d0f3c1c89a092bc3766e7e851e77e7dc5a2e33376b071b",
        (1273, 678),
        lambda: standins.legislature().votes,
        "the authors' file parliament1997: a row a division, a column an MP; 0 is absent",
    ),
    "fcml-votes-party": _Original(
        "fcml/parliament1997/party.csv",
        "24eee2c7e3751f6c642cafabcce17fae21f1dee86f3d3cc4c3331f9521501029",
        (678, 1),
        lambda: standins.legislature().party,
        "the authors' file parliament1997: the party of each MP, a place in PARTIES",
        standins.PARTIES,
    ),
    "fcml-three-classes": _Original(
        "fcml/bc_data/X.csv",
        "debea2d72cd7c347613f03330a6c97b17bbf4c72a6aec555e034b8b8c7a6a378",
        (90, 3),
        standins.three_gaussian_classes,
        "the authors' files bc_data, FCML 5.2.1.3: two attributes and the class",
        targets=(
            "fcml/bc_data/t.csv",
            "1440f45ee4e2f211c5bbae04ecf7a9f75b6527137253637f2b6dd3d37a26853d",
        ),
    ),
    "fcml-disc-train": _Original(
        "fcml/SVMdata2/X.csv",
        "b06ba25ed3a88513144cb0c7430f4d9cfe674405b223dd85c431af19e3412c63",
        (41, 3),
        standins.disc_train,
        "the authors' files SVMdata2, FCML 5.3.2.6: two attributes, +1 inside and -1 outside",
        targets=(
            "fcml/SVMdata2/t.csv",
            "726f51a94864f5203123e27012e0b4fb5e267e89b167543f1fa6d178bf045151",
        ),
    ),
    "fcml-disc-test": _Original(
        "fcml/SVMtest/testX.csv",
        "e30e13407ce01040f1c19f3471ef086dc47f83a081c66dbb379a2f18bdb9b5b8",
        (1000, 3),
        standins.disc_test,
        "the authors' files SVMtest, FCML 5.4.3: two attributes, +1 inside and -1 outside",
        targets=(
            "fcml/SVMtest/testt.csv",
            "563775c1ab2991e9ccff26755f9e0421759a2708b670123b8fb6ee6018966f98",
        ),
    ),
    "newsgroups": _Original(
        "newsgroups/bag-of-words.csv",
        ANY,
        (0, 5),
        standins.newsgroups,
        "a bag of words of the 20 newsgroups, FCML 5.2.1.6: rows of test (0 or 1), class (1 to 20),"
        " document, word and count, without a header",
    ),
}


def names() -> list[str]:
    """Every data set there is."""
    return sorted([*_EMBEDDED, *_ORIGINALS])


def load(name: str) -> DataSet:
    """A data set by name; damaged files are refused."""
    return _load(name, _directory.get())


@cache
def _load(name: str, directory: Path | None) -> DataSet:
    if name in _EMBEDDED:
        data = _load_embedded(name, _EMBEDDED[name])
    elif name in _ORIGINALS:
        data = _load_original(name, _ORIGINALS[name], directory)
    else:
        raise DataError(f"there is no data set '{name}'; there are: {', '.join(names())}")
    for column in data.columns.values():
        column.setflags(write=False)  # shared by everyone who loads it
    return data


@contextmanager
def originals_in(directory: str | Path | None) -> Iterator[None]:
    """Look for the authors' original files below this folder, for the length of the block."""
    if directory is not None and not Path(directory).is_dir():
        raise DataError(f"data.dir={directory} is not a folder")
    token = _directory.set(Path(directory) if directory is not None else None)
    try:
        yield
    finally:
        _directory.reset(token)


def _load_embedded(name: str, entry: _Embedded) -> DataSet:
    content = _checked(_HERE / f"{name}.csv", entry.sha256)
    header, _, body = content.decode().partition("\n")
    values = np.loadtxt(io.StringIO(body), delimiter=",", ndmin=2)
    if len(values) != entry.rows:
        raise DataError(f"{name}: {len(values)} rows, expected {entry.rows}")
    columns = dict(zip(header.split(","), values.T.copy(), strict=True))
    return DataSet(name, columns, BOOK, entry.origin, entry.sha256)


def _load_original(name: str, entry: _Original, directory: Path | None) -> DataSet:
    path = directory / entry.path if directory is not None else None
    if path is not None and path.exists():
        content = _checked(path, entry.sha256)
        values = _values(content, entry.words)
        digest = entry.sha256 or hashlib.sha256(content).hexdigest()
        grade, origin = ORIGINAL, entry.origin
        if entry.targets is not None and directory is not None:
            second, expected = entry.targets
            t = _values(_checked(directory / second, expected), ())
            values = np.column_stack([values, t])
            digest = hashlib.sha256(f"{entry.sha256} {expected}".encode()).hexdigest()
    else:
        values = entry.standin()
        digest = hashlib.sha256(values.tobytes()).hexdigest()
        grade, origin = STANDIN, f"generated in place of {entry.origin}"
    expected_shape = entry.shape if entry.sha256 != ANY else (len(values), entry.shape[1])
    if grade == ORIGINAL and values.shape != expected_shape:
        raise DataError(f"{name}: shape {values.shape}, expected {entry.shape}")
    columns = {f"x{i + 1}": column.copy() for i, column in enumerate(values.T)}
    if entry.targets is not None:
        columns["t"] = columns.pop(f"x{len(columns)}")
    return DataSet(name, columns, grade, origin, digest)


def _values(content: bytes, words: tuple[str, ...]) -> Floats:
    if not words:
        return np.loadtxt(io.BytesIO(content), delimiter=",", ndmin=2)
    place = {word: float(i) for i, word in enumerate(words)}
    lines = content.decode().split("\n")
    return np.array([[place.get(line.strip(), len(words))] for line in lines if line.strip()])


def _checked(path: Path, sha256: str) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"data file {path} cannot be read: {error.strerror}") from error
    found = hashlib.sha256(content).hexdigest()
    if sha256 not in (ANY, found):
        raise DataError(
            f"data file {path} is damaged or not the right one:"
            f" SHA-256 {found[:12]}..., expected {sha256[:12]}..."
        )
    return content
